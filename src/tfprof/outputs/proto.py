"""Encode columns as protobuf messages, one per row, built from pieces like rows of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Ints, Ragged, Strings
from tfprof.formats.wire import FIXED64, SPAN, VARINT, encoded
from tfprof.outputs.pieces import Piece, varints, woven


def number(field: int, column: Ints) -> list[Piece]:
    """A varint field with a number for each row."""
    return [encoded(field << 3 | VARINT), varints(column)]


def double(field: int, column: npt.NDArray[np.float64]) -> list[Piece]:
    """A double field with a number for each row."""
    offsets = np.arange(len(column) + 1) * 8
    data = column.astype("<f8").tobytes()
    return [encoded(field << 3 | FIXED64), Strings.of_spans(data, offsets[:-1], offsets[1:])]


def repeated_fixed64(field: int, lists: Ragged) -> Strings:
    """A repeated fixed64 field with a list of numbers for each row."""
    tag = np.frombuffer(encoded(field << 3 | FIXED64), np.uint8)
    data = np.empty((len(lists.values), len(tag) + 8), np.uint8)
    data[:, : len(tag)] = tag
    data[:, len(tag) :] = lists.values.astype("<i8").view(np.uint8).reshape(-1, 8)
    places = lists.offsets * data.shape[1]
    return Strings.of_spans(data.tobytes(), places[:-1], places[1:])


def text(field: int, column: Strings) -> list[Piece]:
    """A field with a text or an encoded message for each row."""
    return [encoded(field << 3 | SPAN), varints(column.lengths), column]


def packed(field: int, lists: Ragged) -> list[Piece]:
    """A packed field with a list of numbers for each row; omitted if the list is empty."""
    digits = varints(lists.values)
    places = np.append(digits.starts, len(digits.data))[lists.offsets]
    pieces = text(field, Strings.of_spans(digits.data, places[:-1], places[1:]))
    has_values = lists.lengths > 0
    return pieces if has_values.all() else [only_where(has_values, pieces)]


def message(field: int, pieces: Sequence[Piece], rows: int) -> list[Piece]:
    """A field with the message that consists of `pieces`, for each row."""
    return text(field, woven(pieces, rows))


def only_where(flags: Bools, pieces: Sequence[Piece]) -> Strings:
    """The joined pieces of flagged rows; empty for all other rows."""
    rows = woven(pieces, len(flags))
    return Strings.of_spans(rows.data, rows.starts, np.where(flags, rows.ends, rows.starts))


def one_number(field: int, value: int) -> bytes:
    """A field of a single message with a 64-bit number."""
    return encoded(field << 3 | VARINT) + encoded(value % (1 << 64))


def one_text(field: int, value: bytes) -> bytes:
    """A field of a single message with a text or an encoded message."""
    return encoded(field << 3 | SPAN) + encoded(len(value)) + value
