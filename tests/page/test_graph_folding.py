"""Which ops of the drawn graph are parts of others."""

from __future__ import annotations

from build import op, profile
from drawn_graphs import drawn
from tfprof.model.ops import SHAPE_ARITHMETIC, WALKED_CALL


def cells(*ops):
    return drawn(profile(*ops)).cells


INPUT = op("x", "Placeholder")


def test_a_variable_and_its_read_are_parts_of_the_op_that_uses_them():
    found = cells(
        INPUT,
        op("net/w", "VariableV2", shape=(3, 3)),
        op("net/w/read", "Identity", inputs=["net/w"]),
        op("net/MatMul", "MatMul", inputs=["x", "net/w/read"]),
    )

    assert found == dict.fromkeys(found, "net/MatMul") | {"x": "x"}


def test_shape_arithmetic_is_a_part_of_the_op_that_uses_the_shape():
    found = cells(
        INPUT,
        op("shape", "Shape", inputs=["x"]),
        op("two", "Const"),
        op("packed", "Pack", inputs=["shape", "two"], types=[SHAPE_ARITHMETIC]),
        op("Reshape", "Reshape", inputs=["x", "packed"]),
    )

    assert {found[name] for name in ("shape", "two", "packed")} == {"Reshape"}


def test_what_depends_only_on_variables_is_a_part_of_the_op_that_uses_it():
    found = cells(
        INPUT,
        op("bn/variance", "VariableV2", shape=(3,)),
        op("bn/add", "AddV2", inputs=["bn/variance"]),
        op("bn/Rsqrt", "Rsqrt", inputs=["bn/add"]),
        op("bn/mul", "Mul", inputs=["x", "bn/Rsqrt"]),
    )

    assert found["bn/add"] == found["bn/Rsqrt"] == "bn/mul"


def test_a_product_is_a_node_even_if_its_inputs_are_constants():
    found = cells(
        op("x", "Const"),
        op("net/w", "VariableV2", shape=(3, 3)),
        op("net/MatMul", "MatMul", inputs=["x", "net/w"]),
        op("net/Relu", "Relu", inputs=["net/MatMul"]),
    )

    assert found["net/MatMul"] == "net/MatMul"
    assert found["net/Relu"] == "net/Relu"


def test_random_numbers_are_a_node_unless_they_are_initial_values():
    found = cells(
        INPUT,
        op("net/w", "VariableV2", shape=(3,)),
        op("net/init/shape", "Const"),
        op("net/init", "RandomUniform", inputs=["net/init/shape"]),
        op("net/w/Assign", "Assign", inputs=["net/w", "net/init"]),
        op("net/drop/shape", "Const"),
        op("net/drop", "RandomUniform", inputs=["net/drop/shape"]),
        op("net/mul", "Mul", inputs=["x", "net/drop", "net/w"]),
    )

    assert found["net/drop"] == "net/drop"
    assert found["net/init"] is None
    assert found["net/w/Assign"] is None


def test_an_identity_is_a_part_of_the_op_that_uses_it_or_else_of_the_op_before():
    found = cells(
        INPUT,
        op("a", "Relu", inputs=["x"]),
        op("a_id", "Identity", inputs=["a"]),
        op("b", "Relu", inputs=["a_id"]),
        op("b_id", "Identity", inputs=["b"]),
    )

    assert found["a_id"] == "b"
    assert found["b_id"] == "b"


def test_an_op_is_not_folded_into_another_layer():
    found = cells(
        INPUT,
        op("a/w", "VariableV2", shape=(3,)),
        op("a/Relu", "Relu", inputs=["x", "a/w"]),
        op("b/v", "VariableV2", shape=(3,)),
        op("b/mul", "Mul", inputs=["a/w", "b/v", "a/Relu"]),
    )

    assert found["a/w"] == "a/Relu"
    assert found["b/v"] == "b/mul"


def test_a_variable_that_only_another_layer_uses_has_no_node():
    found = cells(
        INPUT,
        op("a/w", "VariableV2", shape=(3,)),
        op("b/v", "VariableV2", shape=(3,)),
        op("b/mul", "Mul", inputs=["x", "a/w", "b/v"]),
    )

    assert found["a/w"] is None


def test_a_variable_is_a_part_of_an_op_that_computes_rather_than_of_a_read_without_use():
    found = cells(
        INPUT,
        op("a/w", "VarHandleOp", shape=(3,)),
        op("a/unused", "ReadVariableOp", inputs=["a/w"]),
        op("a/used", "ReadVariableOp", inputs=["a/w"]),
        op("a/mul", "Mul", inputs=["x", "a/used"]),
    )

    assert found["a/w"] == "a/mul"
    assert found["a/unused"] is None


def test_where_nothing_depends_on_data_only_constants_are_folded():
    found = cells(
        op("w", "VariableV2", shape=(3,)),
        op("save/names", "Const"),
        op("save/SaveV2", "SaveV2", inputs=["save/names", "w"]),
    )

    assert found["save/SaveV2"] == "save/SaveV2"
    assert found["save/names"] == "save/SaveV2"


def test_identities_in_a_circle_are_nodes():
    found = cells(
        op("a", "Identity", inputs=["b"]),
        op("b", "Identity", inputs=["a"]),
        op("c", "Identity", inputs=["c"]),
    )

    assert found == {"a": "a", "b": "b", "c": "c"}


def test_a_call_of_a_function_is_a_part_of_the_result_that_is_used():
    found = cells(
        INPUT,
        op("Call/Relu", "Relu", inputs=["x"]),
        op("Call/Identity", "Identity", inputs=["Call/Relu"]),
        op("Call", "PartitionedCall", inputs=["^Call/Identity", "x"], types=[WALKED_CALL]),
        op("y", "Neg", inputs=["Call"]),
    )

    assert found["Call"] == found["Call/Identity"] == "y"
    assert found["Call/Relu"] == "Call/Relu"


def test_a_long_chain_of_identities_is_folded():
    links = [op(f"i{n:05}", "Identity", inputs=[f"i{n - 1:05}" if n else "x"]) for n in range(3000)]

    found = cells(INPUT, *links, op("y", "Neg", inputs=["i02999"]))

    assert {found[link.name] for link in links} == {"y"}
