"""The layers of Keras models: live, exported, saved and recorded."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import live_programs
import tfprof
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.ops import Phase
from tfprof.views.layers import OTHER, arrange

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec("keras") is None,
        reason="Keras models need TensorFlow and Keras",
    ),
]

PROGRAMS = Path(__file__).with_name("layered_programs.py")
MODELS = ("functional", "sequential", "subclassed")
STATIC = ("tfprof", "export", "saved")
RECORDED = (*(f"{model}.{how}" for model in MODELS for how in ("fit", "tape", "callback")),)
RECORDED += ("functional.run",)
EVERYWHERE = (*(f"{model}.{how}" for model in MODELS for how in STATIC), *RECORDED)
ROOT = "_TFProfRoot"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with files of all models."""
    path = tmp_path_factory.mktemp("layered")
    live_programs.run(PROGRAMS, "all", path)
    return path


@pytest.fixture(scope="module")
def profiles(folder):
    """The profile of each file, loaded once."""
    return {name: tfprof.load(folder / name) for name in EVERYWHERE}


def facts(folder, name):
    return json.loads((folder / f"{name.partition('.')[0]}.json").read_text("utf-8"))


def outline(answer):
    """The names of the rows that are layers, without their classes."""
    depths = {row["name"]: row["depth"] for row in answer}
    return [f"{'  ' * (depth - 2)}{name.rpartition('/')[2]}" for name, depth in depths.items()][1:]


@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_total_of_parameters_is_that_of_the_model(folder, profiles, name):
    answer = profiles[name].layers()

    assert answer[ROOT]["total_params"] == facts(folder, name)["params"]


@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_parameters_of_each_layer_are_its_own(folder, profiles, name):
    answer = profiles[name].layers()
    rows = {row["name"].rpartition("/")[2]: row for row in answer if row["depth"] == 3}

    for layer, params in facts(folder, name)["layers"].items():
        if params or layer in rows:  # a SavedModel has no layers without ops
            assert rows[layer]["total_params"] == params


@pytest.mark.parametrize("name", EVERYWHERE)
def test_the_float_operations_and_the_time_are_those_of_the_whole_program(profiles, name):
    profile = profiles[name]
    row, whole = profile.layers()[ROOT], profile.scope(select="micros,macs", max_depth=1)[ROOT]

    assert row["total_float_ops"] == profile.flops().float_ops > 0
    assert row.get("total_micros", 0) == whole["total_micros"]
    assert row.get("total_macs", 0) == whole["total_macs"]


@pytest.mark.parametrize("name", RECORDED)
def test_only_sums_of_gradients_and_values_of_keras_belong_to_no_layer_or_named_row(profiles, name):
    columns = profiles[name].columns
    arrangement = arrange(columns).arrangement
    others = [row for row, label in enumerate(arrangement.name) if label == OTHER]
    ops = arrangement.members.take(np.array(others, np.int64)).values
    runs = per_op(columns, EVERYTHING)["runs"]

    kinds = {columns.ops.kind[op] for op in ops if runs[op]}
    assert kinds <= {"AddN", "DivNoNan", "OptionalFromValue"}


@pytest.mark.parametrize("how", ["tfprof", "fit", "tape", "callback", "run"])
def test_layers_have_the_names_order_and_nesting_of_the_model(profiles, how):
    answer = profiles[f"functional.{how}"].layers(start_name_regexes="net")

    assert outline(answer) == [
        "net",
        "  input_layer",
        "  stem",
        "  norm",
        "  relu",
        "  block",
        "    input_layer_1",
        "    conv",
        "    plus",
        "  pool",
        "  shared",
        "  drop",
        "  head",
    ]


@pytest.mark.parametrize("how", ["export", "saved"])
def test_a_saved_model_has_the_layers_that_have_ops(profiles, how):
    answer = profiles[f"functional.{how}"].layers()

    assert outline(answer) == [
        *("net", "  stem", "  norm", "  relu", "  block", "    conv", "    plus", "  pool"),
        *("  shared", "  head"),
    ]


@pytest.mark.parametrize("name", ["sequential.export", "sequential.saved", "sequential.tfprof"])
def test_numbers_in_the_names_of_layers_are_kept(profiles, name):
    names = [row["name"] for row in profiles[name].layers(select="params", min_params=1)]

    assert names == [
        ROOT,
        "sequential",
        *("sequential/dense_2", "sequential/inner"),
        *("sequential/inner/dense", "sequential/inner/dense_1"),
    ]


@pytest.mark.parametrize("name", ["sequential.fit", "sequential.tfprof"])
def test_the_code_view_tells_layers_with_numbers_in_their_names_apart(profiles, name):
    layers = profiles[name].layers(select="forward_float_ops")
    code = profiles[name].code(select="forward_float_ops")

    for path in ("sequential/dense_2", "sequential/inner/dense", "sequential/inner/dense_1"):
        line = f"{path.rpartition('/')[2]}:0:Dense"
        assert code[line]["forward_float_ops"] == layers[path]["forward_float_ops"] > 0


def test_a_layer_has_its_class_and_output_shape(profiles):
    row = profiles["functional.tfprof"].layers()["net/block/conv"]

    assert (row["layer_class"], row["output_shape"]) == (["Conv2D"], [4, 4, 4, 3])


def test_layers_inside_layers_of_a_subclassed_model_are_rows(profiles):
    answer = profiles["subclassed.fit"].layers()

    query = answer["subclassed/block1/multi_head_attention_1/query"]
    assert query["layer_class"] == ["EinsumDense"]
    assert query["total_params"] == 18
    assert query["total_forward_float_ops"] > 0
    assert query["total_backward_float_ops"] > 0


def test_a_layer_that_is_called_twice_has_the_work_of_both_calls(profiles):
    answer = profiles["functional.export"].layers()

    assert answer["net/shared"]["total_macs"] == 2 * 9
    assert answer["net/block"]["total_macs"] == 2 * 16 * 81


@pytest.mark.parametrize("name", RECORDED)
def test_ops_of_the_forward_and_the_backward_pass_ran_in_the_model(profiles, name):
    columns = profiles[name].columns
    ran_in_model = (per_op(columns, EVERYTHING)["runs"] > 0) & (columns.ops.layer >= 0)

    assert {*columns.phase[ran_in_model].tolist()} == {Phase.FORWARD, Phase.BACKWARD}


def test_the_loss_of_a_compiled_model_and_the_optimizer_are_rows(profiles):
    names = [row["name"] for row in profiles["functional.fit"].layers() if row["depth"] == 2]

    assert names[:3] == ["net", "loss", "optimizer"]


def test_the_loss_of_a_gradient_tape_is_a_row_by_its_scope(profiles):
    answer = profiles["functional.tape"].layers(select="occurrence")

    assert answer["sparse_categorical_crossentropy"]["total_runs"] > 0
