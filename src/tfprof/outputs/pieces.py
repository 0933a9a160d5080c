"""Rows of text put together from columns: a piece is a text that all rows have, or one for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, distinct
from tfprof.units import Unit

try:
    from tfprof.kernels import lines
except ImportError:
    from tfprof.kernels import plain_lines as lines  # type: ignore[no-redef]

Piece: TypeAlias = bytes | Strings

# What a text in JSON has to have escaped: all but the letters, digits and signs of ASCII, less two.
_IS_ESCAPED = np.ones(256, np.bool_)
_IS_ESCAPED[0x20:0x7F] = False
_IS_ESCAPED[[*b'"\\']] = True


class Field(NamedTuple):
    """What rows show of one fact, in pieces that stand one behind the other."""

    pieces: Sequence[Piece]
    is_shown: Bools | bool = True


def amounts(column: Ints, unit: Unit, after: str = "") -> Strings:
    """Each number as its unit writes it, with `after` behind it."""
    return Strings.of_spans(*lines.amounts(column, unit, after))


class _Bare:
    """The unit of numbers that are written as they are."""

    suffixes = ("",)

    @staticmethod
    def format_column(amounts: Ints) -> list[str]:
        return list(map(str, amounts.tolist()))


def digits(column: Ints) -> Strings:
    """Each number in full."""
    return Strings.of_spans(*lines.amounts(column, _Bare(), ""))


def varints(column: Ints) -> Strings:
    """The base-128 digits of each number, one behind the other; a negative one has ten."""
    return Strings.of_spans(*lines.varints(column))


def in_json(texts: Strings) -> Strings:
    """Each text as it stands between the quotes of a JSON that is all ASCII."""
    packed = woven([texts], len(texts))
    odd = np.flatnonzero(_IS_ESCAPED[np.frombuffer(packed.data, np.uint8)])
    if not len(odd):
        return packed
    rows = distinct(np.searchsorted(packed.ends, odd, side="right"))
    others = Strings(json.dumps(text)[1:-1] for text in packed.take(rows))
    starts, ends = packed.starts.copy(), packed.ends.copy()
    starts[rows] = others.starts + len(packed.data)
    ends[rows] = others.ends + len(packed.data)
    return Strings.of_spans(packed.data + others.data, starts, ends)


def or_else(flags: Bools, texts: Strings, other: bytes) -> Strings:
    """The text of each row that has its flag set, and the other one for those that have not."""
    place = len(texts.data)
    starts = np.where(flags, texts.starts, place)
    ends = np.where(flags, texts.ends, place + len(other))
    return Strings.of_spans(texts.data + other, starts, ends)


def written_once(rows: Ragged, write: Callable[[list[int]], str]) -> Strings:
    """What `write` makes of the values of each row; it is asked once for equal rows."""
    codes, firsts = rows.numbered()
    return Strings(write(rows[first].tolist()) for first in firsts.tolist()).take(codes)


def joined(fields: Sequence[Field], separator: bytes, rows: int) -> list[Piece]:
    """The fields one behind the other, a separator between those that a row shows."""
    pieces: list[Piece] = []
    is_begun = np.zeros(rows, np.bool_)
    none = np.zeros(rows, np.int64)
    for field in fields:
        lengths = (is_begun & field.is_shown) * np.int64(len(separator))
        pieces += [Strings.of_spans(separator, none, lengths), *field.pieces]
        is_begun |= field.is_shown
    return pieces


def woven(pieces: Sequence[Piece], rows: int) -> Strings:
    """The rows, each its pieces one behind the other; all of them together are its `data`."""
    return Strings.of_spans(*lines.woven(pieces, rows))
