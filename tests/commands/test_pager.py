"""Paging of long answers: which pager is used, and when."""

from __future__ import annotations

import itertools
import os
import shutil

import pytest

from tfprof.commands import pager


@pytest.fixture
def installed(monkeypatch):
    """Sets which programs are installed."""

    def install(*names):
        monkeypatch.setattr(shutil, "which", lambda name: name if name in names else None)

    return install


@pytest.mark.parametrize(
    ("environment", "programs", "started"),
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
        ({"TFPROF_PAGER": "most", "PAGER": "less"}, ["most", "less"], ["most"]),
        ({"TFPROF_PAGER": "", "PAGER": "less"}, ["less"], []),
    ],
)
def test_the_pager_is_the_users_choice_or_an_installed_one(
    environment, programs, started, installed
):
    installed(*programs)

    assert pager.command(environment) == started


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
def test_a_wide_line_takes_several_rows(text, rows):
    assert pager.rows_of(text, 10) == rows


@pytest.fixture
def terminal(monkeypatch, installed):
    """Opens a terminal, of ten rows by default, for a user with the given pager."""

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


@pytest.mark.skipif(os.name == "nt", reason="the pagers in these tests are shell scripts")
class TestPages:
    def script(self, tmp_path, text):
        path = tmp_path / "pager"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def test_an_answer_that_fits_is_printed(self, terminal, tmp_path):
        stdout = terminal(self.script(tmp_path, f"cat > {tmp_path}/read"))

        pager.show(["row\n"] * 9)

        assert stdout.written == "row\n" * 9
        assert not (tmp_path / "read").exists()

    def test_a_terminal_without_a_size_counts_as_80_by_24(self, terminal, tmp_path):
        stdout = terminal(self.script(tmp_path, f"cat > {tmp_path}/read"), size=(0, 0))

        pager.show(["row\n"] * 23)
        pager.show(["long\n"] * 24)

        assert stdout.written == "row\n" * 23
        assert (tmp_path / "read").read_text() == "long\n" * 24

    def test_an_answer_that_does_not_fit_is_paged(self, terminal, tmp_path):
        stdout = terminal(self.script(tmp_path, f"cat > {tmp_path}/read"))

        pager.show(["größe\n"] * 10)

        assert stdout.written == ""
        assert (tmp_path / "read").read_text("utf-8") == "größe\n" * 10

    def test_quitting_the_pager_stops_an_endless_answer(self, terminal, tmp_path):
        terminal(self.script(tmp_path, f"head -1 > {tmp_path}/read"))

        pager.show(itertools.repeat("row\n"))

        assert (tmp_path / "read").read_text() == "row\n"

    def test_an_error_in_the_answer_is_raised_after_the_pager_ends(self, terminal, tmp_path):
        terminal(self.script(tmp_path, f"cat > {tmp_path}/read"))

        def pieces():
            yield "row\n" * 20
            raise ValueError("no more")

        with pytest.raises(ValueError, match="no more"):
            pager.show(pieces())

        assert (tmp_path / "read").read_text() == "row\n" * 20

    def test_less_leaves_the_text_on_the_terminal(self, terminal, tmp_path, monkeypatch):
        monkeypatch.delenv("LESS", raising=False)
        terminal(self.script(tmp_path, f'printf %s "$LESS" > {tmp_path}/read'))

        pager.show(["row\n"] * 10)

        assert (tmp_path / "read").read_text() == "FRX"

    def test_options_in_the_users_less_variable_are_kept(self, terminal, tmp_path, monkeypatch):
        monkeypatch.setenv("LESS", "S")
        terminal(self.script(tmp_path, f'printf %s "$LESS" > {tmp_path}/read'))

        pager.show(["row\n"] * 10)

        assert (tmp_path / "read").read_text() == "S"

    def test_an_answer_is_printed_if_the_pager_does_not_start(self, terminal):
        stdout = terminal("/nowhere/pager")

        pager.show(["row\n"] * 10)

        assert stdout.written == "row\n" * 10
