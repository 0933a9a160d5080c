"""Multiply-accumulates: counted from products and convolutions, never derived from float ops."""

import pytest

import tfprof
from build import op, profile, run
from counting import counted, counted_macs
from tfprof.api import Profile
from tfprof.measures.flop_rules import registry

IMAGE = (2, 6, 6, 4)
LSTM = [(2, 3), (2, 5), (2, 5), (8, 20), (5,), (5,), (5,), (20,)]  # B 2, I 3, H 5
GRU = [(2, 3), (2, 5), (8, 10), (8, 5), (10,), (5,)]
LAYERS = [(7, 2, 3), (1, 2, 5), (1, 2, 5), (99,)]  # T 7, B 2, I 3, H 5

# Kinds, the facts of their op, and its multiply-accumulates.
CASES = [
    (
        (
            "MatMul QuantizedMatMul SparseMatMul _FusedMatMul _MklMatMul _MklNativeFusedMatMul "
            "BatchMatMul BatchMatMulV2 BatchMatMulV3 _MklBatchMatMul _MklBatchMatMulV2 "
            "_MklFusedBatchMatMulV2"
        ),
        {"inputs": [(2, 3), (3, 4)], "output": (2, 4)},
        24,
    ),
    ("SparseTensorDenseMatMul", {"inputs": [(7, 2), (7,), (2,), (3, 4)]}, 28),
    (
        "Einsum XlaEinsum _MklEinsum",
        {"inputs": [(2, 3, 4), (2, 4, 5)], "output": (2, 3, 5), "equation": "bij,bjk->bik"},
        120,
    ),
    ("Einsum", {"inputs": [(3,), (4,)], "output": (3, 4), "equation": "i,j->ij"}, 0),
    ("Einsum", {"inputs": [(3, 4)], "output": (3,), "equation": "ij->i"}, 0),
    (
        (
            "Conv Conv2D QuantizedConv2D _MklNativeConv2D _MklNativePadWithConv2D _FusedConv2D "
            "_MklNativeFusedConv2D _MklNativePadWithFusedConv2D _MklNativeConv2DWithBias"
        ),
        {"inputs": [IMAGE, (3, 2, 4, 8), (8,)], "output": (2, 6, 6, 8)},
        576 * 24,
    ),
    (
        "Conv3D _FusedConv3D _MklNativeConv3D _MklNativeFusedConv3D",
        {"inputs": [(1, 2, 4, 4, 3), (2, 3, 3, 3, 8)], "output": (1, 2, 4, 4, 8)},
        256 * 54,
    ),
    (
        (
            "DepthwiseConv2dNative QuantizedDepthwiseConv2D _FusedDepthwiseConv2dNative "
            "_MklNativeDepthwiseConv2dNative _MklNativeFusedDepthwiseConv2dNative"
        ),
        {"inputs": [IMAGE, (3, 2, 4, 1)], "output": IMAGE},
        288 * 6,
    ),
    (
        "Conv2DBackpropInput _MklNativeConv2DBackpropInput",
        {"inputs": [(4,), (3, 2, 4, 8), (2, 3, 3, 8)], "output": IMAGE, "strides": (1, 2, 2, 1)},
        144 * 24,
    ),
    (
        "Conv2DBackpropFilter _MklNativeConv2DBackpropFilter",
        {"inputs": [IMAGE, (4,), (2, 3, 3, 8)], "output": (3, 2, 4, 8), "strides": (1, 2, 2, 1)},
        144 * 24,
    ),
    (
        "Conv2DBackpropInputV2",
        {"inputs": [IMAGE, (3, 2, 4, 8), (2, 3, 3, 8)], "output": IMAGE},
        144 * 24,
    ),
    (
        "Conv2DBackpropFilterV2",
        {"inputs": [IMAGE, (3, 2, 4, 8), (2, 3, 3, 8)], "output": (3, 2, 4, 8)},
        144 * 24,
    ),
    (
        "Conv3DBackpropInput Conv3DBackpropInputV2 _MklNativeConv3DBackpropInputV2",
        {"inputs": [(5,), (2, 3, 3, 3, 8), (1, 2, 4, 4, 8)], "output": (1, 2, 4, 4, 3)},
        256 * 54,
    ),
    (
        "Conv3DBackpropFilter Conv3DBackpropFilterV2 _MklNativeConv3DBackpropFilterV2",
        {"inputs": [(1, 2, 4, 4, 3), (5,), (1, 2, 4, 4, 8)], "output": (2, 3, 3, 3, 8)},
        256 * 54,
    ),
    (
        "DepthwiseConv2dNativeBackpropInput _MklNativeDepthwiseConv2dNativeBackpropInput",
        {"inputs": [(4,), (3, 2, 4, 1), (2, 3, 3, 4)], "output": IMAGE},
        72 * 6,
    ),
    (
        "DepthwiseConv2dNativeBackpropFilter _MklNativeDepthwiseConv2dNativeBackpropFilter",
        {"inputs": [IMAGE, (4,), (2, 3, 3, 4)], "output": (3, 2, 4, 1)},
        72 * 6,
    ),
    # The product of an LSTM cell is 2 * 8 * 20 = 320.
    ("LSTMBlockCell", {"inputs": LSTM}, 320),
    ("BlockLSTM BlockLSTMV2", {"inputs": [(), (7, 2, 3), *LSTM[1:]]}, 7 * 320),
    ("BlockLSTMGrad BlockLSTMGradV2", {"inputs": [(), (7, 2, 3), *LSTM[1:]]}, 7 * 2 * 320),
    ("GRUBlockCell GRUBlockCellGrad", {"inputs": GRU}, 2 * 8 * 15),
    ("CudnnRNN CudnnRNNV2 CudnnRNNV3", {"inputs": LAYERS}, 7 * 320),
    ("CudnnRNN", {"inputs": LAYERS, "input_mode": "skip_input"}, 7 * 2 * 5 * 20),
    ("CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3", {"inputs": LAYERS}, 7 * 2 * 320),
    # No products.
    ("Add Mul SquaredDifference", {"inputs": [(2, 3), (2, 3)], "output": (2, 3)}, 0),
    ("Dilation2D", {"inputs": [IMAGE, (3, 2, 4)], "output": IMAGE}, 0),
    ("LSTMBlockCellGrad", {"inputs": LSTM}, 0),
    ("Identity", {"inputs": [(2, 3)], "output": (2, 3)}, 0),
]
NUMBERS = [(kind, facts, number) for kinds, facts, number in CASES for kind in kinds.split()]

X = op("x", "Placeholder", outputs=[(2, 3)])
W = op("w", "Placeholder", outputs=[(3, 4)])


def product(name, **facts):
    """A product of 24 multiply-accumulates and 48 float operations."""
    return op(name, "MatMul", inputs=["x", "w"], outputs=[(2, 4)], **facts)


@pytest.fixture
def _rules(monkeypatch):
    """A copy of the tables of rules that a test may change."""
    monkeypatch.setattr(registry, "_rules", dict(registry._rules))
    monkeypatch.setattr(registry, "_may_omit_macs", set(registry._may_omit_macs))


@pytest.mark.parametrize(("kind", "facts", "number"), NUMBERS)
def test_a_kind_has_the_hand_computed_macs(kind, facts, number):
    assert counted_macs(kind, **facts) == number


def test_every_kind_whose_rule_states_macs_has_a_hand_computed_number():
    stating = {
        kind
        for kind in registry.kinds()
        if registry.rule_of(kind).__annotations__.get("return") == "FlopCount"
        and not kind.startswith("aten::")  # `test_aten_numbers.py` has them
    }

    assert stating <= {kind for kind, _, _ in NUMBERS}


def test_fused_operations_add_float_ops_but_no_macs():
    facts = {"inputs": [(2, 3), (3, 4)], "output": (2, 4), "fused_ops": ("BiasAdd", "Relu")}

    assert (counted("_FusedMatMul", **facts), counted_macs("_FusedMatMul", **facts)) == (64, 24)


def test_macs_can_be_selected_ordered_by_and_used_as_a_threshold():
    p = Profile(
        profile(
            X, W, op("a", "Relu", inputs=["x"]), product("b"), product("c/d"), counts_float_ops=True
        )
    )

    answer = p.scope(select=["macs"], order_by="macs", min_macs=24)

    assert [row["name"] for row in answer] == ["_TFProfRoot", "b", "c/d"]
    assert answer["_TFProfRoot"]["total_macs"] == 48
    assert "b (24/24 macs)" in answer.table
    assert "48 macs (100.00%" in p.op(select=["macs"]).table


def test_macs_are_multiplied_by_runs():
    p = Profile(profile(X, W, product("a"), *[run("a")] * 3, counts_float_ops=True))

    assert p.flops().macs == 72


def test_the_ledger_has_macs_by_phase():
    p = Profile(
        profile(X, W, product("a"), product("gradients/a_grad/MatMul"), counts_float_ops=True)
    )

    ledger = p.flops()

    assert (ledger["MatMul"].forward_macs, ledger["MatMul"].backward_macs) == (24, 24)
    assert ledger.to_dict()["macs"] == 48
    assert "MACs: 48 (24 forward, 24 backward, 0 optimizer)." in ledger.report
    assert "MACs unknown" not in ledger.report


@pytest.mark.parametrize("counts", [False, True])
def test_an_op_with_logged_float_ops_has_macs_if_its_shapes_are_known(counts):
    p = Profile(profile(X, W, product("a", float_ops=1000), counts_float_ops=counts))

    assert (p.flops().float_ops, p.flops().macs) == (1000, 24)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("kind", ["MatMul", "Gelu"])
def test_the_macs_of_a_logged_op_without_known_shapes_are_unknown(kind, counts):
    p = Profile(profile(op("a", kind, float_ops=48), counts_float_ops=counts))

    ledger = p.flops()

    assert (ledger.float_ops, ledger.macs, ledger.ledger.ops_without_macs) == (48, 0, 1)
    assert "MACs unknown: 1 op " in ledger.report
    assert any("the MACs of 1 op are unknown" in note for note in p.scope(select=["macs"]).notes)


def test_a_logged_op_that_does_no_arithmetic_has_no_macs():
    p = Profile(profile(op("a", "Identity", float_ops=48), counts_float_ops=True))

    assert p.flops().ledger.ops_without_macs == 0


@pytest.mark.usefixtures("_rules")
def test_the_macs_of_a_registered_rule_that_returns_a_number_are_unknown():
    tfprof.register_flops("MatMul", lambda _: 5)
    p = Profile(profile(X, W, product("a"), counts_float_ops=True))

    assert (p.flops().float_ops, p.flops().macs) == (5, 0)
    assert p.flops().ledger.ops_without_macs == 1


@pytest.mark.usefixtures("_rules")
def test_a_registered_rule_can_state_macs():
    tfprof.register_flops("MyAttention", lambda _: tfprof.FlopCount(float_ops=50, macs=20))

    assert (counted("MyAttention"), counted_macs("MyAttention")) == (50, 20)


def test_notes_name_macs_that_are_not_counted():
    p = Profile(profile(op("a", "MatMul"), op("b", "Gelu"), counts_float_ops=True))

    assert [note.partition(" of ")[0] for note in p.scope(select=["macs"]).notes] == ["MACs"] * 2
    both = p.scope(select=["float_ops"], order_by="macs").notes
    assert all(note.startswith("float ops and MACs of 1 op") for note in both)
