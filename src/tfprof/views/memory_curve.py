"""How full the memory of each accelerator was in the course of a step, and who held most of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Ragged
from tfprof.kernels import timelines
from tfprof.model.profile import Profile

# Points that are told are at least so many microseconds apart, and each names so many ops.
_GAP = 100
MOST_HOLDERS = 10


@dataclass(frozen=True, slots=True, eq=False)
class DeviceMemory:
    """How much memory of an accelerator was in use, at points at least 100 µs apart.

    Each point names the ops that held most of it, the largest first; `rest` is what nobody whose
    allocation was recorded, or only smaller ones, held.
    """

    device: int  # its row in `Profile.devices`
    peak: int  # of all points, those between the ones that are told included
    time: Ints
    in_use: Ints
    holders: Ragged  # ops, a row a point
    holder_bytes: Ints  # one for each holder
    rest: Ints

    def __len__(self) -> int:
        return len(self.time)


def curves(profile: Profile, record: Ints, shown: Ints) -> Iterator[DeviceMemory]:
    """The memory of every accelerator that one of the ops `shown` is placed on, by its name.

    `record` has the record of each op in the step. Where two ops were measured in the same
    microsecond, the one that is shown later counts.
    """
    devices, home = profile.devices, profile.ops.device[shown]
    is_used = np.zeros(len(devices), np.bool_)
    is_used[home] = True
    for device in devices.name.order()[is_used[devices.name.order()]].tolist():
        # Memory of a device that works by itself is the host's, of which allocators tell nothing.
        if devices.host[device] != devices.name[device]:
            ops = shown[home == device]
            yield _curve(profile, device, ops, record[ops])


def _curve(profile: Profile, device: int, ops: Ints, records: Ints) -> DeviceMemory:
    time, in_use = _points(profile, records)
    told = timelines.spaced(time, _GAP)
    allocations = _allocations(profile, ops, records)
    offsets, rows = timelines.largest(
        time[told],
        allocations.bytes,
        allocations.begin,
        allocations.end,
        in_use[told],
        most=MOST_HOLDERS,
    )
    held = allocations.bytes[rows]
    return DeviceMemory(
        device=device,
        peak=int(in_use.max(initial=0)),
        time=time[told],
        in_use=in_use[told],
        holders=Ragged(offsets, allocations.op[rows]),
        holder_bytes=held,
        rest=in_use[told] - Ragged(offsets, rows).sums(held),
    )


def _points(profile: Profile, records: Ints) -> tuple[Ints, Ints]:
    """The times at which memory was measured, ascending, and what was in use."""
    memory = profile.memory
    rows = profile.records.rows_of(memory.record).take(records).values
    rows = rows[memory.micros[rows] > 0]
    rows = rows[np.argsort(memory.micros[rows], kind="stable")]
    time = memory.micros[rows]
    is_last = np.ones(len(rows), np.bool_)
    is_last[:-1] = time[1:] != time[:-1]
    return time[is_last], memory.in_use[rows[is_last]]


class _Allocations(NamedTuple):
    """What an op held from one time to the next, if anything, the largest first."""

    op: Ints
    bytes: Ints
    begin: Ints
    end: Ints


def _allocations(profile: Profile, ops: Ints, records: Ints) -> _Allocations:
    found = profile.records.rows_of(profile.allocations.record).take(records)
    kept = _kept_bytes(profile, ops)
    keeping = np.flatnonzero(kept)
    # What an op keeps for good is there from the beginning.
    op = np.concatenate((ops[keeping], ops[found.owners]))
    time = np.concatenate(
        (np.zeros(len(keeping), np.int64), profile.allocations.micros[found.values])
    )
    change = np.concatenate((kept[keeping], profile.allocations.bytes[found.values]))
    order = np.lexsort((time, op))
    op, time, change = op[order], time[order], change[order]
    begins = np.flatnonzero(np.diff(op, prepend=-1))
    owner = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(op)))
    running = np.cumsum(change)
    held = running - (running - change)[begins][owner]
    end = np.append(time[1:], 0)
    end[np.append(op[1:] != op[:-1], True)[: len(op)]] = np.iinfo(np.int64).max
    # An op that has changes in one microsecond holds what the last one leaves.
    rows = np.flatnonzero((held > 0) & (time < end))
    rows = rows[np.lexsort((op[rows], ~held[rows]))]
    return _Allocations(op[rows], held[rows], time[rows], end[rows])


def _kept_bytes(profile: Profile, ops: Ints) -> Ints:
    """What each op keeps of the accelerator's memory for good: the most of any step."""
    memory, records = profile.memory, profile.records
    kept = records.rows_of(memory.record).sums(memory.accelerator_persistent)
    most = np.zeros(len(profile.ops), np.int64)
    np.maximum.at(most, records.op, kept)
    return most[ops]
