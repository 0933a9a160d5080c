import shutil

import instructions
import pytest
from baseline import Baseline
from works import RUNS


def test_without_valgrind_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr("sys.argv", ["instructions.py", "check"])

    assert instructions.main() == 2
    assert capsys.readouterr().err.splitlines() == [
        "Counting instructions needs valgrind: apt install valgrind."
    ]


def test_another_python_or_numpy_is_no_pass(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(instructions, "surroundings", lambda: {"Python": "2.7"})
    monkeypatch.setattr("sys.argv", ["instructions.py", "check"])

    assert instructions.main() == 2
    assert "here is Python 2.7" in capsys.readouterr().err


def test_the_baseline_holds_every_question_of_the_benchmark():
    held = Baseline.read(instructions._BASELINE).counts
    sessions = [asked for asked in RUNS if isinstance(asked, instructions.Session)]

    asked = {question.work for session in sessions for question in session.questions}
    assert asked | {session.load for session in sessions} <= held.keys()


@pytest.mark.parametrize(
    ("written", "counted"),
    [("version: 1\nsummary: 1234\n\nfn=(0)\n", 1234), ("summary: 5 6\ntotals: 7\n", 5)],
)
def test_the_instructions_are_in_the_summary_of_callgrinds_file(tmp_path, written, counted):
    (tmp_path / "callgrind").write_text(written)

    assert instructions._instructions(tmp_path / "callgrind") == counted
