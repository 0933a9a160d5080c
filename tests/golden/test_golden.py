"""Whole outputs, kept in files that are named by the command that made them.

After a change that is meant: `pytest tests/golden --update-golden`, then read the difference.
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

# `profile.pb` holds what all files of the small model tell.
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
# Of a real model, recorded on a GPU and on a CPU beside it.
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


def whole(status, shown):
    """What was printed, and behind it what else there is to say."""
    said = f"\n--- standard error\n{shown.err}" if shown.err else ""
    ended = f"\n--- exit status {status}\n" if status else ""
    return shown.out + said + ended


@pytest.mark.usefixtures("_profile")
@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_command_prints_what_it_did_before(line, golden, capsys):
    status = main(shlex.split(line)[1:])

    golden(file_name(line), whole(status, capsys.readouterr()))


@pytest.mark.parametrize("line", SAMPLE_LINES)
def test_a_command_prints_what_it_did_before_of_a_real_model(line, golden, capsys, monkeypatch):
    monkeypatch.chdir(SAMPLE)

    status = main(shlex.split(line)[1:])

    golden(file_name(line), whole(status, capsys.readouterr()))


@pytest.mark.usefixtures("files")
def test_a_shell_prints_what_it_did_before(golden, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(SHELL_LINES))

    status = main(["graph.pb"])

    golden(file_name("tfprof graph.pb"), whole(status, capsys.readouterr()))


def test_every_golden_file_has_its_command():
    made = {file_name(line) for line in [*COMMAND_LINES, *SAMPLE_LINES, "tfprof graph.pb"]}

    assert {path.name for path in GOLDEN.glob("*.txt")} <= made
