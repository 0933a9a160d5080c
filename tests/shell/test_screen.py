"""The screens of the shell: names in a model cannot control the terminal."""

from __future__ import annotations

import pytest

from tfprof.commands import pager
from tfprof.shell.screen import Pipe, Terminal
from tfprof.terminal import harmless


@pytest.fixture
def shown(monkeypatch):
    """Shows pieces on a terminal; returns the text that reaches it."""

    def show(*pieces):
        found = []
        monkeypatch.setattr(pager, "show", found.extend)
        Terminal().show(pieces)
        return "".join(found)

    return show


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        ("net/mul\n\tx", "net/mul\n\tx"),
        ("größe/名", "größe/名"),
        ("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
        ("a\x1b[1mbold", r"a\x1b[1mbold"),
        ("\x1b[1mbold\n\x1b[0m", "\\x1b[1mbold\n\\x1b[0m"),
        ("\x1b[1ma\x07\x1b[0m", "\x1b[1ma\\x07\x1b[0m"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\rb\x08\x9bc", r"a\rb\x08\x9bc"),
        ("\x00\x7f\x85", r"\x00\x7f\x85"),
        ("\u202egnp.exe\u2069\u200f", r"\u202egnp.exe\u2069\u200f"),
        ("a\u2028b\u200bc\ufeff", r"a\u2028b\u200bc\ufeff"),
        ("\udcff\ud800", r"\udcff\ud800"),
    ],
)
def test_control_characters_in_names_do_not_reach_a_terminal(name, harmless, shown):
    assert shown(name) == harmless


def test_a_text_without_control_characters_is_not_copied():
    text = "net/mul (10 params)\n" * 1000

    assert harmless(text) is text


def test_a_pipe_gets_names_unchanged(capsys):
    Pipe().show(["\x1b[2J", "\n"])

    assert capsys.readouterr().out == "\x1b[2J\n"


def test_a_note_is_printed_on_one_line(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    Terminal().say("two\nlines\x1b[2J")

    assert capsys.readouterr().err == "tfprof: two lines\\x1b[2J\n"
