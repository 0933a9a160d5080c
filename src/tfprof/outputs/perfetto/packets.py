"""The packets of a Perfetto trace, from columns.

What the fields mean: https://perfetto.dev/docs/reference/trace-packet-proto. All packets are of
one sequence, whose names are told once and then go by numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.outputs.pieces import Piece, woven
from tfprof.outputs.proto import message, number, one_number, one_text, text

# What is written at once: enough for array work, and not more than memory should hold.
BLOCK_ROWS = 1 << 15

_SEQUENCE = one_number(10, 1)
_FIRST = one_number(13, 1)  # nothing was told before
_FOLLOWING = one_number(13, 2)  # what was told before is needed
_PARENT_SORTS = one_number(11, 3)  # tracks say themselves where they stand
_BYTES = one_text(8, one_number(3, 3))  # the unit of a counter


class Type(IntEnum):
    """What an event is."""

    BEGIN = 1
    END = 2
    INSTANT = 3
    COUNTER = 4


class Told(IntEnum):
    """What can be told once, by the field that it is told in."""

    EVENT_NAMES = 2
    ARGUMENT_NAMES = 3
    ARGUMENT_TEXTS = 29


def opening() -> bytes:
    """The first packet, before which nothing is known."""
    return one_text(1, _SEQUENCE + _FIRST + one_number(87, 1))


def forgetting() -> bytes:
    """A packet from which on nothing that was told before is known."""
    return one_text(1, _SEQUENCE + _FIRST)


def process(track: int, name: str) -> bytes:
    """The track of a process, below which others stand."""
    described = one_number(1, track) + one_text(6, name.encode())
    return _described(one_number(1, track) + one_text(3, described) + _PARENT_SORTS)


def track(number_: int, parent: int, name: str, rank: int) -> bytes:
    """A track for slices below a process, or (parent 0) on its own."""
    return _described(_track(number_, parent, name) + one_number(12, rank))


def counter(number_: int, parent: int, name: str) -> bytes:
    """A track for a number of bytes."""
    return _described(_track(number_, parent, name) + _BYTES)


def _track(number_: int, parent: int, name: str) -> bytes:
    above = one_number(5, parent) if parent else b""
    return one_number(1, number_) + above + one_text(2, name.encode())


def _described(descriptor: bytes) -> bytes:
    return one_text(1, _SEQUENCE + one_text(60, descriptor))


def told(what: Told, texts: Strings) -> Iterator[bytes]:
    """Texts that from then on go by their numbers, counted from 1."""
    for some in blocks(len(texts)):
        entry = [*number(1, some + 1), *text(2, texts.take(some))]
        entries = woven(message(what, entry, len(some)), len(some)).data
        yield one_text(1, _SEQUENCE + _FOLLOWING + one_text(12, entries))


def one_slice(time: int, duration: int, track_: int, name: str) -> bytes:
    """A slice that is told whole: name and all."""
    begin = one_number(9, Type.BEGIN) + one_number(11, track_) + one_text(23, name.encode())
    end = one_number(9, Type.END) + one_number(11, track_)
    return _one_event(time, begin) + _one_event(time + duration, end)


def instant(time: int, track_: int, name: str, numbers: Iterable[tuple[str, int]]) -> bytes:
    """A moment that is told whole, with numbers by their names."""
    event = one_number(9, Type.INSTANT) + one_number(11, track_) + one_text(23, name.encode())
    arguments = (one_text(10, key.encode()) + one_number(4, value) for key, value in numbers)
    return _one_event(time, event + b"".join(one_text(4, argument) for argument in arguments))


def _one_event(time: int, event: bytes) -> bytes:
    return one_text(1, one_number(8, time) + _SEQUENCE + one_text(11, event))


def events(time: Ints, types: Ints, tracks: Ints, bodies: Sequence[Piece]) -> bytes:
    """Events at times in nanoseconds, each with what else is said of it."""
    rows = len(time)
    event = [*number(9, types), *number(11, tracks), *bodies]
    packet = [*number(8, time), _SEQUENCE, _FOLLOWING, *message(11, event, rows)]
    return woven(message(1, packet, rows), rows).data


def slices(time: Ints, duration: Ints, tracks: Ints, bodies: Sequence[Piece]) -> bytes:
    """Slices, each with what else is said of it: two events that follow each other."""
    rows = len(time)
    said = woven(bodies, rows)
    starts, ends = np.repeat(said.starts, 2), np.repeat(said.ends, 2)
    ends[1::2] = starts[1::2]  # all is said at the beginning
    return events(
        np.column_stack((time, time + duration)).ravel(),
        np.tile(np.array([Type.BEGIN, Type.END], np.int64), rows),
        np.repeat(tracks, 2),
        [Strings.of_spans(said.data, starts, ends)],
    )


def counters(time: Ints, track_: int, values: Ints) -> bytes:
    """How a number of bytes changed."""
    types = np.full(len(time), Type.COUNTER, np.int64)
    return events(time, types, np.full(len(time), track_), number(30, values))


def blocks(rows: int) -> Iterator[Ints]:
    """The rows that are written at once."""
    for start in range(0, rows, BLOCK_ROWS):
        yield np.arange(start, min(start + BLOCK_ROWS, rows))
