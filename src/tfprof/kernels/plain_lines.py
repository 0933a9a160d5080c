"""The functions of `lines` in ordinary Python, for machines without a compiler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, repeat
from typing import Protocol, TypeAlias

import numpy as np

from tfprof.kernels.spans import Ints, check_spans

__all__ = ["amounts", "varints", "woven"]


# The numbers from which a varint takes one more byte.
_LIMITS = np.uint64(1) << np.arange(7, 64, 7, dtype=np.uint64)


class Texts(Protocol):
    """One text per row: `data[starts[i]:ends[i]]` for row `i`."""

    data: bytes
    starts: Ints
    ends: Ints


Piece: TypeAlias = bytes | Texts  # one text for all rows, or one per row
Spans: TypeAlias = tuple[bytes, Ints, Ints]


class Unit(Protocol):
    """A unit of numbers, such as bytes."""

    @property
    def suffixes(self) -> Sequence[str]:
        """One to four suffixes, each a thousand times the one before."""

    def format_column(self, amounts: Ints) -> list[str]:
        """Each of `amounts` as text."""


def amounts(column: Ints, unit: Unit, after: str) -> Spans:
    """Each number of `column` in its `unit`, followed by `after`."""
    return _spans([f"{text}{after}".encode() for text in unit.format_column(column)])


def varints(column: Ints) -> Spans:
    """Each number as a varint (base 128, as in protobuf), one after the other."""
    numbers = np.ascontiguousarray(column, np.int64).view(np.uint64)
    sizes = np.searchsorted(_LIMITS, numbers, side="right") + 1
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    starts = offsets[:-1]
    data = np.empty(int(offsets[-1]), np.uint8)
    rows = np.arange(len(numbers))
    for digit in range(int(sizes.max(initial=0))):
        rows = rows[sizes[rows] > digit]
        septets = (numbers[rows] >> np.uint64(7 * digit)).astype(np.uint8) & 0x7F
        data[starts[rows] + digit] = septets | ((sizes[rows] > digit + 1).view(np.uint8) << 7)
    return data.tobytes(), starts, offsets[1:]


def woven(pieces: Sequence[Piece], rows: int) -> Spans:
    """The rows, each of which is its pieces joined, one after the other."""
    columns = [_texts(piece, rows) for piece in pieces]
    return _spans([b"".join(row) for row in zip(repeat(b"", rows), *columns, strict=True)])


def _texts(piece: Piece, rows: int) -> Iterable[bytes]:
    if isinstance(piece, bytes):
        return repeat(piece, rows)
    data = piece.data
    check_spans(data, piece.starts, piece.ends)
    places = zip(piece.starts.tolist(), piece.ends.tolist(), strict=True)
    return (data[start:end] for start, end in places)


def _spans(texts: Sequence[bytes]) -> Spans:
    offsets = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    return b"".join(texts), offsets[:-1], offsets[1:]
