"""Encode columns as the packets of a Perfetto trace.

The fields are documented in https://perfetto.dev/docs/reference/trace-packet-proto. All packets
belong to one sequence, which interns names: a name is written once and then referred to by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.outputs.pieces import Piece, woven
from tfprof.outputs.proto import message, number, one_number, one_text, text

# Block size: enough rows for efficient array operations, but little memory.
BLOCK_ROWS = 1 << 15

_SEQUENCE = one_number(10, 1)
_CLEARS_STATE = one_number(13, 1)  # forget all interned names
_NEEDS_STATE = one_number(13, 2)  # refers to interned names
_EXPLICIT_ORDER = one_number(11, 3)  # child tracks are sorted by their rank
_BYTES = one_text(8, one_number(3, 3))  # the unit of a counter


class Type(IntEnum):
    """The type of an event."""

    BEGIN = 1
    END = 2
    INSTANT = 3
    COUNTER = 4


class Interned(IntEnum):
    """Kinds of interned texts, by their field in InternedData."""

    EVENT_NAMES = 2
    ARGUMENT_NAMES = 3
    ARGUMENT_TEXTS = 29


def opening() -> bytes:
    """The first packet of the sequence."""
    return one_text(1, _SEQUENCE + _CLEARS_STATE + one_number(87, 1))


def clear_interned() -> bytes:
    """A packet that clears all interned texts."""
    return one_text(1, _SEQUENCE + _CLEARS_STATE)


def process(track: int, name: str) -> bytes:
    """The track of a process, the parent of other tracks."""
    described = one_number(1, track) + one_text(6, name.encode())
    return _described(one_number(1, track) + one_text(3, described) + _EXPLICIT_ORDER)


def track(number_: int, parent: int, name: str, rank: int) -> bytes:
    """A track for slices of a process, or of none if `parent` is 0."""
    return _described(_track(number_, parent, name) + one_number(12, rank))


def counter(number_: int, parent: int, name: str) -> bytes:
    """A counter track in bytes."""
    return _described(_track(number_, parent, name) + _BYTES)


def _track(number_: int, parent: int, name: str) -> bytes:
    above = one_number(5, parent) if parent else b""
    return one_number(1, number_) + above + one_text(2, name.encode())


def _described(descriptor: bytes) -> bytes:
    return one_text(1, _SEQUENCE + one_text(60, descriptor))


def interned(kind: Interned, texts: Strings) -> Iterator[bytes]:
    """Intern texts; later packets refer to them by number, counted from 1."""
    for some in blocks(len(texts)):
        entry = [*number(1, some + 1), *text(2, texts.take(some))]
        entries = woven(message(kind, entry, len(some)), len(some)).data
        yield one_text(1, _SEQUENCE + _NEEDS_STATE + one_text(12, entries))


def one_slice(time: int, duration: int, track_: int, name: str) -> bytes:
    """A single slice without interned names."""
    begin = one_number(9, Type.BEGIN) + one_number(11, track_) + one_text(23, name.encode())
    end = one_number(9, Type.END) + one_number(11, track_)
    return _one_event(time, begin) + _one_event(time + duration, end)


def instant(time: int, track_: int, name: str, numbers: Iterable[tuple[str, int]]) -> bytes:
    """A single instant with named numbers, without interned names."""
    event = one_number(9, Type.INSTANT) + one_number(11, track_) + one_text(23, name.encode())
    arguments = (one_text(10, key.encode()) + one_number(4, value) for key, value in numbers)
    return _one_event(time, event + b"".join(one_text(4, argument) for argument in arguments))


def _one_event(time: int, event: bytes) -> bytes:
    return one_text(1, one_number(8, time) + _SEQUENCE + one_text(11, event))


def events(time: Ints, types: Ints, tracks: Ints, bodies: Sequence[Piece]) -> bytes:
    """Events at times in nanoseconds, with the remaining fields of each in `bodies`."""
    rows = len(time)
    event = [*number(9, types), *number(11, tracks), *bodies]
    packet = [*number(8, time), _SEQUENCE, _NEEDS_STATE, *message(11, event, rows)]
    return woven(message(1, packet, rows), rows).data


def slices(time: Ints, duration: Ints, tracks: Ints, bodies: Sequence[Piece]) -> bytes:
    """Slices as pairs of events, with the remaining fields of each slice in `bodies`."""
    rows = len(time)
    body = woven(bodies, rows)
    starts, ends = np.repeat(body.starts, 2), np.repeat(body.ends, 2)
    ends[1::2] = starts[1::2]  # only the begin event has a body
    return events(
        np.column_stack((time, time + duration)).ravel(),
        np.tile(np.array([Type.BEGIN, Type.END], np.int64), rows),
        np.repeat(tracks, 2),
        [Strings.of_spans(body.data, starts, ends)],
    )


def counters(time: Ints, track_: int, values: Ints) -> bytes:
    """The values of a counter over time."""
    types = np.full(len(time), Type.COUNTER, np.int64)
    return events(time, types, np.full(len(time), track_), number(30, values))


def blocks(rows: int) -> Iterator[Ints]:
    """The row numbers, in blocks."""
    for start in range(0, rows, BLOCK_ROWS):
        yield np.arange(start, min(start + BLOCK_ROWS, rows))
