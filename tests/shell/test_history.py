"""The history of the shell: kept in the user's folder, and never a cause of failure."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tfprof.shell import history
from tfprof.shell.history import History

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has another folder and no modes")


@on_posix
def test_the_history_is_in_the_xdg_state_folder(tmp_path):
    assert history.place({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "tfprof" / "history"


@on_posix
@pytest.mark.parametrize("given", [{}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative"}])
def test_the_history_is_in_the_home_folder_by_default(given, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert history.place(given) == tmp_path / ".local" / "state" / "tfprof" / "history"


def test_without_a_home_folder_there_is_no_history_file(monkeypatch):
    def fail():
        raise RuntimeError

    monkeypatch.setattr(Path, "home", fail)

    assert history.place({}) is None


def test_lines_are_available_in_the_next_session(tmp_path):
    path = tmp_path / "new" / "folder" / "history"
    first = History(path)
    first.add("op")
    first.add("scope -select params")

    assert History(path).lines == ["op", "scope -select params"]


def test_concurrent_sessions_keep_the_lines_of_both(tmp_path):
    one, other = History(tmp_path / "history"), History(tmp_path / "history")
    one.add("op")
    other.add("scope")
    one.add("graph")

    assert History(tmp_path / "history").lines == ["op", "scope", "graph"]


def test_blank_lines_and_repetitions_are_not_kept(tmp_path):
    lines = History(tmp_path / "history")
    for line in ("op", "op", "", "  ", "scope", "op"):
        lines.add(line)

    assert lines.lines == ["op", "scope", "op"]
    assert History(tmp_path / "history").lines == lines.lines


@on_posix
def test_only_the_user_can_read_the_history(tmp_path):
    path = tmp_path / "history"

    History(path).add("op")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_long_history_is_cut_to_its_last_lines(tmp_path):
    path = tmp_path / "history"
    path.write_text("".join(f"line {number}\n" for number in range(2 * history.MAX_LINES + 1)))

    lines = History(path).lines

    assert len(lines) == history.MAX_LINES
    assert lines[-1] == f"line {2 * history.MAX_LINES}"
    assert path.read_text().split("\n")[:-1] == lines
    assert list(tmp_path.iterdir()) == [path]


def test_invalid_utf_8_in_the_history_is_replaced(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b"op\n\xff\n")

    assert History(path).lines == ["op", "\ufffd"]


@pytest.mark.parametrize("blocked", ["tfprof", "tfprof/history"])
def test_an_unwritable_history_still_lasts_for_the_session(blocked, tmp_path):
    """There is a file in place of the folder, or a folder in place of the file."""
    if blocked == "tfprof":
        (tmp_path / blocked).touch()
    else:
        (tmp_path / blocked).mkdir(parents=True)
    lines = History(tmp_path / "tfprof" / "history")
    lines.add("op")

    assert lines.lines == ["op"]
    assert History(tmp_path / "tfprof" / "history").lines == []


def test_without_a_file_lines_are_kept_for_the_session():
    lines = History(None)
    lines.add("op")

    assert lines.lines == ["op"]
