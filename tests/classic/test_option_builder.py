"""Options are built as TensorFlow's programs build them."""

from __future__ import annotations

import inspect

import pytest

import tfprof
from classic.live_models import needs_tensorflow, tensorflow
from tfprof.contrib import model_analyzer

PRESETS = ("trainable_variables_parameter", "float_operation", "time_and_memory")
SETTERS = {
    "with_max_depth": [(3,)],
    "with_min_memory": [(), (1, 2, 3, 4)],
    "with_min_execution_time": [(), (1, 2, 3)],
    "with_min_parameters": [(5,)],
    "with_min_occurrence": [(5,)],
    "with_min_float_operations": [(5,)],
    "with_accounted_types": [(["a", "b"],)],
    "with_node_names": [(), (["a"],), (["a"], ["b"], ["c"], ["d"]), (None, [], None, ["d"])],
    "account_displayed_op_only": [(True,)],
    "with_empty_output": [()],
    "with_stdout_output": [()],
    "with_file_output": [("f",)],
    "with_timeline_output": [("f",)],
    "with_pprof_output": [("f",)],
    "order_by": [("bytes",)],
    "select": [(["bytes", "micros"],)],
    "with_step": [(7,)],
}


def theirs():
    return tensorflow().compat.v1.profiler.ProfileOptionBuilder


@needs_tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_that_of_the_original(preset):
    ours = getattr(tfprof.ProfileOptionBuilder, preset)()

    assert ours == getattr(theirs(), preset)()


@needs_tensorflow
def test_the_least_times_and_bytes_of_a_preset_are_those_of_the_original():
    ours = tfprof.ProfileOptionBuilder.time_and_memory(1, 2, 3, 4, 5, 6, 7)

    assert ours == theirs().time_and_memory(1, 2, 3, 4, 5, 6, 7)


@needs_tensorflow
def test_a_builder_begins_as_the_original_does():
    assert tfprof.ProfileOptionBuilder().build() == theirs()().build()


@needs_tensorflow
@pytest.mark.parametrize(
    ("setter", "words"), [(name, words) for name, calls in SETTERS.items() for words in calls]
)
def test_a_setter_sets_what_that_of_the_original_does(setter, words):
    builder = tfprof.ProfileOptionBuilder()

    returned = getattr(builder, setter)(*words)

    assert returned is builder
    assert builder.build() == getattr(theirs()(), setter)(*words).build()


@needs_tensorflow
def test_there_is_every_method_of_the_original_with_its_signature():
    original = {name: f for name, f in vars(theirs()).items() if not name.startswith("_")}
    ours = vars(tfprof.ProfileOptionBuilder)

    assert {name for name in ours if not name.startswith("_")} == original.keys()
    for name, method in original.items():
        parameters = inspect.signature(getattr(tfprof.ProfileOptionBuilder, name)).parameters
        wanted = inspect.signature(getattr(theirs(), name)).parameters
        assert [*parameters] == [*wanted], name
        assert method is not None


def test_a_builder_leaves_what_it_was_given_as_it_was():
    types = ["a"]
    given = {"account_type_regexes": types, "select": ["params"]}

    built = tfprof.ProfileOptionBuilder(given).with_max_depth(2)
    built.build()["select"].append("bytes")
    built.with_accounted_types(types).build()["account_type_regexes"].append("b")

    assert given == {"account_type_regexes": ["a"], "select": ["params"]}
    assert types == ["a"]
    assert built.build()["select"] == ["params"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("TRAINABLE_VARS_PARAMS_STAT_OPTIONS", (10000, 0, "name", True, ["params"])),
        ("FLOAT_OPS_OPTIONS", (10000, 1, "float_ops", True, ["float_ops"])),
        ("PRINT_PARAMS_ON_DEVICE", (1, 0, "name", False, ["device", "params"])),
        ("PRINT_ALL_TIMING_MEMORY", (10000, 0, "name", True, ["micros", "bytes"])),
    ],
)
def test_the_constants_of_the_oldest_documents_say_what_they_said(name, told):
    options = getattr(model_analyzer, name)
    keys = ("max_depth", "min_float_ops", "order_by", "account_displayed_op_only", "select")

    assert tuple(options[key] for key in keys) == told
    assert options["dump_to_file"] == ""
