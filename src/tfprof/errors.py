"""The errors that tfprof raises deliberately.

TfprofError
├── InputError            a file is missing, truncated, or not what it claims to be
│   ├── UnknownFormatError    its format is unknown, or not the requested one
│   └── TruncatedError        it ends early, or is damaged from some byte on
├── MissingInputError     a required file was not given
├── OptionError           unknown option, or unsupported value
├── RuleError             a float-op rule registered by the program fails
├── OutputError           the answer could not be written
└── CaptureError          the running program could not be recorded
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

# If no known word is close to the unknown one, a message lists all known words up to this number,
# or else the first few.
_ALL_LISTED = 24
_SOME_LISTED = 8

# The most characters of a message, and of the path that it starts with. Names in files, which a
# message quotes, may be as long as the file.
LONGEST_MESSAGE = 500
_LONGEST_PATH = 200


class TfprofError(Exception):
    """Base class of tfprof's errors; the message says what is wrong, where, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


class InputError(TfprofError):
    """A file is missing, truncated, or not what it claims to be."""

    def __init__(self, path: str | Path, trouble: str) -> None:
        where = shortened(str(path), _LONGEST_PATH)
        super().__init__(f"{where}: {shortened(trouble, LONGEST_MESSAGE - len(where) - 2)}")
        self.path = str(path)
        self.trouble = trouble

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        # By default, an exception is unpickled with its message as the only argument.
        return type(self), (self.path, self.trouble)


class UnknownFormatError(InputError):
    """The format of the file is unknown, or not the requested one."""


class TruncatedError(InputError):
    """The file ends early, or is damaged from some byte on."""


class MissingInputError(TfprofError):
    """A required file was not given."""


class OptionError(TfprofError):
    """Unknown option, or unsupported value."""


class RuleError(TfprofError):
    """A float-op rule registered by the program fails."""


class OutputError(TfprofError):
    """The answer could not be written."""


class CaptureError(TfprofError):
    """The running program could not be recorded."""


def one_line(message: object) -> str:
    """A message as the command line prints it: on one line, short, without control characters."""
    return shortened(printable(shortened(str(message))))  # escapes make a text longer


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """At most that many characters of a text; the middle is left out."""
    kept = (most - 1) // 2
    return text if len(text) <= most else f"{text[:kept]}…{text[-kept:]}"


def printable(text: object) -> str:
    """A text on one line, with control characters and others that cannot be seen escaped."""
    return escaped(" ".join(str(text).splitlines()))


def escaped(text: str, *, keep: str = "") -> str:
    """`text` with escape sequences for non-printable characters other than those in `keep`."""
    if text.isprintable():
        return text
    unsafe = [char for char in set(text) if not (char.isprintable() or char in keep)]
    return text.translate({ord(char): char.encode("unicode_escape").decode() for char in unsafe})


def nearest(
    word: str, known: Collection[str], *, alike: Iterable[str] | None = None, most: int = 1
) -> str:
    """A sentence that suggests up to `most` known words close to `word`, or lists known words.

    Pass a preselection as `alike` if there are too many `known` words to compare them all.
    """
    import difflib  # noqa: PLC0415 -- only needed after a mistake

    words = sorted(known if alike is None else alike)
    inner = [name for name in words if name.endswith(f"/{word}")]  # `word` may lack the scope
    close = [*sorted(inner, key=len), *difflib.get_close_matches(word, words, most, cutoff=0.5)]
    if close:
        return f"Did you mean {_alternatives(list(dict.fromkeys(close))[:most])}?"
    return _listing(words if alike is None else known)


def _listing(words: Collection[str]) -> str:
    """A sentence that names all words, or the first few of many."""
    if not words:
        return "None are available."
    if len(words) <= _ALL_LISTED:
        return f"Available: {', '.join(words)}."
    some, more = ", ".join(islice(words, _SOME_LISTED)), len(words) - _SOME_LISTED
    return f"Available: {some} and {more:,} more."


def _alternatives(words: Sequence[str]) -> str:
    """`a`, `b` or `c`."""
    *others, last = [f"`{word}`" for word in words]
    return f"{', '.join(others)} or {last}" if others else last
