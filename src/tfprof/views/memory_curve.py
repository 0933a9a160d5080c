"""How full the memory of each accelerator was in the course of a step, and who held most of it."""

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
    """How much memory of an accelerator was in use, at points at least 100 µs apart.

    Each point names the ops that held most of it, the largest first; `rest` is what nobody whose
    allocation was recorded, or only smaller ones, held.
    """

    device: int  # its row in `ProfileColumns.devices`
    peak: int  # of all points, those between the ones that are told included
    time: Ints  # in ticks
    in_use: Ints
    holders: Ragged  # ops, a row a point
    holder_bytes: Ints  # one for each holder
    rest: Ints

    def __len__(self) -> int:
        return len(self.time)


def curves(
    profile: ProfileColumns, homes: Ints, record: Ints, shown: Ints, ticks: int
) -> Iterator[DeviceMemory]:
    """The memory of every accelerator that one of the ops `shown` is placed on, by its name.

    `homes` has the device of each op and `record` its record in the step. Of two ops measured in
    the same tick (of so many nanoseconds), the one that is shown later counts.
    """
    devices, home = profile.devices, homes[shown]
    by_device = Ragged(
        offsets_of(np.bincount(home, minlength=len(devices))),
        shown[grouped(home, len(devices))],
    )
    recorded = _Recorded.of(profile, ticks)
    for device in devices.name.order()[by_device.lengths[devices.name.order()] > 0].tolist():
        # Memory of a device that works by itself is the host's, of which allocators tell nothing.
        if devices.host[device] != devices.name[device]:
            yield _curve(recorded, device, by_device[device], record[by_device[device]])


class _Recorded(NamedTuple):
    """What was recorded of memory, by record, and what each op keeps for good."""

    memory: MemoryUse
    uses: Ragged  # rows of memory
    allocations: Allocations
    changes: Ragged  # rows of allocations
    kept: Ints
    ticks: int

    @classmethod
    def of(cls, profile: ProfileColumns, ticks: int) -> _Recorded:
        memory, records = profile.memory, profile.records
        uses = records.rows_of(memory.record)
        kept = np.zeros(len(profile.ops), np.int64)
        # An op that keeps more in one step than in another still has that.
        np.maximum.at(kept, records.op, uses.sums(memory.accelerator_persistent))
        changes = records.rows_of(profile.allocations.record)
        return cls(memory, uses, profile.allocations, changes, kept, ticks)


def _curve(recorded: _Recorded, device: int, ops: Ints, records: Ints) -> DeviceMemory:
    time, in_use = _points(recorded, records)
    told = timelines.spaced(time, _GAP_NS // recorded.ticks)
    held = _held(recorded, ops, records)
    offsets, rows = timelines.largest(
        time[told], held.bytes, held.begin, held.end, in_use[told], most=MOST_HOLDERS
    )
    return DeviceMemory(
        device=device,
        peak=int(in_use.max(initial=0)),
        time=time[told],
        in_use=in_use[told],
        holders=Ragged(offsets, held.op[rows]),
        holder_bytes=held.bytes[rows],
        rest=in_use[told] - Ragged(offsets, rows).sums(held.bytes[rows]),
    )


def _points(recorded: _Recorded, records: Ints) -> tuple[Ints, Ints]:
    """The times at which memory was measured, ascending, and what was in use."""
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
    """What ops held from one time to the next, if anything, the largest first."""

    op: Ints
    bytes: Ints
    begin: Ints
    end: Ints


def _held(recorded: _Recorded, ops: Ints, records: Ints) -> _Held:
    found = recorded.changes.take(records)
    keeping = ops[recorded.kept[ops] != 0]
    # What an op keeps for good is there from the beginning.
    from_start = np.zeros(len(keeping), np.int64)
    op = np.concatenate((keeping, ops[found.owners]))
    changed = recorded.allocations.time_ns[found.values] // recorded.ticks
    time = np.concatenate((from_start, changed))
    change = np.concatenate((recorded.kept[keeping], recorded.allocations.bytes[found.values]))
    order = np.lexsort((time, op))
    op, time, change = op[order], time[order], change[order]
    is_last = np.ones(len(op), np.bool_)
    is_last[:-1] = op[1:] != op[:-1]
    begins = np.flatnonzero(np.roll(is_last, 1))
    running = np.cumsum(change)
    before = np.repeat((running - change)[begins], np.diff(begins, append=len(op)))
    size = running - before
    end = np.where(is_last, np.iinfo(np.int64).max, np.roll(time, -1))
    # Of changes in one tick only what the last one leaves was ever held.
    rows = np.flatnonzero((size > 0) & (time < end))
    rows = rows[np.lexsort((op[rows], ~size[rows]))]
    return _Held(op[rows], size[rows], time[rows], end[rows])
