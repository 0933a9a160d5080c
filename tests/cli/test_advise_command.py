"""`tfprof advise` on the command line."""

import io
import json

import pytest

import tfprof
from tfprof.advisor.registry import CHECKERS, CLASSIC
from tfprof.cli import main

FILES = ("graph.pb", "run_meta_0", "tfprof_log")


@pytest.fixture
def given(files):
    return [str(files / name) for name in FILES]


def test_all_checkers_are_asked_and_the_original_ones_are_named_first(given, capsys):
    assert main(["advise", *given]) == 0

    shown = capsys.readouterr().out
    assert [line[:-1] for line in shown.splitlines() if line[:-1] in CHECKERS] == list(CLASSIC)
    assert shown == tfprof.load(*given).advise().text()


def test_checkers_are_chosen_by_name(given, capsys):
    assert main(["advise", *given, "--checkers", "OperationChecker"]) == 0
    assert capsys.readouterr().out == "\nOperationChecker:\n"


def test_an_unknown_checker_is_a_wrong_option(given, capsys):
    assert main(["advise", *given, "--checkers", "OperatorChecker"]) == 2
    assert capsys.readouterr().err == (
        "tfprof: No checker `OperatorChecker`. Did you mean `OperationChecker`?\n"
    )


def test_what_checkers_lack_is_told_beside_the_answer(files, capsys):
    assert main(["advise", str(files / "graph.pb")]) == 0

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--run_meta_path" in error


def test_json_has_every_checker_and_all_of_each_finding(given, capsys):
    assert main(["advise", *given, "--json"]) == 0

    answer = json.loads(capsys.readouterr().out)
    assert list(answer["checkers"]) == list(CHECKERS)
    finding = answer["checkers"]["ExpensiveOperationChecker"][0]
    assert finding.keys() == {"sentence", "evidence", "ops", "gain", "command"}
    assert answer == tfprof.load(*given).advise().to_dict()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("setting", "is_bold"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_names_are_bold_on_a_terminal_that_wants_it(setting, is_bold, given, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)

    main(["advise", *given, "--checkers", "OperationChecker"])

    assert ("\x1b[1m" in terminal.getvalue()) == is_bold


def test_a_view_has_no_checkers_and_advice_no_depth(given, capsys):
    assert main(["scope", *given, "--checkers", "OperationChecker"]) == 2
    assert "It is an option of advise." in capsys.readouterr().err
    assert main(["advise", *given, "-max_depth", "3"]) == 2


def test_help_says_what_each_checker_looks_for(capsys):
    assert main(["advise", "--help"]) == 0

    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in CHECKERS)
    assert "--checkers NAME,…" in shown
