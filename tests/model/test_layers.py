"""The table of layers: order, nesting, names and the ops of each layer."""

from build import layer, op, profile
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.model.merging import add_profile


def rows(layers):
    """Each layer's path, the path of the layer that contains it, class and output shape."""
    return [
        (
            name,
            layers.name[parent] if parent >= 0 else "",
            layers.kind[row],
            layers.output_shape[row],
        )
        for row, (name, parent) in enumerate(zip(layers.name, layers.parent.tolist(), strict=True))
    ]


def test_a_layer_is_named_by_its_path_in_the_model():
    builder = ProfileBuilder()

    builder.add_layers([Layer("net", kind="Model"), Layer("dense", 0, "Dense", (-1, 10))])

    assert rows(builder.build().layers) == [
        ("net", "", "Model", None),
        ("net/dense", "net", "Dense", (-1, 10)),
    ]


def test_layers_added_later_follow_the_layer_that_contains_them():
    builder = ProfileBuilder()
    builder.add_layers([Layer("a"), Layer("b")])

    builder.add_layers([Layer("a"), Layer("inner", 0)])

    built = builder.build()
    built.check()
    assert list(built.layers.name) == ["a", "a/inner", "b"]


def test_the_first_description_of_a_layer_counts():
    builder = ProfileBuilder()

    first = builder.add_layers([Layer("a", kind="Dense")])
    second = builder.add_layers([Layer("a", kind="Conv2D")])

    assert first.tolist() == second.tolist()
    assert rows(builder.build().layers) == [("a", "", "Dense", None)]


def test_layers_with_the_same_name_in_a_layer_are_numbered():
    builder = ProfileBuilder()

    builder.add_layers([Layer("m"), Layer("d", 0), Layer("d", 0), Layer("d", 0), Layer("x", 2)])

    assert list(builder.build().layers.name) == ["m", "m/d", "m/d#2", "m/d#2/x", "m/d#3"]


def test_a_number_that_is_part_of_a_name_is_not_given_to_another_layer():
    builder = ProfileBuilder()

    builder.add_layers([Layer(name) for name in ("d#2", "d", "d", "d", "d#2")])

    assert list(builder.build().layers.name) == ["d#2", "d", "d#3", "d#4", "d#2#2"]


def test_many_layers_with_the_same_name_take_linear_time():
    count = 50_000  # the square of this would take minutes
    builder = ProfileBuilder()

    builder.add_layers([Layer("d")] * count)

    assert builder.build().layers.name[count - 1] == f"d#{count}"


def test_an_op_belongs_to_the_layer_that_was_set_first():
    builder = ProfileBuilder()
    ops = builder.ensure_ops(["a", "b"])
    one, two = builder.add_layers([Layer("one"), Layer("two")]).tolist()

    builder.set_layer(ops[1:], [two])
    builder.set_layer(ops[1:], [one])

    assert builder.build().ops.layer.tolist() == [NO_LAYER, 1]


def test_merged_profiles_share_their_layers():
    one = profile(layer("m"), layer("m/b"), op("x", layer="m/b"))
    other = profile(layer("m"), layer("m/a"), layer("m/b"), op("y", layer="m/b"))
    builder = ProfileBuilder()

    add_profile(builder, one)
    add_profile(builder, other)

    merged = builder.build()
    merged.check()
    assert list(merged.layers.name) == ["m", "m/b", "m/a"]
    assert merged.ops.layer.tolist() == [1, 1]


def test_layers_with_numbered_names_survive_merging():
    builder = ProfileBuilder()
    builder.add_layers([Layer("m"), Layer("d", 0), Layer("d", 0), Layer("x", 2)])
    before = builder.build()
    again = ProfileBuilder()

    add_profile(again, before)

    assert rows(again.build().layers) == rows(before.layers)
