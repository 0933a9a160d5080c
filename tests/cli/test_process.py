"""The program as a process: its streams and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model_files import GraphDef

TFPROF = [sys.executable, "-m", "tfprof"]
# Buffered, as in a pipe of a user: then trouble shows only when the buffer is written out.
BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}

pytestmark = pytest.mark.usefixtures("files")


def tfprof(*words, **others):
    return subprocess.run(
        [*TFPROF, *words], capture_output=True, text=True, check=False, env=BUFFERED, **others
    )


def test_an_answer_goes_to_the_standard_output_alone():
    ran = tfprof("op", "graph.pb", "-select", "params")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "VariableV2" in ran.stdout


def test_an_error_goes_to_the_standard_error_alone():
    ran = tfprof("op", "gone.pb")

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "tfprof: gone.pb: no such file; check the path.\n"


@pytest.mark.parametrize("size", [5, 5_000])
def test_a_reader_that_has_enough_is_not_complained_about(size, files):
    graph = GraphDef()
    for number in range(size):
        graph.node.add(name=f"op_{number:06}", op="NoOp")
    (files / "model.pb").write_bytes(graph.SerializeToString())

    question = [*TFPROF, "scope", "model.pb", "-select", "params"]
    ran = subprocess.run(
        ["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "-", *question],
        capture_output=True,
        text=True,
        check=False,
        env=BUFFERED,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_is_full_is_an_error():
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*TFPROF, "op", "graph.pb", "-select", "params"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=BUFFERED,
        )

    assert ran.returncode == 1
    assert ran.stderr == (
        "tfprof: the standard output cannot be written: No space left on device.\n"
    )


def test_a_closed_output_is_nobody_to_tell():
    ran = subprocess.run(
        ["bash", "-c", '"$@" >&-', "-", *TFPROF, "op", "graph.pb", "-select", "params"],
        capture_output=True,
        text=True,
        check=False,
        env=BUFFERED,
    )

    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_name_that_the_terminal_cannot_show_is_written_in_codes(files):
    graph = GraphDef()
    graph.node.add(name="größe/名", op="NoOp")
    (files / "model.pb").write_bytes(graph.SerializeToString())

    ran = subprocess.run(
        [*TFPROF, "scope", "model.pb", "-select", "params"],
        capture_output=True,
        check=False,
        env=BUFFERED | {"PYTHONIOENCODING": "latin-1"},
    )

    assert ran.returncode == 0
    assert "größe/\\u540d (0/0 params)".encode("latin-1") in ran.stdout


def test_lines_that_are_no_text_are_no_crash():
    ran = subprocess.run(
        [*TFPROF, "graph.pb"],
        input=b"\xff\xfe\nop -select params\n",
        capture_output=True,
        check=False,
        env=BUFFERED,
    )

    assert ran.returncode == 1
    assert ran.stderr.startswith(b"tfprof: No command `\\xff\\xfe`.")
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
