"""Everything tfprof raises on purpose.

TfprofError
├── InputError            a file is missing, cut short, or not what it claims to be
│   └── UnknownFormatError    no source recognises it
├── MissingInputError     a question was asked whose file was not given
├── OptionError           no such option, or no such value for it
├── RuleError             a rule of float operations that a program gave does not work
├── OutputError           the answer could not be written
└── CaptureError          the running program could not be recorded
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class TfprofError(Exception):
    """A mistake the user can mend; the message says what, where, and what next."""


class InputError(TfprofError):
    """A file is missing, cut short, or not what it claims to be."""

    def __init__(self, path: str | Path, trouble: str) -> None:
        super().__init__(f"{path}: {trouble}")
        self.path = str(path)
        self.trouble = trouble


class UnknownFormatError(InputError):
    """No source recognises the file, or another one than was asked for does."""


class MissingInputError(TfprofError):
    """A question was asked whose file was not given."""


class OptionError(TfprofError):
    """No such option, or no such value for it."""


class RuleError(TfprofError):
    """A rule of float operations that a program gave does not work."""


class OutputError(TfprofError):
    """The answer could not be written."""


class CaptureError(TfprofError):
    """The running program could not be recorded."""


def one_line(message: object) -> str:
    """A message as the fronts print it: on one line, whatever a file's name put into it."""
    line = " ".join(str(message).splitlines())
    return "".join(char if char.isprintable() else _escaped(char) for char in line)


def _escaped(char: str) -> str:
    """A character that would move the cursor or break the output, as its code."""
    return char.encode("unicode_escape").decode()


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence that offers the known word closest to `word`, or lists what there is."""
    import difflib  # noqa: PLC0415 -- for those alone who are mistaken

    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{close[0]}`?"
    return f"There is: {', '.join(names)}."
