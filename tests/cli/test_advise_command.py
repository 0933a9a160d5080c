"""`tfprof advise` on the command line."""

import io
import json
import shlex
from pathlib import Path

import pytest

import tfprof
from tfprof.advisor.registry import CHECKERS, CLASSIC
from tfprof.cli import main

FILES = ("graph.pb", "run_meta_0", "tfprof_log")


@pytest.fixture
def given(files):
    return [str(files / name) for name in FILES]


def test_all_checkers_run_and_the_original_ones_come_first(given, capsys):
    assert main(["advise", *given]) == 0

    shown = capsys.readouterr().out
    assert [line[:-1] for line in shown.splitlines() if line[:-1] in CHECKERS] == list(CLASSIC)
    assert shown == tfprof.load(*given).advise().text()


def test_checkers_can_be_chosen_by_name(given, capsys):
    assert main(["advise", *given, "--checkers", "OperationChecker"]) == 0
    assert capsys.readouterr().out == "\nOperationChecker:\n"


def test_an_unknown_checker_is_a_usage_error(given, capsys):
    assert main(["advise", *given, "--checkers", "OperatorChecker"]) == 2
    assert capsys.readouterr().err == (
        "tfprof: Unknown checker `OperatorChecker`. Did you mean `OperationChecker`?\n"
    )


def test_missing_inputs_of_checkers_are_noted_on_standard_error(files, capsys):
    assert main(["advise", str(files / "graph.pb")]) == 0

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--run_meta_path" in error


def test_json_has_every_checker_and_every_field_of_a_finding(given, capsys):
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
def test_names_are_bold_on_a_terminal_with_colour(setting, is_bold, given, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)

    main(["advise", *given, "--checkers", "OperationChecker", "--no-pager"])

    assert ("\x1b[1m" in terminal.getvalue()) == is_bold


def test_options_of_views_and_of_advise_are_not_mixed(given, capsys):
    assert main(["scope", *given, "--checkers", "OperationChecker"]) == 2
    assert "It is an option of advise." in capsys.readouterr().err
    assert main(["advise", *given, "-max_depth", "3"]) == 2


def test_help_lists_every_checker(capsys):
    assert main(["advise", "--help"]) == 0

    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in CHECKERS)
    assert "--checkers NAME,…" in shown


CAPTURE = str(Path(__file__).parent.parent / "samples" / "capture")


def test_the_advice_on_a_recording_has_the_numbers_of_its_json(capsys):
    assert main(["advise", CAPTURE]) == 0
    shown = capsys.readouterr().out
    found = tfprof.load(CAPTURE).advise()

    assert [line[:-1] for line in shown.splitlines() if line[:-1] in CHECKERS] == [
        report.checker for report in found.reports.reports if report.findings
    ]
    for finding in found:
        for row in finding.evidence.texts():
            assert all(cell in shown for cell in row)
        assert shlex.join(finding.command[1:]) in shown
