"""The memory in use on each accelerator during a step, and the ops that held most of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Ragged, offsets_of
from tfprof.kernels import timelines
from tfprof.kernels.rows import grouped
from tfprof.model.executions import Allocations, MemoryUse
from tfprof.model.profile import ProfileColumns

# Reported points are at least this far apart, and each names at most this many ops.
_GAP_NS = 100_000
MOST_HOLDERS = 10


@dataclass(frozen=True, slots=True, eq=False)
class DeviceMemory:
    """The memory in use on an accelerator, at points at least 100 µs apart.

    Each point names the ops that held the most memory, largest first; `rest` is the remainder.
    """

    device: int  # a row of `ProfileColumns.devices`
    peak: int  # over all measured points, including those left out in between
    time: Ints  # in ticks
    in_use: Ints
    holders: Ragged  # ops, one row per point
    holder_bytes: Ints  # one for each holder
    rest: Ints

    def __len__(self) -> int:
        return len(self.time)


def curves(
    profile: ProfileColumns, homes: Ints, record: Ints, shown: Ints, ticks: int
) -> Iterator[DeviceMemory]:
    """The memory of every accelerator that has any of the ops `shown`, sorted by name.

    `homes` has the device of each op and `record` its record in the step. If two ops are measured
    in the same tick (a number of nanoseconds), the one that is shown later counts.
    """
    devices, home = profile.devices, homes[shown]
    by_device = Ragged(
        offsets_of(np.bincount(home, minlength=len(devices))),
        shown[grouped(home, len(devices))],
    )
    recorded = _Recorded.of(profile, ticks)
    for device in devices.name.order()[by_device.lengths[devices.name.order()] > 0].tolist():
        # A device that is its own host uses host memory, which its allocators do not report.
        if devices.host[device] != devices.name[device]:
            yield _curve(recorded, device, by_device[device], record[by_device[device]])


class _Recorded(NamedTuple):
    """The recorded memory use and allocations, grouped by record."""

    memory: MemoryUse
    uses: Ragged  # the rows of `memory` of each record
    allocations: Allocations
    changes: Ragged  # the rows of `allocations` of each record
    persistent: Ints  # the bytes that each op never releases
    ticks: int

    @classmethod
    def of(cls, profile: ProfileColumns, ticks: int) -> _Recorded:
        memory, records = profile.memory, profile.records
        uses = records.rows_of(memory.record)
        persistent = np.zeros(len(profile.ops), np.int64)
        # Persistent memory stays allocated, so the step with the most counts.
        np.maximum.at(persistent, records.op, uses.sums(memory.accelerator_persistent))
        changes = records.rows_of(profile.allocations.record)
        return cls(memory, uses, profile.allocations, changes, persistent, ticks)


def _curve(recorded: _Recorded, device: int, ops: Ints, records: Ints) -> DeviceMemory:
    time, in_use = _points(recorded, records)
    shown = timelines.spaced(time, _GAP_NS // recorded.ticks)
    held = _held(recorded, ops, records)
    offsets, rows = timelines.largest(
        time[shown], held.bytes, held.begin, held.end, in_use[shown], most=MOST_HOLDERS
    )
    return DeviceMemory(
        device=device,
        peak=int(in_use.max(initial=0)),
        time=time[shown],
        in_use=in_use[shown],
        holders=Ragged(offsets, held.op[rows]),
        holder_bytes=held.bytes[rows],
        rest=in_use[shown] - Ragged(offsets, rows).sums(held.bytes[rows]),
    )


def _points(recorded: _Recorded, records: Ints) -> tuple[Ints, Ints]:
    """The times at which memory was measured, ascending, and the bytes in use."""
    memory = recorded.memory
    rows = recorded.uses.take(records).values
    time = memory.time_ns[rows] // recorded.ticks
    rows, time = rows[time > 0], time[time > 0]
    order = np.argsort(time, kind="stable")
    rows, time = rows[order], time[order]
    is_last = np.ones(len(rows), np.bool_)
    is_last[:-1] = time[1:] != time[:-1]
    return time[is_last], memory.in_use[rows[is_last]]


class _Held(NamedTuple):
    """The memory that ops held between changes, largest first."""

    op: Ints
    bytes: Ints
    begin: Ints
    end: Ints


def _held(recorded: _Recorded, ops: Ints, records: Ints) -> _Held:
    found = recorded.changes.take(records)
    keeping = ops[recorded.persistent[ops] != 0]
    # Persistent memory is held from the start.
    from_start = np.zeros(len(keeping), np.int64)
    op = np.concatenate((keeping, ops[found.owners]))
    changed = recorded.allocations.time_ns[found.values] // recorded.ticks
    time = np.concatenate((from_start, changed))
    allocated = recorded.allocations.bytes[found.values]
    change = np.concatenate((recorded.persistent[keeping], allocated))
    order = np.lexsort((time, op))
    op, time, change = op[order], time[order], change[order]
    is_last = np.ones(len(op), np.bool_)
    is_last[:-1] = op[1:] != op[:-1]
    begins = np.flatnonzero(np.roll(is_last, 1))
    running = np.cumsum(change)
    before = np.repeat((running - change)[begins], np.diff(begins, append=len(op)))
    size = running - before
    end = np.where(is_last, np.iinfo(np.int64).max, np.roll(time, -1))
    # Of several changes in one tick, only the last one counts.
    rows = np.flatnonzero((size > 0) & (time < end))
    rows = rows[np.lexsort((op[rows], ~size[rows]))]
    return _Held(op[rows], size[rows], time[rows], end[rows])
