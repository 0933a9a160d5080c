"""Recordings of real TensorFlow programs, each in its own process."""

import importlib.util
import re
import signal
from pathlib import Path

import numpy as np
import pytest

import tfprof
from live_programs import finished as python
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.ops import Phase

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "capture"

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow") is None, reason="recording needs TensorFlow"
    ),
]


@pytest.fixture(scope="module")
def fit(tmp_path_factory):
    """The output of the example with a callback, and its recording."""
    folder = tmp_path_factory.mktemp("fit")
    done = python(EXAMPLES / "keras_fit.py", "runs/fit", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "runs" / "fit"


def ops_that_ran(profile):
    """Name, kind and phase of each op that ran."""
    columns = profile.columns
    for row in np.flatnonzero(per_op(columns, EVERYTHING)["runs"]):
        yield columns.ops.name[row], columns.ops.kind[row], Phase(columns.phase[row])


def test_only_what_keras_counts_itself_is_outside_of_the_scopes_of_a_recorded_fit(fit):
    outside = {kind for name, kind, _ in ops_that_ran(tfprof.load(fit[1])) if "/" not in name}

    # Updates of metrics and of the number of steps, and the end of the data.
    updates = {"AddV2", "AssignVariableOp", "AssignAddVariableOp", "DivNoNan", "Mul"}
    assert outside <= updates | {"OptionalFromValue"}


def test_a_recorded_fit_has_a_note_on_coverage(fit):
    printed, folder = fit
    profile = tfprof.load(folder)
    note = next(note for note in profile.notes if note.startswith("coverage:"))

    assert re.search(r"[\d.]+ % is under a scope of the model", note)
    assert note in printed
    assert note in tfprof.info(folder).to_dict()["notes"]


def test_forward_pass_backward_pass_and_optimizer_of_a_recorded_fit_have_separate_scopes(fit):
    found = {}
    for name, _, phase in ops_that_ran(tfprof.load(fit[1])):
        found.setdefault(phase, set()).add(name.partition("/")[0])

    assert {*found[Phase.BACKWARD]} == {"gradient_tape"}
    assert "cnn_1" in found[Phase.FORWARD]
    assert "adam" in found[Phase.OPTIMIZER]
    assert found[Phase.FORWARD].isdisjoint(found[Phase.OPTIMIZER] | found[Phase.BACKWARD])


def test_a_recorded_fit_has_the_requested_steps(fit):
    assert tfprof.load(fit[1]).steps == [10, 11, 12]


def test_a_recorded_fit_has_parameters_float_ops_and_code_lines(fit):
    profile = tfprof.load(fit[1])
    variables = profile.scope(select=["params"], account_type_regexes=["VarHandleOp"], max_depth=9)
    convolution = profile.scope(select=["float_ops"], max_depth=9)["cnn_1/conv2d_1/convolution"]
    lines = profile.code(select=["occurrence"], max_depth=3)

    assert variables["cnn_1"]["total_params"] == 3 * 3 * 3 * 32 + 32 + 3 * 3 * 32 * 64 + 64 + 650
    assert convolution["float_ops"] == 2 * 64 * 30 * 30 * 32 * 3 * 3 * 3
    assert any("keras_fit.py" in row["name"] for row in lines)


def test_calls_inside_a_capture_are_steps(tmp_path):
    done = python(EXAMPLES / "train_step.py", "runs/step", cwd=tmp_path)
    profile = tfprof.load(tmp_path / "runs" / "step")

    assert done.returncode == 0, done.stderr
    assert profile.steps == [0, 1, 2]
    assert profile.scope(max_depth=9, select=["float_ops"], step=0)["linear/MatMul"]["float_ops"]
    assert "sgd" in done.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The finished `tfprof run` of a program that does not use tfprof, and its recording."""
    folder = tmp_path_factory.mktemp("plain")
    command = ("-m", "tfprof", "run", "-o", "runs/plain", EXAMPLES / "plain_training.py")
    return python(*command, "--steps", "4", cwd=folder), folder / "runs" / "plain"


def test_an_unchanged_program_is_recorded_and_gets_its_arguments(plain):
    done, folder = plain
    profile = tfprof.load(folder)

    assert (done.returncode, done.stdout) == (0, "4 steps\n")
    assert profile.steps == [0, 1, 2, 3]
    product = profile.scope(max_depth=9, select=["occurrence"])["layer/MatMul"]
    assert product["runs"] == 1  # in each step


def test_code_lines_of_a_program_run_by_tfprof_are_its_own(plain):
    rows = tfprof.load(plain[1]).code(select=["occurrence"], max_depth=100)

    assert {row["name"].partition(":")[0] for row in rows} == {"_TFProfRoot", "plain_training.py"}


def test_a_module_is_recorded_like_a_program(tmp_path):
    package = tmp_path / "work"
    package.mkdir()
    (package / "train.py").write_text((EXAMPLES / "plain_training.py").read_text("utf-8"), "utf-8")
    done = python(
        *("-m", "tfprof", "run", "-o", "runs/module", "-m", "work.train", "--steps", "2"),
        cwd=tmp_path,
    )
    profile = tfprof.load(tmp_path / "runs" / "module")
    rows = profile.code(select=["occurrence"], max_depth=100)

    assert (done.returncode, done.stdout) == (0, "2 steps\n"), done.stderr
    assert profile.steps == [0, 1]
    assert {row["name"].partition(":")[0] for row in rows} == {"_TFProfRoot", "train.py"}


def test_a_failing_program_is_recorded_and_keeps_its_exit_status(tmp_path):
    (tmp_path / "bad.py").write_text(
        "import tensorflow as tf\n"
        "tf.config.threading.set_intra_op_parallelism_threads(1)\n"
        "tf.function(lambda x: x @ x)(tf.ones((8, 8)))\n"
        "raise SystemExit(7 if __name__ == '__main__' else 1)\n"
    )
    done = python("-m", "tfprof", "run", "bad.py", cwd=tmp_path)

    assert done.returncode == 7, done.stderr
    assert "wrote" in done.stderr
    assert "MatMul" in list(tfprof.load(tmp_path / "bad.capture").columns.ops.kind.values)


def test_loops_of_functions_that_were_dropped_are_in_the_graph(tmp_path):
    (tmp_path / "loop.py").write_text(
        "import tensorflow as tf\n"
        "def main():\n"
        "    weights = tf.Variable(tf.ones((32, 32)))\n"
        "    def cell(place, x):\n"
        "        with tf.name_scope('cell'):\n"
        "            return place + 1, tf.matmul(x, weights)\n"
        "    @tf.function\n"
        "    def step(x):\n"
        "        return tf.while_loop(lambda place, x: place < 3, cell, (tf.constant(0), x))[1]\n"
        "    step(tf.ones((4, 32)))\n"
        "main()\n"
    )
    done = python("-m", "tfprof", "run", "loop.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    row = tfprof.load(tmp_path / "loop.capture").scope(select=["float_ops"], max_depth=9)[
        "while/body/while/cell/MatMul"
    ]
    assert row["float_ops"] == 3 * 2 * 4 * 32 * 32


def test_a_killed_recording_cannot_be_loaded(tmp_path):
    (tmp_path / "killed.py").write_text(
        "import os, signal, tfprof, tensorflow as tf\n"
        "step = tf.function(lambda x: x @ x)\n"
        "with tfprof.capture('runs/a'):\n"
        "    step(tf.ones((8, 8)))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = python("killed.py", cwd=tmp_path)

    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "runs" / "a").exists()
    with pytest.raises(tfprof.InputError, match="its recording is unfinished"):
        tfprof.load(tmp_path / "runs" / "a")
    with pytest.raises(tfprof.InputError, match="is an unfinished recording"):
        tfprof.load(tmp_path / "runs" / ".a.tfprof-partial")
