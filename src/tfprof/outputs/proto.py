"""Protobuf messages from columns: a message a row, put together like rows of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Ints, Ragged, Strings
from tfprof.formats.wire import FIXED64, SPAN, VARINT, encoded
from tfprof.outputs.pieces import Piece, varints, woven


def number(field: int, column: Ints) -> list[Piece]:
    """A field that holds a number of each row."""
    return [encoded(field << 3 | VARINT), varints(column)]


def double(field: int, column: npt.NDArray[np.float64]) -> list[Piece]:
    """A field that holds a floating-point number of each row."""
    offsets = np.arange(len(column) + 1) * 8
    data = column.astype("<f8").tobytes()
    return [encoded(field << 3 | FIXED64), Strings.of_spans(data, offsets[:-1], offsets[1:])]


def repeated_fixed64(field: int, lists: Ragged) -> Strings:
    """A field that holds a number in eight bytes, as often as the list of each row says."""
    tag = np.frombuffer(encoded(field << 3 | FIXED64), np.uint8)
    data = np.empty((len(lists.values), len(tag) + 8), np.uint8)
    data[:, : len(tag)] = tag
    data[:, len(tag) :] = lists.values.astype("<i8").view(np.uint8).reshape(-1, 8)
    places = lists.offsets * data.shape[1]
    return Strings.of_spans(data.tobytes(), places[:-1], places[1:])


def text(field: int, column: Strings) -> list[Piece]:
    """A field that holds a text, or an encoded message, of each row."""
    return [encoded(field << 3 | SPAN), varints(column.lengths), column]


def packed(field: int, lists: Ragged) -> list[Piece]:
    """A field that holds a list of numbers of each row; it is missing where the list is empty."""
    digits = varints(lists.values)
    places = np.append(digits.starts, len(digits.data))[lists.offsets]
    pieces = text(field, Strings.of_spans(digits.data, places[:-1], places[1:]))
    has_values = lists.lengths > 0
    return pieces if has_values.all() else [only_where(has_values, pieces)]


def message(field: int, pieces: Sequence[Piece], rows: int) -> list[Piece]:
    """A field that holds, of each row, the message that `pieces` make."""
    return text(field, woven(pieces, rows))


def only_where(flags: Bools, pieces: Sequence[Piece]) -> Strings:
    """The pieces of the flagged rows in one; the other rows have nothing."""
    whole = woven(pieces, len(flags))
    return Strings.of_spans(whole.data, whole.starts, np.where(flags, whole.ends, whole.starts))


def one_number(field: int, value: int) -> bytes:
    """A field of a single message, with a number of 64 bits."""
    return encoded(field << 3 | VARINT) + encoded(value % (1 << 64))


def one_text(field: int, value: bytes) -> bytes:
    """A field of a single message, with a text or an encoded message."""
    return encoded(field << 3 | SPAN) + encoded(len(value)) + value
