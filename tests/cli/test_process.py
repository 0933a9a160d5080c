"""The program as a process: its streams, signals and exit status."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_runs import ENVIRONMENT, SECONDS, TFPROF, enable_signals, shell, tfprof, wait_until
from held_commands import held_while_writing
from model_files import GraphDef

pytestmark = pytest.mark.usefixtures("files")


def test_an_answer_goes_to_standard_output_only():
    ran = tfprof("op", "graph.pb", "-select", "params")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "VariableV2" in ran.stdout


def test_an_error_goes_to_standard_error_only():
    ran = tfprof("op", "gone.pb")

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "tfprof: gone.pb: no such file; check the path.\n"


@pytest.fixture
def write_model(files):
    """Writes `model.pb` with ops of the given names."""

    def write(names):
        graph = GraphDef()
        for name in names:
            graph.node.add(name=name, op="NoOp")
        (files / "model.pb").write_bytes(graph.SerializeToString())

    return write


@pytest.mark.parametrize(
    ("size", "more", "first"),
    [(5, [], "\n"), (5_000, [], "\n"), (5, ["--json"], "{\n"), (5_000, ["--json"], "{\n")],
)
def test_a_pipe_closed_by_its_reader_is_not_an_error(size, more, first, write_model):
    write_model(f"op_{number:06}" for number in range(size))

    question = ["scope", "model.pb", "-select", "op_types", *more]
    ran = shell('"$@" | head -1; exit ${PIPESTATUS[0]}', *question)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, first, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("words", [["scope"], ["scope", "--json"], ["shell"]])
def test_ctrl_c_stops_an_answer_blocked_on_a_full_pipe(words, write_model, tmp_path):
    write_model(f"op_{number:06}" for number in range(20_000))
    lines = tmp_path / "lines"
    lines.write_text("op -select op_types\n" * 3_000)
    with (
        lines.open() as questions,
        pipe() as (_, writer),  # which is not read
        subprocess.Popen(
            [*TFPROF, words[0], "model.pb", "-select", "op_types", *words[1:]],
            stdin=questions,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            preexec_fn=enable_signals,  # noqa: PLW1509 -- no other thread runs here
        ) as process,
    ):
        wait_until(lambda: is_full(writer) and is_asleep(process), "full pipe", process)
        process.send_signal(signal.SIGINT)

        _, error = process.communicate(timeout=SECONDS)

    assert (process.returncode, error) == (130, "tfprof: stopped.\n")


@contextmanager
def pipe():
    """Both ends of a pipe."""
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def is_full(writer):
    return not select.select([], [writer], [], 0)[1]


def is_asleep(process):
    """Whether a process waits in the kernel, where a signal interrupts it; if that is known."""
    state = Path("/proc", str(process.pid), "stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "S"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_command_that_is_killed_while_it_writes_keeps_the_old_file(files, tmp_path_factory):
    target = files / "answer"
    target.write_text("old")
    words = ("op", "graph.pb", "-output", f"csv:outfile={target}")
    with held_while_writing(tmp_path_factory.mktemp("held") / "hook", target, *words) as held:
        held.command.kill()
        held.command.wait()
    left = target.read_text()

    assert held.command.returncode == -signal.SIGKILL
    assert left == "old"
    assert tfprof(*words).returncode == 0
    assert "MatMul" in target.read_text()
    assert not list(files.glob(".tfprof-*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_an_error():
    with Path("/dev/full").open("w") as full:
        ran = tfprof("op", "graph.pb", "-select", "params", stdout=full)

    assert ran.returncode == 1
    assert ran.stderr == "tfprof: cannot write to standard output: No space left on device.\n"


def test_a_closed_standard_output_is_not_an_error():
    ran = shell('"$@" >&-', "op", "graph.pb", "-select", "params")

    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_name_that_the_terminal_cannot_encode_is_escaped(write_model):
    write_model(["größe/名"])

    ran = subprocess.run(
        [*TFPROF, "scope", "model.pb", "-select", "params"],
        capture_output=True,
        check=False,
        env=ENVIRONMENT | {"PYTHONIOENCODING": "latin-1"},
    )

    assert ran.returncode == 0
    assert "größe/\\u540d (0/0 params)".encode("latin-1") in ran.stdout


def test_invalid_utf_8_on_standard_input_is_reported():
    ran = subprocess.run(
        [*TFPROF, "graph.pb"],
        input=b"\xff\xfe\nop -select params\n",
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
    )

    assert ran.returncode == 1
    assert ran.stderr.startswith(b"tfprof: Unknown command `\\xff\\xfe`.")
    assert b"VariableV2" in ran.stdout


@pytest.mark.parametrize("words", [["--help"], ["scope", "--help"], ["--version"], ["scope"]])
def test_numpy_protobuf_and_re2_are_not_loaded_for(words):
    code = (
        "import sys; from tfprof.cli import main; main(sys.argv[1:]); "
        "print([m for m in ('numpy', 'google.protobuf', 're2') if m in sys.modules])"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )

    assert ran.stdout.endswith("[]\n")


def test_control_characters_in_names_reach_a_pipe_unchanged(write_model):
    write_model(["a\x1b[2Jb"])

    ran = tfprof("scope", "model.pb", "-select", "params")

    assert "\n  a\x1b[2Jb (0/0 params)\n" in ran.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
@pytest.mark.parametrize(
    "words", [("scope",), ("graph",), ("op",), ("scope", "--json"), ("flops",), ("advise",)]
)
def test_control_characters_in_names_do_not_reach_a_terminal(words, files):
    graph = GraphDef()
    graph.node.add(name="a\x1b[2Jb", op="Evil\x1b]0;title\x07")
    (files / "model.pb").write_bytes(graph.SerializeToString())

    shown = on_a_terminal(words[0], "model.pb", *words[1:], "--no-pager")

    assert shown.count(b"\x1b") == 0


def on_a_terminal(*words):
    """The output of a command on a terminal."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*TFPROF, *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT | {"NO_COLOR": "1"},
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 1 << 16):
                shown += piece
        except OSError:  # the end of a terminal's output
            pass
        assert process.wait() == 0
    os.close(ours)
    assert shown
    return shown
