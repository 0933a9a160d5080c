"""Inferring shapes for a batch size that the program leaves open."""

import numpy as np
import pytest

from sources.test_tf_functions import add, calling, function, node, program
from sources.tf_files import row, shape
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.source import Reading


def stated(*shapes):
    return {"list": {"shape": [shape(*dims) for dims in shapes]}}


def op(name, kind, inputs, *shapes, **attributes):
    return node(name, kind, inputs, _output_shapes=stated(*shapes), **attributes)


def numbers(name, *values, kind="=i4"):
    """A constant of integers, encoded as bytes because our graph schema omits tensor values."""
    content = np.array(values, kind).tobytes()
    tensor = b"\x08\x03\x22" + bytes([len(content)]) + content
    found = node(name, "Const", _output_shapes=stated((len(values),)))
    found.attr["value"].MergeFromString(b"\x42" + bytes([len(tensor)]) + tensor)
    return found


def inferred(*nodes, functions=(), batch_size=7):
    """The shape of each op's first output."""
    builder = ProfileBuilder()
    reading = Reading(functions=True, batch_size=batch_size)
    add("graph", "graph.pb", program(nodes, *functions), builder, reading=reading)
    profile = builder.build()
    return {name: profile.ops.outputs.of(row(profile, name), 0) for name in profile.ops.name}


X = op("x", "Placeholder", [], (-1, 6, 8))


def test_the_first_dim_of_inputs_is_the_batch_size():
    found = inferred(X, op("two", "Placeholder", [], (-1, -1)), op("none", "Placeholder", [], ()))

    assert found == {"x": (7, 6, 8), "two": (-1, -1), "none": ()}


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (op("y", "Relu", ["x"], (-1, 6, 8)), (7, 6, 8)),
        (op("y", "AddV2", ["x", "one"], (-1, 6, 8)), (7, 6, 8)),
        (op("y", "Transpose", ["x", "p"], (6, -1, 8)), (6, 7, 8)),
        (op("y", "Mean", ["x", "axis"], (-1, 8)), (7, 8)),
        (op("y", "Reshape", ["x", "unknown"], (-1, 8)), (42, 8)),
        (op("y", "Reshape", ["x", "flat"], (-1, -1)), (42, 8)),
        (op("y", "Einsum", ["x", "w"], (-1, 6, 3), equation={"s": b"abc,cd->abd"}), (7, 6, 3)),
        (op("y", "BatchMatMulV2", ["x", "w"], (-1, 6, 3)), (7, 6, 3)),
        (op("y", "BatchMatMulV2", ["x", "x"], (-1, 6, 6), adj_y={"b": True}), (7, 6, 6)),
        (op("y", "ConcatV2", ["x", "x", "p"], (-1, 6, 16)), (7, 6, 16)),
        (op("y", "Split", ["p", "x"], (-1, 6, 4)), (7, 6, 4)),
    ],
    ids=lambda value: value.op if hasattr(value, "op") else "",
)
def test_the_shape_of_an_output_follows_from_the_inputs(made, found):
    others = [
        op("one", "Placeholder", [], (1, 1, 8)),
        op("w", "ReadVariableOp", [], (8, 3)),
        node("p"),
        node("unknown"),
        numbers("flat", -1, 8),
        numbers("axis", 1),
    ]

    assert inferred(X, *others, made)["y"] == found


@pytest.mark.parametrize(
    "made",
    [
        op("y", "Unique", ["x"], (-1,)),
        op("y", "ConcatV2", ["x", "x", "p"], (-1, 6, 8)),
        op("y", "StridedSlice", ["x", "p", "p", "p"], (-1, 6, 8)),
        op("y", "Mean", ["x", "p"], (-1, 6)),
        op("y", "Relu", ["x"], (-1, 6, 9)),
    ],
    ids=["depends on data", "along batch", "unknown extent", "unknown dims", "contradiction"],
)
def test_a_shape_that_does_not_follow_stays_open(made):
    assert -1 in inferred(X, node("p"), made)["y"]


def test_a_slice_of_all_examples_keeps_the_batch_size():
    parts = [numbers("from", 0, -1), numbers("to", 0, 0), numbers("by", 1, 1)]
    masks = {"begin_mask": {"i": 1}, "end_mask": {"i": 1}, "shrink_axis_mask": {"i": 2}}
    last = op("y", "StridedSlice", ["x", "from", "to", "by"], (-1, 8), **masks)
    second = [numbers("twos", 2, 1)]
    every = op("z", "StridedSlice", ["x", "from", "to", "twos"], (-1, 8), **masks)

    found = inferred(X, *parts, *second, last, every)

    assert found["y"] == (7, 8)
    assert found["z"] == (-1, 8)


def test_shapes_computed_by_ops_are_evaluated():
    nodes = [
        op("size", "Shape", ["x"], (3,)),
        *(numbers("zero", 0), numbers("one", 1), numbers("four", 4)),
        op("count", "StridedSlice", ["size", "zero", "one", "one"], (), shrink_axis_mask={"i": 1}),
        op("dims", "Pack", ["count", "four"], (2,)),
        op("zeros", "Fill", ["dims", "zero"], (-1, 4)),
    ]

    assert inferred(X, *nodes)["zeros"] == (7, 4)


@pytest.mark.parametrize(
    ("dims", "found"),
    [
        ([op("dims", "StridedSlice", ["size", "zero", "two", "one"], (2,))], (7, 6)),
        ([op("dims", "Mul", ["part", "twos"], (2,))], (12, 16)),
        ([op("dims", "Mul", ["part", "size"], (-1,))], (-1, -1)),
        ([op("dims", "GatherV2", ["size", "twos", "zero"], (2,))], (8, 8)),
        ([op("dims", "GatherV2", ["size", "twos", "one"], (2,))], (-1, -1)),
        ([op("dims", "ConcatV2", ["two", "two", "zero"], (2,))], (2, 2)),
        ([op("dims", "ConcatV2", ["two", "two", "one"], (2,))], (-1, -1)),
        (
            [op("all", "Prod", ["size", "zero"], ()), op("dims", "Pack", ["two", "all"], (2,))],
            (2, 336),
        ),
        ([op("dims", "StridedSlice", ["size", "zero", "two", "zero"], (2,))], (-1, -1)),
        ([numbers("dims", 2, -1)], (-1, -1)),
    ],
)
def test_a_shape_may_be_computed_from_lists_of_numbers(dims, found):
    nodes = [
        op("size", "Shape", ["x"], (3,)),
        *(numbers("zero", 0), numbers("one", 1), numbers("two", 2), numbers("twos", 2, 2)),
        numbers("ends", 3),
        op("part", "StridedSlice", ["size", "one", "ends", "one"], (2,)),
        *dims,
        op("zeros", "Fill", ["dims", "zero"], (-1, -1)),
    ]

    assert inferred(X, *nodes)["zeros"] == found


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (op("y", "BroadcastTo", ["x", "wide"], (-1, -1, -1)), (7, 6, 8)),
        (op("y", "GatherV2", ["table", "x", "zero"], (-1, 6, 8, 5)), (7, 6, 8, 5)),
        (op("y", "GatherV2", ["table", "x", "one"], (-1, 6, 8, 5)), (-1, 6, 8, 5)),
        (op("y", "Einsum", ["x", "w"], (-1, 6), equation={"s": b"abc,cd"}), (-1, 6)),
        (op("y", "Einsum", ["x", "w"], (-1, 6), equation={"s": b"ab,cd->ad"}), (-1, 6)),
        (op("y", "AddV2", ["x", "open"], (-1, 6, 8)), (-1, 6, 8)),
        (op("y", "Squeeze", ["x"], (-1, 5)), (-1, 5)),
        (op("y", "Reshape", ["x", "fives"], (-1, 5)), (-1, 5)),
    ],
    ids=lambda value: value.op if hasattr(value, "op") else "",
)
def test_only_shapes_that_follow_from_the_inputs_are_inferred(made, found):
    others = [
        op("table", "ReadVariableOp", [], (9, 5)),
        op("w", "ReadVariableOp", [], (8, 3)),
        op("open", "Placeholder", [], (-1, -1)),
        *(numbers("zero", 0), numbers("one", 1), numbers("wide", 7, 6, 8), numbers("fives", -1, 5)),
    ]

    assert inferred(X, *others, made)["y"] == found


def test_a_call_has_the_shapes_of_its_results():
    body = function("f", [op("r", "Relu", ["a"], (-1, 6, 8))], ["a"], {"b": "r:activations:0"})
    call = calling("call", "f", ["x"], _output_shapes=stated((-1, 6, 8)))
    after = op("y", "Neg", ["call"], (-1, 6, 8))

    found = inferred(X, call, after, functions=[body])

    assert found["call"] == found["call/r"] == found["y"] == (7, 6, 8)


def test_the_shapes_of_ops_in_a_cycle_stay_open():
    nodes = [
        op("a", "Relu", ["b"], (-1,)),
        op("b", "Relu", ["a"], (-1,)),
        op("c", "Pack", ["c"], (1,)),
        op("d", "Fill", ["c"], (-1,)),
    ]

    assert inferred(*nodes) == {"a": (-1,), "b": (-1,), "c": (1,), "d": (-1,)}
