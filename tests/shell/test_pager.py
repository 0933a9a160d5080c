"""Long answers: which pager, and when."""

from __future__ import annotations

import itertools
import os
import shutil

import pytest

from tfprof.shell import pager


@pytest.fixture
def installed(monkeypatch):
    """Says which programs there are."""

    def install(*names):
        monkeypatch.setattr(shutil, "which", lambda name: name if name in names else None)

    return install


@pytest.mark.parametrize(
    ("chosen", "there", "started"),
    [
        ({}, ["less", "more"], ["less"]),
        ({}, ["more"], ["more"]),
        ({}, [], []),
        ({"PAGER": "most"}, ["most", "less"], ["most"]),
        ({"PAGER": "most -s"}, ["most", "less"], ["most", "-s"]),
        ({"PAGER": "most"}, ["less"], ["less"]),
        ({"PAGER": ""}, ["less"], []),
        ({"PAGER": "cat"}, ["cat", "less"], []),
        ({"PAGER": "'most"}, ["less"], []),
    ],
)
def test_the_pager_is_the_users_or_one_that_is_there(chosen, there, started, installed):
    installed(*there)

    assert pager.command(chosen) == started


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", 0),
        ("\n", 1),
        ("a\n", 1),
        ("a" * 10 + "\n", 1),
        ("a" * 11 + "\n", 2),
        ("a\n\nb\n", 3),
    ],
)
def test_a_line_that_is_too_wide_takes_more_rows(text, rows):
    assert pager.rows_of(text, 10) == rows


@pytest.fixture
def terminal(monkeypatch, installed):
    """A terminal of ten rows, whose user has this pager."""

    class Stdout:
        encoding = "utf-8"
        written = ""

        def fileno(self):
            return 1

        def writelines(self, pieces):
            self.written += "".join(pieces)

        def flush(self):
            pass

    def open_with(chosen, size=(80, 10)):
        stdout = Stdout()
        installed(*chosen.split()[:1])
        monkeypatch.setenv("PAGER", chosen)
        monkeypatch.setattr("sys.stdout", stdout)
        monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size(size))
        return stdout

    return open_with


@pytest.mark.skipif(os.name == "nt", reason="the pagers of these tests are small shell scripts")
class TestPages:
    def script(self, tmp_path, text):
        path = tmp_path / "pager"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def test_what_fits_is_printed(self, terminal, tmp_path):
        stdout = terminal(self.script(tmp_path, f"cat > {tmp_path}/read"))

        pager.show(["row\n"] * 9)

        assert stdout.written == "row\n" * 9
        assert not (tmp_path / "read").exists()

    def test_a_terminal_that_does_not_tell_its_size_has_the_usual_one(self, terminal, tmp_path):
        stdout = terminal(self.script(tmp_path, f"cat > {tmp_path}/read"), size=(0, 0))

        pager.show(["row\n"] * 23)
        pager.show(["long\n"] * 24)

        assert stdout.written == "row\n" * 23
        assert (tmp_path / "read").read_text() == "long\n" * 24

    def test_what_does_not_fit_is_paged(self, terminal, tmp_path):
        stdout = terminal(self.script(tmp_path, f"cat > {tmp_path}/read"))

        pager.show(["größe\n"] * 10)

        assert stdout.written == ""
        assert (tmp_path / "read").read_text("utf-8") == "größe\n" * 10

    def test_a_reader_who_has_enough_ends_even_an_endless_answer(self, terminal, tmp_path):
        terminal(self.script(tmp_path, f"head -1 > {tmp_path}/read"))

        pager.show(itertools.repeat("row\n"))

        assert (tmp_path / "read").read_text() == "row\n"

    def test_trouble_with_the_answer_is_passed_on_when_the_reader_is_done(self, terminal, tmp_path):
        terminal(self.script(tmp_path, f"cat > {tmp_path}/read"))

        def pieces():
            yield "row\n" * 20
            raise ValueError("no more")

        with pytest.raises(ValueError, match="no more"):
            pager.show(pieces())

        assert (tmp_path / "read").read_text() == "row\n" * 20

    def test_less_is_told_to_leave_the_text_on_the_terminal(self, terminal, tmp_path, monkeypatch):
        monkeypatch.delenv("LESS", raising=False)
        terminal(self.script(tmp_path, f'printf %s "$LESS" > {tmp_path}/read'))

        pager.show(["row\n"] * 10)

        assert (tmp_path / "read").read_text() == "FRX"

    def test_less_keeps_what_its_user_told_it(self, terminal, tmp_path, monkeypatch):
        monkeypatch.setenv("LESS", "S")
        terminal(self.script(tmp_path, f'printf %s "$LESS" > {tmp_path}/read'))

        pager.show(["row\n"] * 10)

        assert (tmp_path / "read").read_text() == "S"

    def test_a_pager_that_does_not_start_is_done_without(self, terminal):
        stdout = terminal("/nowhere/pager")

        pager.show(["row\n"] * 10)

        assert stdout.written == "row\n" * 10
