"""The layers of models: as stated, or the scopes with variables; and their output shapes."""

import pytest

from build import layer, op, profile
from tfprof.measures.layers import model_layers, output_shapes


def layer_names(p):
    return list(model_layers(p).table.name)


def layers_of_ops(p):
    """The layer of each op, or an empty text."""
    table, of_ops, _ = model_layers(p)
    found = [table.name[row] if row >= 0 else "" for row in of_ops.tolist()]
    return dict(zip(p.ops.name, found, strict=True))


def shapes(p):
    found = output_shapes(p)
    return {name: found[row] for row, name in enumerate(model_layers(p).table.name)}


def test_stated_layers_are_used_as_they_are():
    p = profile(layer("m"), layer("m/d"), op("x", layer="m/d"), op("a/w", shape=(1,)))

    assert layer_names(p) == ["m", "m/d"]
    assert layers_of_ops(p) == {"x": "m/d", "a/w": ""}


def test_without_layers_each_scope_with_variables_is_a_layer_in_order_of_definition():
    p = profile(
        op("unit/conv2/w", shape=(3,)),
        op("unit/conv1/w", shape=(3,)),
        op("unit/conv1/mul"),
        op("unit/relu/relu"),
        op("loss/mean"),
    )

    assert layer_names(p) == ["unit", "unit/conv2", "unit/conv1"]
    assert layers_of_ops(p) == {
        "loss/mean": "",
        "unit/conv1/mul": "unit/conv1",
        "unit/conv1/w": "unit/conv1",
        "unit/conv2/w": "unit/conv2",
        "unit/relu/relu": "unit",
    }


def test_an_op_in_a_function_belongs_to_the_layer_of_its_scope_in_the_function():
    p = profile(
        op("enc/w", shape=(3,)),
        op("StatefulPartitionedCall/enc/mul"),
        op("StatefulPartitionedCall/PartitionedCall_1/enc/mul"),
        op("PartitionedCall/StatefulPartitionedCall/enc/mul"),
        op("PartitionedCall/other/enc/mul"),
        op("PartitionedCalls/enc/mul"),
    )

    assert [name for name, found in layers_of_ops(p).items() if not found] == [
        "PartitionedCall/other/enc/mul",
        "PartitionedCalls/enc/mul",
    ]


def test_a_gradient_belongs_to_the_layer_of_its_forward_op():
    p = profile(op("a/w", shape=(3,)), op("a/mul"), op("gradients/a/mul_grad/mul"))

    assert layers_of_ops(p)["gradients/a/mul_grad/mul"] == "a"


def test_a_variable_in_the_scope_of_another_is_a_slot():
    p = profile(op("a/w", shape=(3,)), op("a/w/Momentum", shape=(3,)))

    found = model_layers(p)
    assert layer_names(p) == ["a"]
    assert dict(zip(p.ops.name, found.is_slot.tolist(), strict=True)) == {
        "a/w": False,
        "a/w/Momentum": True,
    }
    assert layers_of_ops(p)["a/w/Momentum"] == ""


def test_a_placeholder_makes_no_layer():
    p = profile(op("in/x", "Placeholder", shape=(3,)), op("w", shape=(3,)))

    assert layer_names(p) == []


def test_names_with_empty_parts_make_no_layer():
    p = profile(op("a//w", shape=(3,)), op("/w", shape=(3,)))

    assert layer_names(p) == []


def test_the_output_shape_of_a_layer_is_that_of_its_last_result_used_outside():
    p = profile(
        layer("m"),
        layer("m/d"),
        op("x", outputs=[(1, 2)]),
        op("w", "W", shape=(2, 3), outputs=[(2, 3)], layer="m/d"),
        op("read", inputs=["w"], outputs=[(2, 3)], layer="m/d"),
        op("mul", inputs=["x", "read"], outputs=[(1, 3)], layer="m/d"),
        op("inside", inputs=["mul"], outputs=[(7,)], layer="m/d"),
        op("dead", inputs=["inside"], layer="m/d"),
        op("relu", inputs=["mul"], outputs=[(4,)], layer="m"),
        op("penalty", inputs=["read"], outputs=[()]),
    )

    assert shapes(p) == {"m": (4,), "m/d": (1, 3)}


def test_a_stated_output_shape_takes_precedence():
    p = profile(layer("m", output_shape=(4, 3)), op("x", outputs=[(5, 3)], layer="m"))

    assert shapes(p) == {"m": (4, 3)}


@pytest.mark.parametrize(
    ("stated", "result", "shown"),
    [
        ((-1, 8), (32, 8), (32, 8)),
        ((-1, 8), (32, 4), (-1, 8)),
        ((-1, 8), (32, 8, 1), (-1, 8)),
        ((-1, -1), (-1, 8), (-1, 8)),
        ((-1, 8), None, (-1, 8)),
        ((2, 8), (32, 8), (2, 8)),
    ],
)
def test_the_open_dims_of_a_stated_output_shape_are_those_of_the_result(stated, result, shown):
    p = profile(layer("d", "", stated), op("x", outputs=[result], layer="d"))

    assert shapes(p) == {"d": shown}


def test_an_unknown_output_shape_stays_unknown():
    p = profile(layer("m"), layer("n"), op("x", layer="m"))

    assert shapes(p) == {"m": None, "n": None}
