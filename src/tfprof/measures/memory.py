"""Memory over time, from the records of allocators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Ints, distinct, ints
from tfprof.errors import TfprofError
from tfprof.memo import remembered
from tfprof.model.clock import LATEST_NS, NANOS_PER_MICRO
from tfprof.model.devices import Role
from tfprof.model.profile import ProfileColumns

# Sums and differences of two numbers below this fit in 64 bits.
_LARGE = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class MemoryCurve:
    """The bytes in use from each point in time on; times ascend."""

    time_ns: Ints
    bytes: Ints

    @classmethod
    def of_changes(cls, time_ns: Ints, changes: Ints) -> Self:
        """The running sum of `changes`, given in any order.

        Changes at the same time count as one, since their order is unknown.
        """
        order = np.argsort(time_ns, kind="stable")
        time_ns, level = time_ns[order], np.cumsum(changes[order])
        last = _is_last(time_ns)
        return cls(ints(time_ns[last]), ints(level[last]))

    @classmethod
    def of_levels(cls, time_ns: Ints, levels: Ints) -> Self:
        """The highest level reported at each time; the levels may be in any order."""
        order = np.lexsort((levels, time_ns))
        time_ns, levels = time_ns[order], levels[order]
        last = _is_last(time_ns)
        return cls(ints(time_ns[last]), ints(levels[last]))

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def micros(self) -> npt.NDArray[np.float64]:
        """The times in microseconds."""
        return self.time_ns / NANOS_PER_MICRO

    @property
    def peak(self) -> int:
        """The index of the highest point, the first one if there are several."""
        return int(np.argmax(self.bytes))

    @property
    def peak_bytes(self) -> int:
        return int(self.bytes[self.peak])

    @property
    def peak_ns(self) -> int:
        return int(self.time_ns[self.peak])

    def at(self, time_ns: int) -> int:
        """The bytes in use at a time; 0 before the first point."""
        point = int(np.searchsorted(self.time_ns, time_ns, side="right")) - 1
        return int(self.bytes[point]) if point >= 0 else 0


def _is_last(time_ns: Ints) -> Bools:
    """For each of the ascending times, whether it is the last of a group of equal times."""
    flags = np.ones(len(time_ns), np.bool_)
    flags[:-1] = time_ns[1:] != time_ns[:-1]
    return flags


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorTrace:
    """How the ops on one device used one allocator in one step.

    One row per record: an op allocated memory or, with negative bytes, released its own memory.
    """

    allocator: str  # empty if its name is unknown
    device: int  # -1 if unknown
    step: int  # a row of `Steps`
    op: Ints
    time_ns: Ints
    bytes: Ints
    untimed: int  # records without a time, which count from the earliest time
    curve: MemoryCurve
    levels: MemoryCurve  # the bytes in use as the allocator itself reported them

    def held(self, time_ns: int, op_count: int) -> Ints:
        """The bytes that each op holds at a time."""
        return _sums(self.op, self.bytes, self.time_ns <= time_ns, op_count)

    def taken(self, time_ns: int, op_count: int) -> Ints:
        """The net bytes that each op allocated at exactly that time."""
        return _sums(self.op, self.bytes, self.time_ns == time_ns, op_count)


def _sums(op: Ints, column: Ints, flags: Bools, op_count: int) -> Ints:
    sums = np.zeros(op_count, np.int64)
    np.add.at(sums, op[flags], column[flags])
    return sums


@remembered
def allocator_traces(profile: ProfileColumns) -> tuple[AllocatorTrace, ...]:
    """A trace for each allocator, device and step with records, sorted in that order."""
    uses, events = profile.allocator_uses, profile.allocator_events
    if not len(events):
        return ()
    if float(np.abs(events.bytes.astype(np.float64)).sum()) > _LARGE:
        raise TfprofError(
            "The allocation records are damaged: they add up to more bytes than any machine has."
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
        _trace(profile, rows, levels[first:last])
        for rows, first, last in zip(rows_of, *bounds.tolist(), strict=True)
    )


def peaks_by_row(profile: ProfileColumns, steps: Ints, row_of_op: Ints, parents: Ints) -> Ints:
    """For each row of a tree, the most bytes that the ops of its subtree held at one time.

    `row_of_op` is the row of each op, and `parents` precede their rows. Times and bytes are those
    of one allocator on one device in one of `steps`: the highest peak. Rows whose ops have no
    allocation records have -1.
    """
    wanted = {*steps.tolist()}
    traces = [one for one in allocator_traces(profile) if one.step in wanted]
    peaks = np.full(len(parents), -1)
    if not traces:
        return peaks
    depths = _depths(parents)
    trace = np.repeat(np.arange(len(traces)), [len(one.op) for one in traces])
    time_ns = np.concatenate([one.time_ns for one in traces])
    changes = np.concatenate([one.bytes for one in traces])
    row = row_of_op[np.concatenate([one.op for one in traces])]
    order = np.lexsort((time_ns, trace))
    trace, time_ns, changes, row = (column[order] for column in (trace, time_ns, changes, row))
    for depth in range(int(depths[row].max()), 0, -1):
        here = np.flatnonzero(depths[row] == depth)
        group = trace[here] * len(parents) + row[here]
        by_group = np.argsort(group, kind="stable")
        rows = here[by_group]
        levels, is_last = _levels(group[by_group], time_ns[rows], changes[rows])
        np.maximum.at(peaks, row[rows[is_last]], levels[is_last])
        row[here] = parents[row[here]]
    return peaks


def lacks_small_allocations(profile: ProfileColumns) -> bool:
    """Whether allocations on CPUs were recorded by TensorFlow 2, which leaves out small ones."""
    devices = profile.devices
    found = distinct(profile.allocator_uses.device)
    found = found[found >= 0]
    in_micros = profile.recordings.counts_whole_micros[devices.recording[found]]  # TensorFlow 1
    return bool(((devices.role[found] == Role.HOST) & ~in_micros).any())


def _depths(parents: Ints) -> Ints:
    depths: list[int] = []
    for parent in parents.tolist():
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return ints(depths)


def _levels(group: Ints, time_ns: Ints, changes: Ints) -> tuple[Ints, Bools]:
    """The running sum of `changes` in each group, and whether it is the last at its time."""
    running = np.cumsum(changes)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    before = np.repeat((running - changes)[first], np.diff(first, append=len(group)))
    is_last = np.ones(len(group), np.bool_)
    is_last[:-1] = (group[1:] != group[:-1]) | (time_ns[1:] != time_ns[:-1])
    return ints(running - before), is_last


def _groups(profile: ProfileColumns) -> Ints:
    """A number for each use that identifies its allocator, device and step and sorts by them."""
    uses = profile.allocator_uses
    by_name = uses.allocator.values.order()
    rank = np.empty(len(by_name), np.int64)
    rank[by_name] = np.arange(len(by_name))
    width = len(profile.devices) + 1
    group = rank[uses.allocator.codes] * width + uses.device + 1
    return group * len(profile.steps) + uses.step


def _trace(profile: ProfileColumns, rows: Ints, levels: Ints) -> AllocatorTrace:
    uses, events = profile.allocator_uses, profile.allocator_events
    use = events.use[rows]
    time_ns, untimed = _timed(events.time_ns[rows])
    levels = levels[_is_time(uses.time_ns[levels])]
    return AllocatorTrace(
        allocator=uses.allocator[use[0]],
        device=int(uses.device[use[0]]),
        step=int(uses.step[use[0]]),
        op=uses.op[use],
        time_ns=time_ns,
        bytes=events.bytes[rows],
        untimed=untimed,
        curve=MemoryCurve.of_changes(time_ns, events.bytes[rows]),
        levels=MemoryCurve.of_levels(uses.time_ns[levels], uses.level[levels]),
    )


def _timed(time_ns: Ints) -> tuple[Ints, int]:
    """The times, with missing ones replaced by the earliest, and how many were missing."""
    is_time = _is_time(time_ns)
    if is_time.all():
        return time_ns, 0
    first = time_ns[is_time].min(initial=_LARGE) if is_time.any() else 0
    return np.where(is_time, time_ns, first), int((~is_time).sum())


def _is_time(time_ns: Ints) -> Bools:
    """Which of these are valid times: positive, and not replaced for being too large."""
    return (time_ns > 0) & (time_ns < LATEST_NS)
