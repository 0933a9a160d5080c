"""Memory over time: what was held at each moment, from the records of allocators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tfprof.columns import Bools, Ints, distinct, ints
from tfprof.errors import TfprofError
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns

# Sums and differences of what is smaller than this stay within 64 bits.
_LARGE = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """How many bytes there are from each moment on; a moment, in microseconds, stands here once."""

    micros: Ints
    bytes: Ints

    @classmethod
    def of_changes(cls, micros: Ints, changes: Ints) -> Self:
        """The running sum of `changes`, given in any order.

        What happened within one microsecond counts as one change: nobody knows its order.
        """
        order = np.argsort(micros, kind="stable")
        micros, level = micros[order], np.cumsum(changes[order])
        last = _is_last(micros)
        return cls(ints(micros[last]), ints(level[last]))

    @classmethod
    def of_levels(cls, micros: Ints, levels: Ints) -> Self:
        """What was read at some moments, given in any order; of one moment the highest."""
        order = np.lexsort((levels, micros))
        micros, levels = micros[order], levels[order]
        last = _is_last(micros)
        return cls(ints(micros[last]), ints(levels[last]))

    def __len__(self) -> int:
        return len(self.micros)

    @property
    def peak(self) -> int:
        """The place of the highest point, the first where there are several."""
        return int(np.argmax(self.bytes))

    @property
    def peak_bytes(self) -> int:
        return int(self.bytes[self.peak])

    @property
    def peak_micros(self) -> int:
        return int(self.micros[self.peak])

    def at(self, micros: int) -> int:
        """How many bytes there are at a moment; none before the first."""
        place = int(np.searchsorted(self.micros, micros, side="right")) - 1
        return int(self.bytes[place]) if place >= 0 else 0


def _is_last(micros: Ints) -> Bools:
    """Which of ascending moments are followed by a later one, or by none."""
    flags = np.ones(len(micros), np.bool_)
    flags[:-1] = micros[1:] != micros[:-1]
    return flags


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What ops on one device did with one allocator in one step.

    A row a record: which op took memory then or, with negative bytes, gave back what it had taken.
    """

    allocator: str  # empty where its name is not known
    device: int  # -1 where it is not known
    step: int
    op: Ints
    micros: Ints
    bytes: Ints
    untimed: int  # how many of them have no time, and count from the beginning
    curve: Curve
    levels: Curve  # what the allocator itself reported to be in use of it, by whomever

    def held(self, micros: int, op_count: int) -> Ints:
        """How many bytes each op holds at a moment."""
        return _sums(self.op, self.bytes, self.micros <= micros, op_count)

    def taken(self, micros: int, op_count: int) -> Ints:
        """How many bytes each op took, on balance, in that very microsecond."""
        return _sums(self.op, self.bytes, self.micros == micros, op_count)


def _sums(op: Ints, column: Ints, flags: Bools, op_count: int) -> Ints:
    sums = np.zeros(op_count, np.int64)
    np.add.at(sums, op[flags], column[flags])
    return sums


@remembered
def recordings(profile: ProfileColumns) -> tuple[Recording, ...]:
    """A recording for each allocator, device and step that has any, in that order."""
    uses, events = profile.allocator_uses, profile.allocator_events
    if not len(events):
        return ()
    if float(np.abs(events.bytes.astype(np.float64)).sum()) > _LARGE:
        raise TfprofError(
            "The allocation records add up to more bytes than any machine has: they are damaged."
        )
    groups = _groups(profile)
    event_group = groups[events.use]
    found = distinct(event_group)
    order = np.argsort(event_group, kind="stable")
    rows_of = np.split(order, np.searchsorted(event_group[order], found[1:]))
    levels = np.flatnonzero(uses.level)
    levels = levels[np.argsort(groups[levels], kind="stable")]
    bounds = np.searchsorted(groups[levels], [found, found + 1])
    return tuple(
        _recording(profile, rows, levels[first:last])
        for rows, first, last in zip(rows_of, *bounds.tolist(), strict=True)
    )


def _groups(profile: ProfileColumns) -> Ints:
    """A number for each use: equal for the same allocator, device and step, and in that order."""
    uses = profile.allocator_uses
    place = np.searchsorted(profile.steps, uses.step)
    by_name = uses.allocator.values.order()
    rank = np.empty(len(by_name), np.int64)
    rank[by_name] = np.arange(len(by_name))
    width = len(profile.devices) + 1
    group = rank[uses.allocator.codes] * width + uses.device + 1
    return group * len(profile.steps) + place


def _recording(profile: ProfileColumns, rows: Ints, levels: Ints) -> Recording:
    uses, events = profile.allocator_uses, profile.allocator_events
    use = events.use[rows]
    micros, untimed = _timed(events.micros[rows])
    levels = levels[_is_time(uses.micros[levels])]
    return Recording(
        allocator=uses.allocator[use[0]],
        device=int(uses.device[use[0]]),
        step=int(uses.step[use[0]]),
        op=uses.op[use],
        micros=micros,
        bytes=events.bytes[rows],
        untimed=untimed,
        curve=Curve.of_changes(micros, events.bytes[rows]),
        levels=Curve.of_levels(uses.micros[levels], uses.level[levels]),
    )


def _timed(micros: Ints) -> tuple[Ints, int]:
    """Moments, what has none put at the first of the others; and how many had none."""
    is_time = _is_time(micros)
    if is_time.all():
        return micros, 0
    first = micros[is_time].min(initial=_LARGE) if is_time.any() else 0
    return np.where(is_time, micros, first), int((~is_time).sum())


def _is_time(micros: Ints) -> Bools:
    """Which moments are such as a clock gives."""
    return (micros > 0) & (micros < _LARGE)
