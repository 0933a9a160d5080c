"""The kernels for names in ordinary Python, for machines without a compiler.

`name_table`, `name_search`, `name_order` and `name_scopes` have the same, compiled.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.kernels.spans import Bools, Ints, check_spans, check_text

__all__ = ["SpanTable", "find_first", "find_last", "order", "scope_rows", "split", "stands_at"]


def _texts(data: bytes, starts: Ints, ends: Ints) -> Iterator[bytes]:
    check_spans(data, starts, ends)
    return (data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))


class SpanTable:
    """Distinct names, numbered in the order in which they were first added."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, data: bytes, starts: Ints, ends: Ints) -> Ints:
        """The number of each of these names; new names get the next numbers."""
        numbers = self._numbers
        found = [numbers.setdefault(text, len(numbers)) for text in _texts(data, starts, ends)]
        return np.array(found, np.int64)

    def find(self, data: bytes, starts: Ints, ends: Ints) -> Ints:
        """The number of each of these names, -1 where it is unknown."""
        numbers = self._numbers
        return np.array([numbers.get(text, -1) for text in _texts(data, starts, ends)], np.int64)

    def spans(self) -> tuple[bytes, Ints, Ints]:
        """All names, in the order of their numbers."""
        lengths = np.fromiter(map(len, self._numbers), np.int64, len(self))
        ends = np.cumsum(lengths)
        return b"".join(self._numbers), ends - lengths, ends


def find_first(data: bytes, starts: Ints, ends: Ints, text: bytes) -> Ints:
    """The offset of the first `text` in each name, -1 where there is none."""
    return np.array([name.find(text) for name in _texts(data, starts, ends)], np.int64)


def find_last(data: bytes, starts: Ints, ends: Ints, text: bytes) -> Ints:
    """The offset of the last `text` in each name, -1 where there is none; `text` is not empty."""
    check_text(text)
    return np.array([name.rfind(text) for name in _texts(data, starts, ends)], np.int64)


def split(data: bytes, starts: Ints, ends: Ints, text: bytes) -> tuple[Ints, Ints, Ints]:
    """Split each name at `text`, which is not empty.

    Three columns: how many parts each name has, and where in the data each part begins and ends.
    """
    check_text(text)
    parts = [name.split(text) for name in _texts(data, starts, ends)]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    lengths = np.fromiter((len(part) for name in parts for part in name), np.int64)
    # Within a name each part begins where the one before and a separator end.
    steps = np.cumsum(lengths + len(text)) - lengths - len(text)
    firsts = np.cumsum(counts) - counts
    begins = steps + np.repeat(starts - steps[firsts], counts)
    return counts, begins, begins + lengths


def stands_at(data: bytes, starts: Ints, ends: Ints, places: Ints, text: bytes) -> Bools:
    """Whether `text` is at each name's place in the data, and wholly within the name."""
    check_spans(data, starts, ends)
    is_within = (starts <= places) & (places + len(text) <= ends)
    found = [data.startswith(text, place) for place in np.where(is_within, places, 0).tolist()]
    return is_within & np.array(found, np.bool_)


def order(data: bytes, starts: Ints, ends: Ints, *, slash_first: bool = False) -> Ints:
    """The rows in the byte order of their names; with `slash_first`, "/" precedes all other bytes.

    The sort is stable.
    """
    letters = bytes([*range(1, ord("/") + 1), 0, *range(ord("/") + 1, 256)])
    keys = list(_texts(data, starts, ends))
    if slash_first:
        keys = [name.translate(letters) for name in keys]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def scope_rows(data: bytes, starts: Ints, ends: Ints, rows: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The tree of scopes of `rows`, sorted with slashes first; contents follow their scope.

    Four columns: the row of a name that starts with the scope, where in the data the scope's own
    name ends, its depth (1 is the top), and the row of the op with that name (-1: no op has it).
    """
    names = list(_texts(data, starts, ends))
    found: list[tuple[int, int, int, int]] = []
    path: list[bytes] = []
    for row in rows.tolist():
        parts = names[row].split(b"/")
        shared = 0
        while shared < min(len(path), len(parts)) and path[shared] == parts[shared]:
            shared += 1
        end = int(starts[row]) + sum(len(part) + 1 for part in parts[:shared]) - 1
        for depth in range(shared, len(parts)):
            end += 1 + len(parts[depth])
            found.append((row, end, depth + 1, row if depth + 1 == len(parts) else -1))
        path = parts
    columns = np.array(found, np.int64).reshape(-1, 4).T
    return columns[0].copy(), columns[1].copy(), columns[2].copy(), columns[3].copy()
