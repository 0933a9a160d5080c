"""What begins with a text, in a column of a million names, found by halving."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from tfprof.columns import Strings

# No byte of UTF-8 is as large: a text with it behind comes after all that the text begins.
_LAST = b"\xff"
_SLASH = b"/"


class Child(NamedTuple):
    """What follows a prefix, up to the next slash."""

    text: str
    names: int  # how many begin with it; a name by itself is 1

    @property
    def is_scope(self) -> bool:
        return self.text.endswith("/")


class SortedNames:
    """A column in byte order, asked for what begins with a text."""

    def __init__(self, names: Strings) -> None:
        self._names = names
        self._rows = range(len(names))

    @classmethod
    def of(cls, names: Strings) -> SortedNames:
        """The names of a column that is in no order."""
        return cls(names.take(names.order()))

    def count(self, prefix: str) -> int:
        """How many names begin with `prefix`."""
        return len(self._span(_encoded(prefix)))

    def children(self, prefix: str, most: int, *, whole: bool = False) -> list[Child]:
        """The ways on from `prefix`: names, and scopes with the slash behind them, in order.

        Of more than `most` the first are given, and the last, so that what all of them begin with
        can be told from these. `whole` takes a slash for a letter like any other.
        """
        start = _encoded(prefix)
        rows = self._span(start)
        found: list[Child] = []
        row = rows.start
        while row < rows.stop:
            if len(found) == most - 1:
                row = rows.stop - 1  # the last name leads to the last child
            child, below = self._child(row, start, whole=whole)
            found.append(child)
            row = below.stop
        return found

    def _child(self, row: int, start: bytes, *, whole: bool) -> tuple[Child, range]:
        """What a name has behind `start`, and the rows of all that have the same there."""
        name = self._name(row)
        slash = -1 if whole else name.find(_SLASH, len(start))
        if slash < 0:
            return Child(name.decode(), 1), range(row, row + 1)
        below = self._span(name[: slash + 1])
        return Child(name[: slash + 1].decode(), len(below)), below

    def _span(self, prefix: bytes) -> range:
        """The rows of the names that begin with `prefix`."""
        first = bisect_left(self._rows, prefix, key=self._name)
        return range(first, bisect_left(self._rows, prefix + _LAST, first, key=self._name))

    def _name(self, row: int) -> bytes:
        names = self._names
        return names.data[names.starts[row] : names.ends[row]]


def _encoded(typed: str) -> bytes:
    # Bytes that are no text may be typed too, and begin no name.
    return typed.encode(errors="surrogatepass")
