"""Recordings of a small Keras program and its traced model: quick enough for the gate.

The tests marked `live` compare many more programs with what Keras itself knows about them.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import live_programs
import tfprof
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.ops import Phase

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec("keras") is None,
    reason="TensorFlow or Keras is not installed",
)

PROGRAM = Path(__file__).with_name("tensorflow_smoke_program.py")

RECORDED = ["whole", "callback"]
TRACED = ["traced", "function"]
BATCHES = {"whole": 4, "callback": 2, "traced": 4, "function": 4}
# Parameters, and products for one image. The convolution has 2x2 outputs with 3 channels.
LAYERS = {
    "net/conv": (3 * 3 * 2 * 3 + 3, 2 * 2 * 3 * (3 * 3 * 2)),
    "net/norm": (4 * 3, 0),
    "net/flatten": (0, 0),
    "net/frozen": (12 * 3 + 3, 12 * 3),
    "net/twice": (3 * 3 + 3, 2 * 3 * 3),
    "net/head": (3 * 3 + 3, 3 * 3),
}
PARAMS = 132
TRAINED = PARAMS - 39 - 6  # without `frozen`, and the mean and variance of `norm`


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of the recordings, and the process that made them."""
    folder = tmp_path_factory.mktemp("tensorflow")
    done = live_programs.finished(PROGRAM, folder)
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.fixture(scope="module")
def profiles(finished):
    folder, _ = finished
    return {name: tfprof.load(folder / name) for name in BATCHES}


def line_of(comment):
    lines = PROGRAM.read_text("utf-8").splitlines()
    (found,) = [place for place, text in enumerate(lines, 1) if text.endswith(f"# {comment}")]
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_consists_of_its_events_the_graph_its_lines_and_the_layers(name, finished):
    folder, _ = finished

    assert sorted(path.name for path in (folder / name).iterdir()) == [
        *("graph.pb", "layers.json", "plugins", "tfprof_log")
    ]


@pytest.mark.parametrize(("name", "steps"), [("whole", [0, 1, 2]), ("callback", [1, 2])])
def test_the_steps_that_were_asked_for_are_recorded(name, steps, profiles):
    assert profiles[name].steps == steps


@pytest.mark.parametrize("name", BATCHES)
def test_each_layer_has_its_parameters_and_forward_products(name, profiles):
    rows = profiles[name].layers(select=["params", "forward_macs"])
    found = {
        row["name"]: (row["total_params"], row["total_forward_macs"] // BATCHES[name])
        for row in rows
    }

    assert {layer: found[layer] for layer in LAYERS} == LAYERS
    assert found["net"] == (PARAMS, sum(macs for _, macs in LAYERS.values()))


@pytest.mark.parametrize("name", BATCHES)
def test_frozen_parameters_are_not_trained(name, profiles):
    root = profiles[name].layers(select=["params", "trainable_params"])["_TFProfRoot"]

    assert (root["total_params"], root["total_trainable_params"]) == (PARAMS, TRAINED)


@pytest.mark.parametrize("name", RECORDED)
def test_the_optimizer_keeps_two_moments_its_iterations_and_its_learning_rate(name, profiles):
    root = profiles[name].layers(select="slots")["_TFProfRoot"]

    assert root["total_slots"] == 2 * TRAINED + 2


def test_a_recorded_step_has_the_products_of_the_traced_one(profiles):
    recorded, traced = (
        {phase: ledger[f"{phase}_macs"] for phase in ("forward", "backward", "optimizer")}
        for ledger in (profiles[name].flops().to_dict() for name in ("whole", "function"))
    )

    assert recorded == traced
    assert recorded["backward"] > recorded["forward"] > recorded["optimizer"] == 0


@pytest.mark.parametrize("name", RECORDED)
def test_ops_of_each_phase_ran_in_their_scopes(name, profiles):
    columns = profiles[name].columns
    ran = np.flatnonzero(per_op(columns, EVERYTHING)["runs"])
    found = {}
    for row in ran:
        scope = columns.ops.name[row].partition("/")[0]
        found.setdefault(scope, set()).add(Phase(columns.phase[row]))

    scopes = ("net_1", "gradient_tape", "adam", "tf_data")
    assert [found[scope] for scope in scopes] == [
        {Phase.FORWARD},
        {Phase.BACKWARD},
        {Phase.OPTIMIZER},
        {Phase.INPUT},
    ]


def test_layers_that_were_created_while_recording_are_at_the_lines_that_created_them(profiles):
    rows = profiles["whole"].code(select=["macs"])

    name = f"{PROGRAM.name}:{line_of('conv')}:model"
    assert rows[name]["macs"] == 4 * LAYERS["net/conv"][1]
    assert rows[f"{name} (gradient)"]["macs"] > 0


@pytest.mark.parametrize("name", ["callback", *TRACED])
def test_other_layers_are_shown_below_the_line_that_calls_the_model(name, profiles):
    rows = profiles[name].code(select=["macs"])

    assert rows["conv:0:Conv2D"]["macs"] == BATCHES[name] * LAYERS["net/conv"][1]


def test_several_batch_sizes_are_noted_and_announced(finished, profiles):
    text = "ran with several batch sizes (4 (2x), 2 (1x)); float ops are counted for 4 examples."

    assert any(text in note for note in profiles["whole"].flops().notes)
    assert text in finished[1].stderr
    assert not any("batch sizes" in note for note in profiles["callback"].notes)


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_has_a_note_on_coverage(name, profiles):
    assert any(note.startswith("coverage: ") for note in profiles[name].notes)
