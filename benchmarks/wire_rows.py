"""Encodes many messages of the same form at once: a message is a row, and a column is one byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from encoding import framed

from tfprof.formats.wire import encoded

Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]

# Rows that are assembled at a time, to bound memory.
_PIECE = 1 << 16


@dataclass(frozen=True)
class Rows:
    """One message per row; each byte of it is a column, which some rows may not have."""

    columns: tuple[Bytes | int, ...]  # an integer is the same byte in all rows
    present: tuple[Bools | None, ...]  # None if all rows have the byte

    @classmethod
    def number(cls, field: int, values: npt.ArrayLike) -> Rows:
        """A field with a number."""
        return cls.same(encoded(field << 3)) + _varints(np.asarray(values))

    @classmethod
    def same(cls, content: bytes) -> Rows:
        """The same bytes in all rows."""
        return cls(tuple(content), (None,) * len(content))

    def __add__(self, other: Rows) -> Rows:
        return Rows(self.columns + other.columns, self.present + other.present)

    def framed(self, field: int) -> Rows:
        """The rows as messages in a field of another message."""
        return Rows.same(encoded(field << 3 | 2)) + _varints(self._lengths()) + self

    def _lengths(self) -> npt.NDArray[np.int64]:
        total = sum(flags is None for flags in self.present)
        optional = [flags for flags in self.present if flags is not None]
        return np.sum(optional, axis=0, dtype=np.int64) + total if optional else np.array([total])

    def pieces(self) -> Iterator[bytes]:
        """The bytes of all rows, one after the other."""
        count = max(len(column) for column in self.columns if not isinstance(column, int))
        for start in range(0, count, _PIECE):
            here = slice(start, min(start + _PIECE, count))
            matrix = np.empty((here.stop - start, len(self.columns)), np.uint8)
            kept = np.ones(matrix.shape, np.bool_)
            for place, column in enumerate(self.columns):
                matrix[:, place] = column if isinstance(column, int) else column[here]
                if (flags := self.present[place]) is not None:
                    kept[:, place] = flags[here]
            yield matrix[kept].tobytes()


def _varints(values: npt.NDArray[np.integer]) -> Rows:
    """Numbers that are not negative as varints."""
    if len(np.unique(values[:1000])) == 1 and (values == values[0]).all():
        return Rows.same(encoded(int(values[0])))
    columns, present, rest = [], [], values.astype(np.uint64)
    more = np.ones(len(values), np.bool_)
    while more.any():
        present.append(None if more.all() else more)
        digit = (rest & np.uint64(0x7F)).astype(np.uint8)
        rest >>= np.uint64(7)
        more = rest > 0
        columns.append(digit | (more.view(np.uint8) << 7))
    return Rows(tuple(columns), tuple(present))


def named(field: int, names: dict[str, int]) -> bytes:
    """A map from ids to messages with an id and a name, as planes have them."""
    entries = []
    for name, key in names.items():
        value = _number(1, key) + framed(2, name.encode())
        entries.append(framed(field, _number(1, key) + framed(2, value)))
    return b"".join(entries)


def _number(field: int, value: int) -> bytes:
    return encoded(field << 3) + encoded(value)
