"""Facts about the rows of a view besides their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from asking import ask, texts
from build import CPU, GPU, op, profile, run
from checkpointed import with_tensors
from tfprof.metrics import BY_KEY, METRICS
from tfprof.views import facts


def shapes(view, row):
    """The shapes of the inputs of the op of a row."""
    found = facts.input_shapes(view, slice(row, row + 1))
    return [found.shapes[code] for code in found.codes[0].tolist()]


def test_every_fact_has_a_metric_and_every_metric_names_a_registered_fact():
    assert sorted(metric.fact for metric in METRICS if metric.fact) == sorted(facts.FACTS)


def test_a_metric_shows_a_number_or_a_fact_or_both():
    assert all(metric.is_number or metric.fact for metric in METRICS)
    assert [metric.key for metric in METRICS if metric.is_number and metric.fact] == ["params"]


def test_the_types_of_an_op_are_its_kind_its_device_and_its_logged_types():
    p = profile(op("a", "MatMul", types=["mine", "_trainable"]), run("a", device=CPU))

    assert texts("op_types", ask("scope", p), 1) == [CPU, "MatMul", "_trainable", "mine"]


def test_a_gathered_row_has_the_types_of_all_its_ops():
    p = profile(op("a", "Add", types=["x"]), op("b", "Add", types=["y", "x"]))

    assert texts("op_types", ask("op", p), 1) == ["Add", "x", "y"]


def test_an_op_that_ran_has_its_device():
    assert texts("devices", ask("scope", profile(op("a"), run("a", device=GPU))), 1) == [GPU]


def test_an_op_that_never_ran_has_no_device():
    assert texts("devices", ask("scope", profile(op("a"))), 1) == []


def test_an_op_that_never_ran_adds_an_empty_device_to_a_gathered_row():
    assert texts("devices", ask("op", profile(op("a"))), 1) == [""]


def test_a_row_without_an_op_has_no_device():
    assert texts("devices", ask("scope", profile(op("a/b"))), 1) == []


def test_the_devices_of_many_ops_are_each_listed_once_and_in_order():
    runs = run("c", device=GPU), run("a", device=CPU), run("d", device=CPU)
    p = profile(*(op(name, "Add") for name in "abcd"), *runs)

    assert texts("devices", ask("op", p), 1) == ["", CPU, GPU]


@pytest.mark.parametrize("kind", ["scope", "op"])
def test_the_devices_of_an_op_in_several_recordings_are_each_listed_once_and_in_order(kind):
    placed = [(GPU, "first"), (CPU, "second"), (CPU, "third")]
    p = profile(op("a"), *(run("a", device=device, recording=one) for device, one in placed))

    assert texts("devices", ask(kind, p), 1) == [CPU, GPU]


def test_an_input_has_the_shape_of_its_source():
    p = profile(op("a", inputs=["x", "y"]), op("x", outputs=[(2, 3)]), op("y", outputs=[()]))

    assert shapes(ask("graph", p), 1) == [(2, 3), ()]


def test_an_input_from_any_slot_has_the_shape_of_the_first_output():
    p = profile(op("a", inputs=["x:1"]), op("x", outputs=[(2,), (3,)]))

    assert shapes(ask("graph", p), 1) == [(2,)]


def test_a_control_input_has_a_shape_too():
    p = profile(op("a", inputs=["x", "^y"]), op("x", outputs=[(2,)]), op("y", outputs=[(3,)]))

    assert shapes(ask("graph", p), 1) == [(2,), (3,)]


def test_the_shape_of_an_input_may_be_unknown():
    p = profile(op("a", inputs=["x", "y", "gone"]), op("x", outputs=[None]), op("y"))

    assert shapes(ask("graph", p), 1) == [None, None, None]


def test_an_input_may_have_an_unknown_dim():
    p = profile(op("a", inputs=["x"]), op("x", outputs=[(-1, 8)]))

    assert shapes(ask("graph", p), 1) == [(-1, 8)]


def test_a_row_without_ops_has_the_type_of_the_view():
    view = ask("scope", profile(op("a/b")))

    column = facts.op_types(view, slice(0, len(view)))

    assert column.default == "_kTFScopeParent"
    assert column.codes.lengths.tolist() == [0, 0, 1]


def test_a_tensor_belongs_to_the_row_of_its_name_but_never_to_the_root():
    p = with_tensors(profile(op("a"), op("b")), {"_TFProfRoot": np.int64(1), "b": np.int64(2)})
    view = ask("scope", p)

    column = facts.tensor_value(view, slice(0, len(view)))

    assert column.place.tolist() == [-1, -1, column.tensors.find("b")]


def test_rows_that_gather_ops_have_no_parameter_shape():
    assert (
        facts.column(BY_KEY["params"], ask("op", profile(op("a", shape=(2,)))), slice(0, 2)) is None
    )


def test_inputs_have_the_shapes_that_the_source_states():
    p = profile(
        op("a", outputs=[(7,)]),
        op("b", inputs=["a"]),
        op("c", inputs=["a"], stated_inputs=[(2, 3), None, ()]),
    )
    view = ask("scope", p)

    assert shapes(view, list(view.name).index("b")) == [(7,)]
    assert shapes(view, list(view.name).index("c")) == [(2, 3), None, ()]
