"""Where answers and notes are shown: verbatim in a pipe or file, made safe on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from tfprof.errors import one_line
from tfprof.terminal import BOLD, harmless


class Screen(Protocol):
    """Shows answers, and notes that are not part of an answer."""

    @property
    def is_terminal(self) -> bool:
        """Whether answers are read by a user, not by a program."""

    @property
    def has_colour(self) -> bool:
        """Whether headings are printed in bold."""

    def show(self, pieces: Iterable[str]) -> None:
        """Show an answer, piece by piece."""

    def say(self, sentence: object) -> None:
        """Show a note or an error as one line on standard error."""


class Pipe:
    """A pipe or a file: text is written verbatim."""

    is_terminal = False
    has_colour = False

    def show(self, pieces: Iterable[str]) -> None:
        _write(pieces)

    def say(self, sentence: object) -> None:
        _report(f"tfprof: {one_line(sentence)}")


class Terminal:
    """A terminal: long answers go to a pager, and control characters are escaped."""

    is_terminal = True

    def __init__(self, *, pages: bool = True) -> None:
        self.pages = pages
        self.is_dumb = os.environ.get("TERM") in ("dumb", "unknown")
        self.has_colour = not self.is_dumb and not os.environ.get("NO_COLOR")

    @property
    def bold(self) -> tuple[str, str]:
        """The codes before and after bold text; empty if colour is off."""
        return BOLD if self.has_colour else ("", "")

    def show(self, pieces: Iterable[str]) -> None:
        # Escaped, so that names in a model cannot affect the terminal.
        text = map(harmless, pieces)
        if not self.pages:
            _write(text)
            return
        from tfprof.commands import pager  # noqa: PLC0415 -- a pipe does not need it

        pager.show(text)

    def say(self, sentence: object) -> None:
        before, after = self.bold if sys.stderr.isatty() else ("", "")
        sys.stdout.flush()  # so that notes and answers appear in order
        _report(f"{before}tfprof:{after} {one_line(sentence)}")


def of_output(*, pages: bool = True) -> Screen:
    """The screen for the current standard output; with `pages`, a terminal uses a pager."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return Terminal(pages=pages) if is_terminal else Pipe()


def _report(line: str) -> None:
    """Print a line to standard error; it is lost if that cannot be written, but not the answer."""
    if sys.stderr is not None:  # None if the program was started with it closed
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


def _write(pieces: Iterable[str]) -> None:
    if sys.stdout is not None:  # None if the program was started with it closed
        sys.stdout.writelines(pieces)
