"""Complete outputs of commands, each in a file that is named after its command.

After an intended change run `pytest tests/golden --update-golden` and read the diff.
"""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest

import tfprof
from tfprof.cli import main
from tfprof.commands.command import Place
from tfprof.commands.table import available

GOLDEN = Path(__file__).parent
VIEWS = ("scope", "graph", "code", "op")

# `profile.pb` is saved from all files of the small model.
COMMAND_LINES = [
    "tfprof --help",
    *(f"tfprof {command} --help" for command in available(Place.COMMAND_LINE)),
    "tfprof help select",
    "tfprof help output",
    "tfprof info graph.pb",
    "tfprof info graph.pbtxt run_meta_0 run_meta_1 tfprof_log",
    "tfprof info profile.pb --json",
    "tfprof scope graph.pb",
    *(f"tfprof {view} profile.pb -select params,float_ops,bytes,micros" for view in VIEWS),
    *(f"tfprof {view} profile.pb -select device,op_types,occurrence" for view in VIEWS),
    "tfprof graph profile.pb -select input_shapes",
    "tfprof op profile.pb -select input_shapes",
    "tfprof scope profile.pb -select params,micros --json",
    "tfprof op profile.pb -select micros,input_shapes -order_by micros --json",
    "tfprof op graph.pb -select float_ops -order_by float_ops",
]
# A real model, recorded on a GPU and a CPU.
SAMPLE = Path(__file__).parent.parent / "samples" / "tensorflow" / "gpu_synth"
SAMPLE_LINES = [
    "tfprof memory graph.pb.gz run_meta_0.gz tfprof_log.gz -max_rows 5",
    "tfprof memory graph.pb.gz run_meta_0.gz -max_rows 1 --json",
]
SHELL_LINES = """
set -select params -max_depth 2
scope
op -max_depth 1
scope params

help
quit
"""


@pytest.fixture
def _profile(files):
    names = ("graph.pb", "run_meta_0", "run_meta_1", "tfprof_log")
    tfprof.load(*(files / name for name in names)).save(files / "profile.pb", "profile_proto")


def file_name(line):
    return line.replace(" ", "_").replace(",", "+") + ".txt"


def printed(status, shown):
    """The output of a command, followed by its standard error and exit status if there are any."""
    said = f"\n--- standard error\n{shown.err}" if shown.err else ""
    ended = f"\n--- exit status {status}\n" if status else ""
    return shown.out + said + ended


@pytest.mark.usefixtures("_profile")
@pytest.mark.parametrize("line", COMMAND_LINES)
def test_the_output_of_a_command_is_unchanged(line, golden, capsys):
    status = main(shlex.split(line)[1:])

    golden(file_name(line), printed(status, capsys.readouterr()))


@pytest.mark.parametrize("line", SAMPLE_LINES)
def test_the_output_of_a_command_on_a_real_model_is_unchanged(line, golden, capsys, monkeypatch):
    monkeypatch.chdir(SAMPLE)

    status = main(shlex.split(line)[1:])

    golden(file_name(line), printed(status, capsys.readouterr()))


@pytest.mark.usefixtures("files")
def test_the_output_of_the_shell_is_unchanged(golden, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(SHELL_LINES))

    status = main(["graph.pb"])

    golden(file_name("tfprof graph.pb"), printed(status, capsys.readouterr()))


def test_every_golden_file_belongs_to_a_command():
    made = {file_name(line) for line in [*COMMAND_LINES, *SAMPLE_LINES, "tfprof graph.pb"]}

    assert {path.name for path in GOLDEN.glob("*.txt")} <= made
