"""Unusual surroundings: closed streams, no home folder, no terminal, an ASCII locale."""

from __future__ import annotations

import os
import subprocess

import pytest

from command_runs import ENVIRONMENT, TFPROF, is_one_line, shell, tfprof
from model_files import GraphDef

pytestmark = [
    pytest.mark.process,
    pytest.mark.usefixtures("files"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such shell"),
]

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_closed_standard_input_is_an_empty_one():
    ran = shell('"$@" <&-', "graph.pb")

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_an_answer_does_not_depend_on_the_streams(closed, files):
    ran = shell(f'"$@" {closed}', "op", "graph.pb", "-output", "csv:outfile=answer")

    assert ran.returncode == 0
    assert "MatMul" in (files / "answer").read_text()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_the_status_of_an_error_does_not_depend_on_the_streams(closed):
    ran = shell(f'"$@" {closed}', "op", "gone.pb")

    assert (ran.returncode, ran.stdout) == (1, "")


def test_an_error_never_goes_to_standard_output():
    ran = shell('"$@" 2>&-', "op", "gone.pb")

    assert (ran.stdout, ran.stderr) == ("", "")


@pytest.mark.parametrize("command", [["op", "graph.pb"], ["graph.pb"]], ids=["command", "shell"])
def test_no_home_folder_is_needed(command):
    unset = ("HOME", "XDG_STATE_HOME", "USER", "LOGNAME")
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in unset}

    ran = tfprof(*command, env=environment)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_no_terminal_is_needed():
    unset = ("TERM", "COLUMNS", "LINES", "PAGER")
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in unset}

    ran = tfprof("scope", "graph.pb", "-select", "params", env=environment, start_new_session=True)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == tfprof("scope", "graph.pb", "-select", "params").stdout


def test_an_empty_environment_is_enough():
    environment = {key: ENVIRONMENT[key] for key in ("PYTHONPATH",) if key in ENVIRONMENT}

    ran = tfprof("op", "graph.pb", "-select", "params", env=environment)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_names_beyond_ascii_are_escaped_in_an_ascii_locale(files):
    graph = GraphDef()
    graph.node.add(name="größe/名", op="NoOp")
    (files / "größe.pb").write_bytes(graph.SerializeToString())

    ran = tfprof("scope", "größe.pb", "-select", "occurrence", env=ENVIRONMENT | ASCII)

    assert ran.returncode == 0
    assert "gr\\xf6\\xdfe/\\u540d" in ran.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["op", "BAD", "-select", "params"],
        ["info", "BAD"],
        ["info", "--json", "BAD"],
        ["save", "BAD", "-o", "BAD.saved"],
        ["report", "BAD", "-o", "BAD.html"],
        ["op", "BAD", "-output", "csv:outfile=BAD.csv"],
        ["op", "BAD.gone"],
    ],
    ids=" ".join,
)
def test_a_file_name_may_be_any_bytes(command, files):
    bad = b"\xff\xe9\n.pb"
    (files / "graph.pb").rename(os.fsdecode(bad))

    ran = subprocess.run(
        [*TFPROF, *(word.encode().replace(b"BAD", bad) for word in command)],
        capture_output=True,
        check=False,
        env=ENVIRONMENT | ASCII,
    )

    if command[-1] == "BAD.gone":
        assert ran.returncode == 1
        assert is_one_line(ran.stderr.decode())
    else:
        assert ran.returncode == 0, ran.stderr
