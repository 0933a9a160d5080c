"""The float operations of a recording of a GPU are those that PyTorch itself counts."""

import pytest

from h200 import FACTS, gpt
from kineto_programs import ENGINE, loaded, op, python
from tfprof.columns import Coded, ints
from tfprof.sources.kineto.arguments import stated_inputs

COUNTED = FACTS["flop_counter"]


def test_products_and_attention_have_the_float_operations_that_pytorch_counts():
    ledger = gpt().flops()

    assert 2 * ledger.macs == FACTS["flop_counter_total"]
    products = sum(entry.float_ops for entry in ledger if entry.macs)
    assert products == FACTS["flop_counter_total"]


def test_each_kind_has_the_float_operations_that_pytorch_counts():
    ledger, counted = gpt().flops(), COUNTED["Global"]

    assert {kind: ledger[kind.replace(".", "::")].float_ops for kind in counted} == counted


def test_only_lists_that_pytorch_leaves_out_are_not_counted():
    reasons = {one.kind: one.reason for one in gpt().flops().uncounted}

    assert reasons
    assert all(kind.startswith("aten::_foreach_") for kind in reasons)


class Inputs:
    """The columns of a trace that state inputs."""

    def __init__(self, dims, types):
        self.input_dims, self.input_types = Coded.of([dims]), Coded.of([types])


@pytest.mark.parametrize(
    ("dims", "types", "shapes"),
    [
        ("[[2, 3], [], []]", '["float", "float", "Scalar"]', [(2, 3), ()]),
        ("[[[2], []], []]", '["TensorList", "Scalar"]', [(2,), ()]),
        ("[[], []]", '["TensorList", "TensorList"]', []),
        ("[[], []]", '["", "ScalarList"]', []),
    ],
)
def test_shapes_are_those_of_tensors(dims, types, shapes):
    found = stated_inputs(Inputs(dims, types), ints([0]), ints([0]))

    assert found.of_op(0) == shapes


def product(ts, dur, *shapes, name="aten::mm"):
    return op(name, ts, dur, **{"Input Dims": shapes, "Input type": ["float", "float"]})


@pytest.mark.parametrize("name", ["PythonSubclass", "PythonDispatchMode"])
def test_an_op_that_is_handed_to_python_is_what_python_calls(name, tmp_path):
    """The product of half of a matrix, and one whose result is known."""
    whole, half = ([8, 3], [3, 5]), ([4, 3], [3, 5])
    profile = loaded(
        tmp_path,
        *(product(0, 9, *whole), op(name, 1, 8), product(2, 6, *half)),
        *(product(10, 9, *whole, name="aten::matmul"), product(11, 8, *whole), op(name, 12, 6)),
    )

    ledger = profile.flops()
    assert ledger.macs == 4 * 3 * 5
    assert ledger.uncounted == ()


def test_of_what_a_checkpoint_computes_again_only_the_last_op_is_stopped(tmp_path):
    """The last op ends when its input is saved, which the one before it does as well."""
    shapes = {"Input Dims": [[2, 3]], "Input type": ["float"]}
    node = {"Sequence number": 1, "Fwd thread id": 1}
    file = "torch/utils/checkpoint.py"
    profile = loaded(
        tmp_path,
        op("GeluBackward0", 0, 99, tid=ENGINE, **node),
        python(f"{file}(9): unpack_hook", 1, 90, tid=ENGINE),
        *(op("aten::gelu", start, 9, tid=ENGINE, **shapes) for start in (10, 20)),
        *(python(f"{file}(5): pack_hook", start, 5, tid=ENGINE) for start in (12, 22)),
        *(op("aten::detach", start, 1, tid=ENGINE) for start in (13, 23)),
    )

    counted = {entry.kind: entry.float_ops for entry in profile.flops()}
    assert counted == {"aten::gelu": 5 * 6}


@pytest.mark.parametrize(("probability", "float_ops"), [("0.10000000000000001", 12), ("0.", 0)])
def test_dropout_of_nothing_counts_nothing(tmp_path, probability, float_ops):
    arguments = {
        "Input Dims": [[2, 3], [], []],
        "Input type": ["float", "Scalar", "Scalar"],
        "Concrete Inputs": ["", probability, "True"],
    }

    profile = loaded(tmp_path, op("aten::dropout", 0, 10, **arguments))

    assert profile.flops().float_ops == float_ops
