"""`ProfileOptionBuilder` builds the same options as TensorFlow's own."""

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


@pytest.mark.live
@needs_tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_equals_the_original_one(preset):
    ours = getattr(tfprof.ProfileOptionBuilder, preset)()

    assert ours == getattr(theirs(), preset)()


@pytest.mark.live
@needs_tensorflow
def test_the_minimums_of_a_preset_equal_the_original_ones():
    ours = tfprof.ProfileOptionBuilder.time_and_memory(1, 2, 3, 4, 5, 6, 7)

    assert ours == theirs().time_and_memory(1, 2, 3, 4, 5, 6, 7)


@pytest.mark.live
@needs_tensorflow
def test_a_builder_starts_with_the_original_defaults():
    assert tfprof.ProfileOptionBuilder().build() == theirs()().build()


@pytest.mark.live
@needs_tensorflow
@pytest.mark.parametrize(
    ("setter", "arguments"),
    [(name, arguments) for name, calls in SETTERS.items() for arguments in calls],
)
def test_a_setter_has_the_same_effect_as_in_the_original(setter, arguments):
    builder = tfprof.ProfileOptionBuilder()

    returned = getattr(builder, setter)(*arguments)

    assert returned is builder
    assert builder.build() == getattr(theirs()(), setter)(*arguments).build()


@pytest.mark.live
@needs_tensorflow
def test_every_method_of_the_original_exists_with_its_signature():
    original = {name: f for name, f in vars(theirs()).items() if not name.startswith("_")}
    ours = vars(tfprof.ProfileOptionBuilder)

    assert {name for name in ours if not name.startswith("_")} == original.keys()
    for name, method in original.items():
        parameters = inspect.signature(getattr(tfprof.ProfileOptionBuilder, name)).parameters
        wanted = inspect.signature(getattr(theirs(), name)).parameters
        assert [*parameters] == [*wanted], name
        assert method is not None


def test_a_builder_does_not_modify_its_arguments():
    types = ["a"]
    given = {"account_type_regexes": types, "select": ["params"]}

    built = tfprof.ProfileOptionBuilder(given).with_max_depth(2)
    built.build()["select"].append("bytes")
    built.with_accounted_types(types).build()["account_type_regexes"].append("b")

    assert given == {"account_type_regexes": ["a"], "select": ["params"]}
    assert types == ["a"]
    assert built.build()["select"] == ["params"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TRAINABLE_VARS_PARAMS_STAT_OPTIONS", (10000, 0, "name", True, ["params"])),
        ("FLOAT_OPS_OPTIONS", (10000, 1, "float_ops", True, ["float_ops"])),
        ("PRINT_PARAMS_ON_DEVICE", (1, 0, "name", False, ["device", "params"])),
        ("PRINT_ALL_TIMING_MEMORY", (10000, 0, "name", True, ["micros", "bytes"])),
    ],
)
def test_the_contrib_constants_have_their_documented_values(name, expected):
    options = getattr(model_analyzer, name)
    keys = ("max_depth", "min_float_ops", "order_by", "account_displayed_op_only", "select")

    assert tuple(options[key] for key in keys) == expected
    assert options["dump_to_file"] == ""
