"""The types, edges, outputs and attributes of ops."""

import numpy as np

from build import op, profile
from tfprof.columns import Ragged, Strings
from tfprof.model.ops import TypeSets


def test_ops_are_sorted_by_the_bytes_of_their_names():
    ops = profile(op("b"), op("a/b"), op("a"), op("B"), op("ä"), op("a-")).ops

    assert list(ops.name) == ["B", "a", "a-", "a/b", "b", "ä"]


def test_the_order_of_definition_is_kept():
    ops = profile(op("b"), op("c"), op("a")).ops

    assert ops.defined.tolist() == [2, 0, 1]


def test_edges_keep_their_order():
    ops = profile(op("c", inputs=["b:1", "a", "^b"]), op("a"), op("b")).ops
    edges = ops.inputs.of(2)

    assert ops.inputs.source[edges].tolist() == [1, 0, 1]
    assert ops.inputs.slot[edges].tolist() == [1, 0, -1]


def test_an_op_is_a_source_if_it_is_an_input_of_an_op():
    ops = profile(op("a"), op("b", inputs=["a"]), op("c", inputs=["^b", "nowhere"])).ops

    assert ops.is_source().tolist() == [True, True, False]


def test_an_op_may_be_its_own_input():
    assert profile(op("a", inputs=["a"])).ops.is_source().tolist() == [True]


def test_the_types_of_an_op_are_sorted():
    ops = profile(op("a", "MatMul", types=["z", "A"]), op("b", "Add")).ops

    assert ops.types.of(0) == ["A", "MatMul", "z"]
    assert ops.types.of(1) == ["Add"]


def test_an_op_is_found_by_any_of_its_types():
    types = TypeSets(Ragged.of([[0, 1], [], [2]]), Strings(["x", "y", "z"]))

    assert types.any(np.array([False, True, False])).tolist() == [True, False, False]
    assert types.any(np.array([False, False, True])).tolist() == [False, False, True]
    assert types.any(np.array([False, False, False])).tolist() == [False, False, False]


def test_the_shape_of_an_output_is_found_by_op_and_slot():
    outputs = profile(op("a", outputs=[(2,), None]), op("b", outputs=[(3, 4)])).ops.outputs

    assert outputs.of(0, 0) == (2,)
    assert outputs.of(0, 1) is None
    assert outputs.of(1, 0) == (3, 4)
    assert (outputs.count(0), outputs.count(1)) == (2, 1)


def test_a_missing_output_has_no_shape():
    outputs = profile(op("a", outputs=[(2,)]), op("b", outputs=[(3,)])).ops.outputs

    assert outputs.of(0, 1) is None
    assert outputs.of(1, 1) is None
    assert outputs.of(1, -1) is None


def test_attributes_are_read_from_the_input_that_defined_the_op():
    ops = profile(op("b", attributes={"k": 3}), op("a", attributes={"k": "x"})).ops

    assert (ops.origins.attribute(0, "k"), ops.origins.attribute(1, "k")) == ("x", 3)
    assert ops.origins.attribute(0, "missing") is None
