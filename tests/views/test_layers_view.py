"""The layers view."""

import pickle

import pytest

from asking import ROOT, ask, outline, total
from build import allocator, layer, op, profile, run
from tfprof.api import Profile
from tfprof.metrics import BY_KEY
from tfprof.model.ops import Phase
from tfprof.views.layers import COMMUNICATION, EAGER, INPUT, OPTIMIZER, OTHER, STATE


def network():
    """Two layers in a model, with a training step around it."""
    trainable = ("_trainable_variables",)
    return profile(
        layer("net", "Functional"),
        layer("net/conv", "Conv2D", (-1, 8)),
        layer("net/bn", "BatchNormalization", (-1, 8)),
        layer("net/relu", "ReLU", (-1, 8)),
        op("conv/w", "Var", (2, 3), types=trainable, layer="net/conv"),
        op("bn/gamma", "Var", (4,), types=trainable, layer="net/bn"),
        op("bn/mean", "Var", (4,), layer="net/bn"),
        op("net/conv/mul", float_ops=100, layer="net/conv"),
        op("net/bn/add", float_ops=10, layer="net/bn"),
        op("gradient_tape/net/conv/mul", float_ops=200, layer="net/conv"),
        op("net/out", float_ops=3, layer="net"),
        op("update", "ApplyAdam", float_ops=7),
        op("next", "IteratorGetNext"),
        op("loss/mean", float_ops=1),
        run("net/conv/mul", 30),
        run("gradient_tape/net/conv/mul", 50),
        run("net/bn/add", 5),
        run("update", 4),
        run("next", 8),
        run("eager/Cast", 2),
        run("loss/mean", 1),
    )


def layers(p, **options):
    return Profile(p).layers(**options)


def test_layers_are_in_the_order_of_the_model_and_nested():
    assert outline(layers(network()).view) == [
        "net",
        "  net/conv",
        "  net/bn",
        "  net/relu",
        OPTIMIZER,
        INPUT,
        EAGER,
        OTHER,
        "  loss",
    ]


def test_a_total_includes_the_layers_inside():
    assert total(layers(network()).view, "float_ops") == {
        ROOT: 321,
        "net": 313,
        "net/conv": 300,
        "net/bn": 10,
        "net/relu": 0,
        OPTIMIZER: 7,
        INPUT: 0,
        EAGER: 0,
        OTHER: 1,
        "loss": 1,
    }


def test_communication_outside_of_layers_has_a_row():
    p = profile(
        layer("net", "Dense"),
        op("net/w", shape=(3,), layer="net"),
        op("all_reduce", phase=Phase.COMMUNICATION),
        run("all_reduce", 5),
    )

    assert outline(layers(p).view) == ["net", COMMUNICATION]


@pytest.mark.parametrize("key", [key for key, metric in BY_KEY.items() if metric.is_number])
def test_the_total_of_all_rows_is_that_of_the_scope_view(key):
    p = network()

    assert total(layers(p).view, key)[ROOT] == total(ask("scope", p), key)[ROOT]


def test_a_row_without_any_number_is_shown_only_for_layers():
    p = profile(layer("m"), op("x"), op("init/c", "Const"), op("y", "ApplyAdam"))

    assert outline(layers(p).view) == ["m"]


def test_ops_that_update_metrics_and_ops_that_feed_only_them_have_a_row():
    p = profile(
        layer("m"),
        op("m/out", layer="m"),
        op("total", "Var", shape=(1,), types=["_state_variables"]),
        op("equal", inputs=["m/out"], float_ops=1),
        op("sum", inputs=["equal"], float_ops=2),
        op("assign", inputs=["total", "sum"]),
        op("unrelated", float_ops=4),
    )

    found = total(layers(p).view, "float_ops")

    assert (found[STATE], found[OTHER], found["m"]) == (3, 4, 0)


def test_by_default_the_columns_that_have_values_are_shown():
    assert {*layers(network()).view.options.select} == {
        *("layer_class", "output_shape", "params", "trainable_params", "other_params"),
        *("float_ops", "forward_float_ops", "backward_float_ops"),
        *("micros", "forward_micros", "backward_micros"),
    }


def test_without_runs_and_gradients_there_are_no_columns_for_them():
    p = profile(layer("m"), op("w", shape=(3,), layer="m"), op("x", float_ops=1, layer="m"))

    assert {*layers(p).view.options.select} == {"params", "float_ops"}


def test_a_column_that_is_asked_for_is_shown_alone():
    assert layers(network(), select="micros").view.options.select == ("micros",)


def test_rows_are_ordered_by_name_on_request():
    view = layers(network(), order_by="name", show_name_regexes=["net/.*"]).view

    assert outline(view) == ["net/bn", "net/conv", "net/relu"]


def test_rows_are_ordered_by_a_number_on_request():
    view = layers(network(), order_by="params", max_depth=3, start_name_regexes=["net"]).view

    assert outline(view) == ["net", "  net/bn", "  net/conv", "  net/relu"]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"max_depth": 2, "start_name_regexes": ["net"]}, ["net"]),
        ({"show_name_regexes": [".*conv.*"]}, ["net/conv"]),
        ({"hide_name_regexes": [".*/.*", "loss", ".*o.*", EAGER]}, ["net", INPUT]),
        ({"min_params": 7}, ["net", "  net/bn"]),
        ({"min_micros": 20}, ["net", "  net/conv"]),
        ({"account_type_regexes": ["_trainable_variables"]}, ["net", "  net/conv", "  net/bn"]),
    ],
)
def test_the_filters_of_other_views_work(options, shown):
    assert outline(layers(network(), **options).view) == shown


def test_the_facts_of_a_layer_are_its_class_and_output_shape():
    answer = layers(network())

    assert answer["net/conv"]["layer_class"] == ["Conv2D"]
    assert answer["net/conv"]["output_shape"] == [-1, 8]
    assert answer[OTHER]["layer_class"] == []
    assert answer[OTHER]["output_shape"] is None


def test_other_views_show_the_class_of_the_layer_of_an_op_and_its_first_output():
    p = profile(layer("m", "Dense"), op("x", outputs=[(2, 3), (4,)], layer="m"), op("y"))

    rows = {row["name"]: row for row in Profile(p).scope(select="layer_class,output_shape")}

    assert (rows["x"]["layer_class"], rows["x"]["output_shape"]) == (["Dense"], [2, 3])
    assert (rows["y"]["layer_class"], rows["y"]["output_shape"]) == ([], None)


def test_the_op_view_shows_the_classes_of_layers_but_no_shape():
    p = profile(
        layer("a", "Dense"),
        layer("b", "Conv2D"),
        op("x", "Mul", outputs=[(2,)], layer="a"),
        op("y", "Mul", layer="b"),
    )

    row = Profile(p).op(select="layer_class,output_shape")["Mul"]

    assert row["layer_class"] == ["Conv2D", "Dense"]
    assert "output_shape" not in row


def test_a_profile_without_ops_has_no_layers():
    assert len(layers(profile()).view) == 1


def test_the_answer_can_be_pickled():
    answer = layers(network())

    assert pickle.loads(pickle.dumps(answer)).table == answer.table  # noqa: S301 -- our own


def with_memory(**more):
    """A model whose first layer keeps its activations while the second one runs."""

    def used(name, *events, **recorded):
        return run(name, allocators=[allocator("host", events)], **recorded)

    return profile(
        layer("m"),
        layer("m/a"),
        layer("m/b"),
        op("m/a/x", layer="m/a"),
        op("m/b/x", layer="m/b"),
        op("y"),
        used("m/a/x", (10, 1000), (40, -1000)),
        used("m/b/x", (20, 200), (30, -200)),
        run("y", memory={"output": 9}),
        **more,
    )


def test_the_peak_memory_of_a_layer_includes_the_layers_in_it():
    answer = layers(with_memory())

    assert {row["name"]: row["held_bytes"] for row in answer.to_dict()["rows"]} == {
        ROOT: 1200,
        "m": 1200,
        "m/a": 1000,
        "m/b": 200,
        OTHER: None,
    }


def test_the_peak_of_all_rows_is_that_of_the_memory_report():
    p = Profile(with_memory())

    assert p.layers()[ROOT]["held_bytes"] == p.memory().allocators[0].peak_bytes == 1200


def test_peak_memory_is_shown_by_default_instead_of_output_bytes():
    select = layers(with_memory()).view.options.select

    assert "held_bytes" in select
    assert "output_bytes" not in select


def test_peak_memory_does_not_depend_on_the_rows_shown():
    answer = layers(with_memory(), select="held_bytes", max_depth=2)

    assert answer["m"]["held_bytes"] == 1200


def test_the_table_explains_peak_memory_and_what_it_lacks():
    shown = layers(with_memory(counts_whole_micros=False), select="held_bytes").table.splitlines()

    assert shown[:4] == [
        "layer      peak memory",
        "──────────────────────",
        "m               1.20KB",
        "  a             1.00KB",
    ]
    assert shown[-2].startswith("Peak memory is the most that the ops of a row held at one time")
    assert shown[-1] == "On CPUs, TensorFlow does not record allocations of less than 256 KiB."


def test_a_notebook_shows_peak_memory_with_its_unit():
    assert ">1.20KB<" in layers(with_memory(), select="held_bytes")._repr_html_()


def test_other_views_say_that_they_do_not_show_peak_memory():
    (note,) = Profile(with_memory()).scope(select="params,held_bytes", max_depth=9).notes[-1:]

    assert note == "the scope view does not show held_bytes; the layers view does."
