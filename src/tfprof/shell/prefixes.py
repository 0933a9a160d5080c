"""Names with a given prefix, found by binary search, so that a million names are no problem."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from tfprof.columns import Strings

# Larger than any byte of UTF-8, so prefix + _LAST sorts after all names with that prefix.
_LAST = b"\xff"
_SLASH = b"/"


class Child(NamedTuple):
    """A name, or the part of some names up to the next slash after a prefix."""

    text: str
    names: int  # how many names start with it; 1 for a whole name

    @property
    def is_scope(self) -> bool:
        return self.text.endswith("/")


class SortedNames:
    """A column of names in byte order, searched by prefix."""

    def __init__(self, names: Strings) -> None:
        self._names = names
        self._rows = range(len(names))

    @classmethod
    def of(cls, names: Strings) -> SortedNames:
        """Sort the names of an unsorted column."""
        return cls(names.take(names.order()))

    def __len__(self) -> int:
        return len(self._names)

    def count(self, prefix: str) -> int:
        """The number of names that start with `prefix`."""
        return len(self._span(_encoded(prefix)))

    def children(self, prefix: str, most: int, *, whole: bool = False) -> list[Child]:
        """The names and the scopes (with their slash) directly below `prefix`, in order.

        At most `most`: the first ones and the last, so that the caller can still find their common
        prefix. With `whole`, a slash is an ordinary character and all children are names.
        """
        start = _encoded(prefix)
        rows = self._span(start)
        found: list[Child] = []
        row = rows.start
        while row < rows.stop:
            if len(found) == most - 1:
                row = rows.stop - 1  # skip to the last name, and so to the last child
            child, below = self._child(row, start, whole=whole)
            found.append(child)
            row = below.stop
        return found

    def _child(self, row: int, start: bytes, *, whole: bool) -> tuple[Child, range]:
        """The child of `start` that a name belongs to, and the rows of all names in it."""
        name = self._name(row)
        slash = -1 if whole else name.find(_SLASH, len(start))
        if slash < 0:
            return Child(name.decode(), 1), range(row, row + 1)
        below = self._span(name[: slash + 1])
        return Child(name[: slash + 1].decode(), len(below)), below

    def _span(self, prefix: bytes) -> range:
        """The rows of the names that start with `prefix`."""
        first = bisect_left(self._rows, prefix, key=self._name)
        return range(first, bisect_left(self._rows, prefix + _LAST, first, key=self._name))

    def _name(self, row: int) -> bytes:
        names = self._names
        return names.data[names.starts[row] : names.ends[row]]


def _encoded(typed: str) -> bytes:
    # A user can also type bytes that are not UTF-8; no name starts with them.
    return typed.encode(errors="surrogatepass")
