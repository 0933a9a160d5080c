import shutil

import instructions
import pytest
from baseline import Baseline
from tasks import RUNS

pytestmark = pytest.mark.dist


def test_without_valgrind_the_error_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr("sys.argv", ["instructions.py", "check"])

    assert instructions.main() == 2
    assert capsys.readouterr().err.splitlines() == [
        "Counting instructions requires valgrind: apt install valgrind."
    ]


def test_the_check_fails_with_another_version_of_python_or_numpy(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(instructions, "environment", lambda: {"Python": "2.7"})
    monkeypatch.setattr("sys.argv", ["instructions.py", "check"])

    assert instructions.main() == 2
    assert "this is Python 2.7" in capsys.readouterr().err


def test_the_baseline_has_every_question_of_the_benchmark():
    held = Baseline.read(instructions._BASELINE).counts
    sessions = [process for process in RUNS if isinstance(process, instructions.Session)]

    tasks = {question.task for session in sessions for question in session.questions}
    assert tasks | {session.load for session in sessions} <= held.keys()


@pytest.mark.parametrize(
    ("written", "counted"),
    [("version: 1\nsummary: 1234\n\nfn=(0)\n", 1234), ("summary: 5 6\ntotals: 7\n", 5)],
)
def test_the_count_is_read_from_the_summary_of_callgrinds_file(tmp_path, written, counted):
    (tmp_path / "callgrind").write_text(written)

    assert instructions._instructions(tmp_path / "callgrind") == counted
