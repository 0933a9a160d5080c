"""Recordings of training have the numbers of the live model, without any option."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import live_programs
import tfprof
from tfprof.model.ops import Phase

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow") is None or importlib.util.find_spec("keras") is None,
        reason="recording needs TensorFlow and Keras",
    ),
]

PROGRAMS = Path(__file__).with_name("trained_programs.py")
NAMES = ("fit", "fit_arrays", "fit_replicas", "tape", "open_tape", "dropped")
PHASES = ("forward", "backward", "optimizer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with a recording of each program."""
    path = tmp_path_factory.mktemp("trained")
    live_programs.run(PROGRAMS, path)
    return path


@pytest.fixture(scope="module")
def live(folder):
    """Facts about the live models, by program."""
    return json.loads((folder / "live.json").read_text("utf-8"))


@pytest.fixture
def load(folder):
    return lambda name: tfprof.load(folder / name)


def total(profile, metric, **options):
    root = profile.scope(select=[metric], max_depth=1, **options)["_TFProfRoot"]
    return root[f"total_{metric}"]


@pytest.mark.parametrize("name", NAMES)
def test_the_parameters_of_a_recording_are_those_of_the_model(load, live, name):
    assert total(load(name), "params") == live[name]["params"]


@pytest.mark.parametrize("name", NAMES)
def test_the_trainable_parameters_of_a_recording_exclude_frozen_layers(load, live, name):
    trainable = total(load(name), "params", account_type_regexes=["_trainable_variables"])

    assert trainable == live[name]["trainable"]


@pytest.mark.parametrize(
    ("name", "per_parameter"), [("fit", 2), ("fit_replicas", 2), ("tape", 2), ("dropped", 0)]
)
def test_slots_are_the_moments_iterations_and_learning_rate(load, live, name, per_parameter):
    assert total(load(name), "slots") == per_parameter * live[name]["trainable"] + 2


def float_ops(profile):
    """The float operations by phase."""
    found = profile.flops().to_dict()
    return {phase: found[phase] for phase in PHASES}


@pytest.mark.parametrize("name", ["tape", "open_tape", "fit_recurrent"])
def test_float_ops_by_phase_equal_those_of_the_live_step(load, live, name):
    assert float_ops(load(name)) == {phase: live[name][phase] for phase in PHASES}


@pytest.mark.parametrize("name", ["fit", "fit_arrays"])
def test_float_ops_of_a_fit_are_those_of_its_full_batches(load, name):
    assert float_ops(load(name)) == float_ops(load("fit_whole"))


def test_ops_of_a_loop_without_a_known_trip_count_run_as_often_as_was_recorded(load, live):
    found = load("fit_several").flops()

    assert found.to_dict()["macs"] == 2 * live["fit_several"]["macs"]
    assert not any("trip count" in one.reason for one in found.uncounted)


def test_a_note_states_which_of_several_batch_sizes_is_counted(live):
    (note,) = live["fit"]["notes"]

    assert "ran with several batch sizes (8 (2x), 4 (1x))" in note
    assert "counted for 8 examples" in note


def test_notes_on_a_recording_are_kept_in_its_folder(load, live):
    (note,) = live["fit"]["notes"]
    profile = load("fit")

    assert note in profile.flops().notes
    assert note in profile.layers().notes
    assert note not in profile.scope(select="params").notes


@pytest.mark.parametrize("name", ["fit", "tape"])
def test_a_layer_named_like_an_optimizer_is_a_forward_layer(load, name):
    profile = load(name)
    phases = dict(zip(profile.columns.ops.name, profile.columns.phase.tolist(), strict=True))
    inside = [op for op in phases if op.startswith("net") and "/adam" in op]

    assert {phases[op] for op in inside} == {Phase.FORWARD}


def test_all_updates_of_a_recorded_fit_belong_to_the_optimizer(load):
    columns = load("fit").columns
    rows = [row for row, phase in enumerate(columns.phase.tolist()) if phase == Phase.OPTIMIZER]
    kinds = {columns.ops.kind[row] for row in rows}

    assert {"AssignSubVariableOp", "AssignAddVariableOp", "Sqrt", "AssignVariableOp"} <= kinds
    assert "MatMul" not in kinds


def code_rows(profile):
    """The rows of the code view that have float operations, without the root."""
    rows = profile.code(select=["float_ops"], max_depth=100)
    return {row["name"]: row["float_ops"] for row in rows if row["float_ops"] and row["parent"]}


def test_a_recorded_fit_shows_only_lines_of_the_program_and_layers(load):
    rows = code_rows(load("fit"))

    assert {"conv:0:Conv2D", "conv:0:Conv2D (gradient)", "adam:0:Dense"} <= rows.keys()
    assert not any("trainer.py" in name or "traceback_utils.py" in name for name in rows)


def test_lines_of_keras_that_a_recording_leaves_out_are_counted(load):
    profile = load("fit")
    (note,) = [note for note in profile.code(select="micros").notes if "lines are left out" in note]

    assert re.fullmatch(r"\d+ lines are left out, in installed packages; \d+ ops that .*", note)
    assert note not in profile.scope(select="micros").notes


def test_layers_created_while_recording_are_shown_at_the_lines_that_created_them(load):
    source = PROGRAMS.read_text("utf-8").splitlines()
    line = next(place for place, text in enumerate(source, 1) if 'name="conv"' in text)
    rows = code_rows(load("dropped"))

    assert rows[f"trained_programs.py:{line}:model"] > 0
    assert rows[f"trained_programs.py:{line}:model (gradient)"] > 0


def test_lines_that_call_layers_are_shown_for_layers_outside_of_models(load):
    assert any(name.startswith("trained_programs.py") for name in code_rows(load("tape")))


def test_the_patch_of_keras_is_undone_after_every_recording(live):
    assert all(facts["is_restored"] for facts in live.values())


def test_layers_of_a_program_run_by_tfprof_are_shown_at_their_lines(tmp_path):
    (tmp_path / "train.py").write_text(
        "import keras, numpy\n"
        "layers = [\n"
        "    keras.Input((4,)),\n"
        "    keras.layers.Dense(3),\n"
        "]\n"
        "model = keras.Sequential(layers)\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(numpy.ones((4, 4)), numpy.ones((4, 3)), verbose=0)\n"
    )
    done = live_programs.finished("-m", "tfprof", "run", "train.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    rows = code_rows(tfprof.load(tmp_path / "train.capture"))
    assert rows["train.py:4:<module>"] == 2 * 4 * 4 * 3 + 4 * 3
