"""Build rows of text from pieces: a piece is one text for all rows, or a column of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from tfprof.columns import Bools, Floats, Ints, Ragged, Strings, distinct
from tfprof.units import Unit

try:
    from tfprof.kernels import lines
except ImportError:
    from tfprof.kernels import plain_lines as lines  # type: ignore[no-redef]

Piece: TypeAlias = bytes | Strings

# The bytes that JSON text escapes: all but printable ASCII, and of that `"` and `\`.
_IS_ESCAPED = np.ones(256, np.bool_)
_IS_ESCAPED[0x20:0x7F] = False
_IS_ESCAPED[[*b'"\\']] = True


class Field(NamedTuple):
    """One field of each row: consecutive pieces, and which rows show them."""

    pieces: Sequence[Piece]
    is_shown: Bools | bool = True


def amounts(column: Ints | Floats, unit: Unit, after: str = "") -> Strings:
    """Each number as its unit formats it, followed by `after`."""
    if column.dtype == np.int64:
        return Strings.of_new_spans(*lines.amounts(cast(Ints, column), unit, after))
    return Strings(text + after for text in unit.format_column(column))


class _Bare:
    """The unit of plain integers."""

    suffixes = ("",)

    @staticmethod
    def format_column(amounts: Ints) -> list[str]:
        return list(map(str, amounts.tolist()))


def digits(column: Ints) -> Strings:
    """Each number in decimal digits."""
    return Strings.of_new_spans(*lines.amounts(column, _Bare(), ""))


def varints(column: Ints) -> Strings:
    """Each number as a protobuf varint; negative numbers take ten bytes."""
    return Strings.of_new_spans(*lines.varints(column))


def in_json(texts: Strings) -> Strings:
    """Each text escaped for ASCII-only JSON, without the quotes."""
    packed = woven([texts], len(texts))
    odd = np.flatnonzero(_IS_ESCAPED[np.frombuffer(packed.data, np.uint8)])
    if not len(odd):
        return packed
    rows = distinct(np.searchsorted(packed.ends, odd, side="right"))
    escaped = Strings(json.dumps(text)[1:-1] for text in packed.take(rows))
    starts, ends = packed.starts.copy(), packed.ends.copy()
    starts[rows] = escaped.starts + len(packed.data)
    ends[rows] = escaped.ends + len(packed.data)
    return Strings.of_new_spans(packed.data + escaped.data, starts, ends)


def or_else(flags: Bools, texts: Strings, other: bytes) -> Strings:
    """The text of each flagged row, and `other` for all other rows."""
    place = len(texts.data)
    starts = np.where(flags, texts.starts, place)
    ends = np.where(flags, texts.ends, place + len(other))
    return Strings.of_new_spans(texts.data + other, starts, ends)


def written_once(rows: Ragged, write: Callable[[list[int]], str]) -> Strings:
    """The result of `write` for the values of each row; called once per distinct row."""
    codes, firsts = rows.numbered()
    return Strings(write(rows[first].tolist()) for first in firsts.tolist()).take(codes)


def joined(fields: Sequence[Field], separator: bytes, rows: int) -> list[Piece]:
    """The pieces of all fields, with a separator between those that a row shows."""
    pieces: list[Piece] = []
    is_begun = np.zeros(rows, np.bool_)
    none = np.zeros(rows, np.int64)
    for field in fields:
        lengths = (is_begun & field.is_shown) * np.int64(len(separator))
        pieces += [Strings.of_new_spans(separator, none, lengths), *field.pieces]
        is_begun |= field.is_shown
    return pieces


def woven(pieces: Sequence[Piece], rows: int) -> Strings:
    """Concatenate the pieces of each row; `data` of the result is all rows back to back."""
    return Strings.woven(pieces, rows)
