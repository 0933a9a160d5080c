"""Ops of PyTorch inside other ops: each float operation counts once."""

from dataclasses import replace

import pytest

from build import op, profile
from tfprof.measures import flops
from tfprof.measures.flop_rules import registry

LINEAR = {"stated_inputs": [(2, 3), (4, 3), (4,)]}
ADDMM = {"stated_inputs": [(4,), (2, 3), (3, 4)]}


def found(*ops):
    """The float ops of each op, None if they could not be counted; names are nested."""
    names = {one.name for one in ops}
    outer = (one.name.rpartition("/")[0] for one in ops)
    pairs = zip(ops, outer, strict=True)
    ops = [replace(one, part_of=above if above in names else "") for one, above in pairs]
    columns = profile(*ops, counts_float_ops=True)
    counts = flops.count(columns)
    pairs = zip(counts.per_run.tolist(), counts.is_counted.tolist(), strict=True)
    numbers = [number if is_counted else None for number, is_counted in pairs]
    return dict(zip(columns.ops.name, numbers, strict=True))


def test_an_op_that_calls_others_leaves_the_counting_to_them():
    assert found(
        op("net/aten::linear", "aten::linear", **LINEAR),
        op("net/aten::linear/aten::addmm", "aten::addmm", **ADDMM),
        op("net/aten::linear/aten::addmm/aten::copy_", "aten::copy_", **ADDMM),
        op("net/aten::linear#2", "aten::linear", **LINEAR),
    ) == {
        "net/aten::linear": 0,
        "net/aten::linear/aten::addmm": 48,
        "net/aten::linear/aten::addmm/aten::copy_": 0,
        "net/aten::linear#2": 48,
    }


def test_of_other_ops_the_outermost_with_a_rule_counts():
    shapes = {"stated_inputs": [(2, 3)]}

    assert found(
        op("aten::relu", "aten::relu", **shapes),
        op("aten::relu/aten::clamp_min", "aten::clamp_min", **shapes),
    ) == {"aten::relu": 6, "aten::relu/aten::clamp_min": 0}


def test_an_op_of_a_transform_leaves_the_counting_to_the_ops_for_all_examples():
    """As PyTorch records `torch.func.vmap` over 5 examples, with two products and a sum."""
    one, all_examples = {"stated_inputs": [(2, 3), (3, 4)]}, {"stated_inputs": [(5, 2, 3), (3, 4)]}
    twice = {"stated_inputs": [(2, 3), (3, 4), (2, 3), (3, 4)]}

    assert found(
        op("aten::mm", "aten::mm", **one),
        op("aten::mm/aten::mm", "aten::mm", **twice),
        op("aten::mm/aten::mm/aten::matmul", "aten::matmul", **all_examples),
        op("aten::mm/aten::mm/aten::matmul/aten::bmm", "aten::bmm", **all_examples),
        op("aten::add", "aten::add", stated_inputs=[(2,), (2,)]),
        op("aten::add/aten::add", "aten::add", stated_inputs=[(5, 2), (2,)]),
    ) == {
        "aten::mm": 0,
        "aten::mm/aten::mm": 0,
        "aten::mm/aten::mm/aten::matmul": 0,
        "aten::mm/aten::mm/aten::matmul/aten::bmm": 2 * 5 * 2 * 3 * 4,
        "aten::add": 0,
        "aten::add/aten::add": 10,
    }


def test_a_product_that_calls_no_other_product_counts_itself():
    assert found(
        op("aten::addmm", "aten::addmm", **ADDMM),
        op("aten::addmm/aten::mul_", "aten::mul_", stated_inputs=[(2, 4)]),
    ) == {"aten::addmm": 48, "aten::addmm/aten::mul_": 0}


@pytest.mark.live
def test_the_kinds_that_call_others_are_those_of_pytorch():
    torch = pytest.importorskip(
        "torch", minversion="2.13", reason="in older versions other ops call others"
    )
    kinds = [kind for kind in registry.kinds() if kind.startswith("aten::")]
    computing = [kind for kind in kinds if registry.rule_of(kind) is not registry.no_arithmetic]

    def has_composite_kernel(overload):
        try:
            has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
            return has_kernel(overload, "CompositeImplicitAutograd")
        except RuntimeError:
            return False  # exists only in scripts

    def calls_others(kind):
        overloads = _overloads(torch, kind)
        if overloads is None:
            return registry.is_composite(kind)  # not in this version
        return any(has_composite_kernel(f"{kind}.{name}" if name else kind) for name in overloads)

    assert [kind for kind in computing if registry.is_composite(kind)] == [
        kind for kind in computing if calls_others(kind)
    ]


def _overloads(torch, kind):
    """The overloads of a kind, or None if this version of PyTorch does not have it."""
    try:
        return torch._C._jit_get_operation(kind)[1]
    except RuntimeError:
        return None


def test_an_op_that_cannot_be_counted_leaves_it_to_those_inside():
    assert found(
        op("aten::einsum", "aten::einsum", stated_inputs=[None, (2, 3), (3, 4)]),
        op("aten::einsum/aten::bmm", "aten::bmm", stated_inputs=[(1, 2, 3), (1, 3, 4)]),
    ) == {"aten::einsum": 0, "aten::einsum/aten::bmm": 48}


def test_a_function_of_users_has_the_operations_of_the_ops_that_it_calls():
    assert found(
        op("MyFunctionBackward", "MyFunctionBackward"),
        op("MyFunctionBackward/aten::mm", "aten::mm", stated_inputs=[(2, 3), (3, 4)]),
        op("OtherBackward", "OtherBackward"),
        op("OtherBackward/aten::empty", "aten::empty", stated_inputs=[None]),
    ) == {
        "MyFunctionBackward": 0,
        "MyFunctionBackward/aten::mm": 48,
        "OtherBackward": None,
        "OtherBackward/aten::empty": 0,
    }


@pytest.mark.parametrize("rows", [3, 12])
def test_the_numbers_add_up_to_those_of_single_ops(rows):
    names = [f"aten::linear#{row}" for row in range(rows)]
    ops = [op(name, "aten::linear", **LINEAR) for name in names]
    inner = [op(f"{name}/aten::addmm", "aten::addmm", **ADDMM) for name in names]

    assert sum(found(*ops, *inner).values()) == 48 * rows


def test_logged_numbers_are_kept():
    columns = profile(
        op("a", "aten::linear", **LINEAR),
        op("a/b", "aten::addmm", **ADDMM, float_ops=7, part_of="a"),
        counts_float_ops=True,
    )

    assert flops.count(columns).per_run.tolist() == [48, 7]
    settled = replace(columns, counts_float_ops=False)
    assert flops.count(settled).per_run.tolist() == [0, 7]
