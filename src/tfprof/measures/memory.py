"""Memory over time, from the records of allocators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints, distinct, ints
from tfprof.errors import TfprofError
from tfprof.memo import remembered
from tfprof.model.clock import LATEST_NS
from tfprof.model.devices import Role
from tfprof.model.executions import Purpose
from tfprof.model.memory_curves import MemoryCurve, MemoryTrace
from tfprof.model.ops import HELD_BEFORE_SCOPE
from tfprof.model.profile import ProfileColumns

# Sums and differences of two numbers below this fit in 64 bits.
_LARGE = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorTrace:
    """How the ops on one device used one allocator in one step; see `MemoryTrace`.

    One row per record: an op allocated memory or, with negative bytes, released its own memory.
    """

    allocator: str  # empty if its name is unknown
    device: int  # -1 if unknown
    step: int  # a row of `Steps`
    op: Ints
    time_ns: Ints
    bytes: Ints
    purpose: Ints
    untimed: int  # records without a time, which count from the earliest time
    curve: MemoryCurve
    levels: MemoryCurve  # the bytes in use as the allocator itself reported them

    @property
    def first_ns(self) -> int:
        """When the first record was made."""
        return int(self.time_ns.min())

    @property
    def peak_bytes(self) -> int:
        """The most bytes held at one time."""
        return self.curve.peak_bytes

    @property
    def reported_bytes(self) -> int:
        """The most bytes in use that the allocator itself reported; 0 if it did not."""
        return self.levels.peak_bytes if len(self.levels) else 0

    def held_at_peak(self, op_count: int) -> Ints:
        return _sums(self.op, self.bytes, self.time_ns <= self.curve.peak_ns, op_count)

    def purposes_at_peak(self) -> Ints:
        return _sums(self.purpose, self.bytes, self.time_ns <= self.curve.peak_ns, len(Purpose))

    def taken_at_peak(self, op_count: int) -> Ints:
        return _sums(self.op, self.bytes, self.time_ns == self.curve.peak_ns, op_count)


def _sums(op: Ints, column: Ints, flags: Bools, op_count: int) -> Ints:
    sums = np.zeros(op_count, np.int64)
    np.add.at(sums, op[flags], column[flags])
    return sums


def allocator_traces(profile: ProfileColumns) -> Sequence[MemoryTrace]:
    """A trace for each allocator, device and step with records, sorted in that order."""
    if profile.stored_runs is not None:
        return profile.stored_runs.memory_traces
    return loaded_traces(profile)


@remembered
def loaded_traces(profile: ProfileColumns) -> tuple[AllocatorTrace, ...]:
    """The same for runs in memory, with all their records."""
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


def has_row_peaks(profile: ProfileColumns) -> bool:
    """Whether `peaks_by_row` has anything to add up; a store keeps the peaks of allocators only."""
    return profile.stored_runs is None and len(profile.allocator_events) > 0


def peaks_by_row(profile: ProfileColumns, steps: Ints, row_of_op: Ints, parents: Ints) -> Ints:
    """For each row of a tree, the most bytes that the ops of its subtree held at one time.

    `row_of_op` is the row of each op, and `parents` precede their rows. Times and bytes are those
    of one allocator on one device in one of `steps`: the highest peak. Rows whose ops have no
    allocation records have -1.
    """
    wanted = {*steps.tolist()}
    traces = [one for one in loaded_traces(profile) if one.step in wanted]
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


def holders_from_before(profile: ProfileColumns) -> Ints:
    """The ops that stand for memory that was allocated before the recording."""
    found = np.flatnonzero(profile.ops.name.starts_with(HELD_BEFORE_SCOPE))
    if profile.stored_runs is not None:
        return found
    # Profiles that older versions saved have such an op even if there was no such memory.
    return found[np.isin(found, profile.allocator_uses.op)]


def has_held_parameters(profile: ProfileColumns) -> bool:
    """Whether the memory of parameters is known, which PyTorch allocated before the recording."""
    kind = profile.ops.kind
    held = np.unique(kind.codes[profile.allocator_uses.op])
    return any(kind.values[code] == "Parameter" for code in held.tolist())


def lacks_small_allocations(profile: ProfileColumns) -> bool:
    """Whether allocations on CPUs were recorded by TensorFlow 2, which leaves out small ones."""
    devices = profile.devices
    if profile.stored_runs is not None:
        found = distinct(ints([one.device for one in profile.stored_runs.memory_traces]))
    else:
        found = distinct(profile.allocator_uses.device)
    found = found[found >= 0]
    recordings = profile.recordings
    is_other = recordings.counts_whole_micros.copy()  # TensorFlow 1
    is_other |= np.array([name == "pytorch" for name in recordings.framework], np.bool_)
    is_host = devices.role[found] == Role.HOST
    return bool((is_host & ~is_other[devices.recording[found]]).any())


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
        purpose=uses.purpose[use],
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
