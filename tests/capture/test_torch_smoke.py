"""A recording of a small PyTorch program and its count without values: quick enough for the gate.

The tests marked `live` compare many more programs with what PyTorch itself knows about them.
"""

import importlib.util
from pathlib import Path

import pytest

import live_programs
import tfprof
from tfprof.model.ops import Phase

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)

PROGRAM = Path(__file__).with_name("torch_smoke_program.py")

BLOCK = 2 * 5 * (4 * 8 + 8 * 4)  # products for five words, in two calls of two layers
HEAD = 5 * 4 * 6
LAYERS = {
    "Tagger": (130, BLOCK + HEAD),
    "Tagger/embed": (24, 0),
    "Tagger/block": (76, BLOCK),
    "Tagger/block/inner": (40, BLOCK // 2),
    "Tagger/block/outer": (36, BLOCK // 2),
    "Tagger/head": (0, HEAD),  # shares its weight with `embed`
    "Tagger/scales": (30, 0),
}
FROZEN = 4  # a bias


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of the recordings, and the process that made them."""
    folder = tmp_path_factory.mktemp("torch")
    done = live_programs.finished(
        *("-m", "tfprof", "run", "--skip_steps", "2", "--steps", "2", "-o", folder / "run"),
        *(PROGRAM, folder),
    )
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.fixture(scope="module")
def profiles(finished):
    folder, _ = finished
    return {name: tfprof.load(folder / name) for name in ("counted", "run", "callback")}


def test_the_program_prints_the_same_and_the_recording_is_announced(finished):
    folder, done = finished

    assert done.stdout == "trained\n"
    assert f"tfprof: wrote {folder / 'run'}; to view it: tfprof layers" in done.stderr


def test_a_recording_consists_of_a_trace_and_the_modules(finished):
    folder, _ = finished

    assert sorted(path.name for path in (folder / "run").iterdir()) == [
        *("modules.json", "trace.json.gz")
    ]
    assert [path.name for path in (folder / "callback").iterdir()] == ["rank1"]


@pytest.mark.parametrize("name", ["counted", "run", "callback"])
def test_each_module_has_its_parameters_and_forward_products(name, profiles):
    rows = profiles[name].layers(select=["params", "forward_macs"])

    assert {
        row["name"]: (row["total_params"], row["total_forward_macs"])
        for row in rows
        if row["name"].startswith("Tagger")
    } == LAYERS


@pytest.mark.parametrize("name", ["counted", "run", "callback"])
def test_the_backward_pass_has_two_products_for_each_of_the_forward_pass(name, profiles):
    ledger = profiles[name].flops().to_dict()

    assert (ledger["forward_macs"], ledger["backward_macs"]) == (BLOCK + HEAD, 2 * (BLOCK + HEAD))
    assert ledger["not_counted"]["ops"] == 0


def test_frozen_parameters_are_not_trained_and_have_no_momentum(profiles):
    root = profiles["run"].layers(select=["trainable_params", "slots"])["_TFProfRoot"]

    assert root["total_trainable_params"] == root["total_slots"] == 130 - FROZEN


def test_the_optimizer_takes_three_operations_for_each_trained_parameter(profiles):
    assert profiles["run"].flops().to_dict()["optimizer"] == 3 * (130 - FROZEN)


@pytest.mark.parametrize(("name", "steps"), [("counted", []), ("run", [2, 3]), ("callback", [1])])
def test_the_steps_that_were_asked_for_are_recorded(name, steps, profiles):
    assert profiles[name].steps == steps


@pytest.mark.parametrize("name", ["counted", "run", "callback"])
def test_ops_and_their_gradients_are_at_the_line_that_called_them(name, profiles):
    lines = PROGRAM.read_text("utf-8").splitlines()
    (line,) = [place for place, text in enumerate(lines, 1) if text.endswith("# inner")]
    columns = profiles[name].columns

    found = {Phase.FORWARD: set(), Phase.BACKWARD: set()}
    for op, phase, code in zip(
        columns.ops.name, columns.phase.tolist(), columns.ops.code.tolist(), strict=True
    ):
        if op.startswith("Tagger/block/inner/") and op.endswith(("aten::addmm", "aten::mm")):
            found[phase].add(columns.code.stack(code)[-1].line)
    assert found == {Phase.FORWARD: {line}, Phase.BACKWARD: {line}}


def test_allocations_are_recorded(profiles):
    (memory,) = profiles["run"].memory()

    assert memory.peak_bytes > 0


def test_the_usual_time_of_a_step_is_noted(profiles):
    notes = profiles["run"].step_times().notes

    assert any("Before the recording, a step took " in note for note in notes)


def test_a_thread_that_was_not_recorded_is_noted_and_announced(finished, profiles):
    text = "1 thread that ran ops was not recorded"

    assert any(note.startswith(text) for note in profiles["callback"].layers().notes)
    assert f"UserWarning: tfprof: {text}" in finished[1].stderr
