"""History: in the user's own folder, and never in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tfprof.shell import history
from tfprof.shell.history import History

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows keeps such files elsewhere")


@on_posix
def test_it_is_in_the_folder_for_states(tmp_path):
    assert history.place({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "tfprof" / "history"


@on_posix
@pytest.mark.parametrize("given", [{}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative"}])
def test_it_is_in_the_home_folder_where_that_folder_is_not_named(given, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert history.place(given) == tmp_path / ".local" / "state" / "tfprof" / "history"


def test_somebody_without_a_home_has_none(monkeypatch):
    def fail():
        raise RuntimeError

    monkeypatch.setattr(Path, "home", fail)

    assert history.place({}) is None


def test_lines_are_there_in_the_next_session(tmp_path):
    path = tmp_path / "new" / "folder" / "history"
    first = History(path)
    first.add("op")
    first.add("scope -select params")

    assert History(path).lines == ["op", "scope -select params"]


def test_two_sessions_at_once_keep_the_lines_of_both(tmp_path):
    one, other = History(tmp_path / "history"), History(tmp_path / "history")
    one.add("op")
    other.add("scope")
    one.add("graph")

    assert History(tmp_path / "history").lines == ["op", "scope", "graph"]


def test_blank_lines_and_repetitions_are_not_worth_remembering(tmp_path):
    lines = History(tmp_path / "history")
    for line in ("op", "op", "", "  ", "scope", "op"):
        lines.add(line)

    assert lines.lines == ["op", "scope", "op"]
    assert History(tmp_path / "history").lines == lines.lines


@on_posix
def test_nobody_else_can_read_it(tmp_path):
    path = tmp_path / "history"

    History(path).add("op")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_long_one_is_shortened_to_its_end(tmp_path):
    path = tmp_path / "history"
    path.write_text("".join(f"line {number}\n" for number in range(2 * history.MAX_LINES + 1)))

    lines = History(path).lines

    assert len(lines) == history.MAX_LINES
    assert lines[-1] == f"line {2 * history.MAX_LINES}"
    assert path.read_text().split("\n")[:-1] == lines
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_that_are_no_text_are_no_crash(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b"op\n\xff\n")

    assert History(path).lines == ["op", "\ufffd"]


@pytest.mark.parametrize("blocked", ["tfprof", "tfprof/history"])
def test_what_cannot_be_written_is_remembered_for_the_session(blocked, tmp_path):
    """A file stands where the folder should be, or a folder where the file should be."""
    if blocked == "tfprof":
        (tmp_path / blocked).touch()
    else:
        (tmp_path / blocked).mkdir(parents=True)
    lines = History(tmp_path / "tfprof" / "history")
    lines.add("op")

    assert lines.lines == ["op"]
    assert History(tmp_path / "tfprof" / "history").lines == []


def test_without_a_place_lines_are_remembered_for_the_session():
    lines = History(None)
    lines.add("op")

    assert lines.lines == ["op"]
