"""The blocks of memory in a snapshot: when each was allocated and released."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints, constant, joined
from tfprof.formats.memory_snapshot import Snapshot
from tfprof.sources.run_memory import taken_by

# The allocator rounds sizes up to a multiple of this.
_ROUNDED = 512
NO_EVENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class HeldBlocks:
    """One row per block; those that were there before the history begins come first."""

    device: Ints
    size: Ints  # in the allocator
    start_ns: Ints
    end_ns: Ints  # the end of the history for blocks that are not freed
    is_freed: Bools
    level: Ints  # bytes in use on the device when the block was allocated
    allocated: Ints  # the event that allocated it, or `NO_EVENT` if that was before the history
    freed: Ints  # the event that freed it, or `NO_EVENT`
    stack: Ints  # of the allocation
    requested: Ints  # as the program asked for; 0 if it is not known

    def __len__(self) -> int:
        return len(self.device)


def held_blocks(found: Snapshot, time_ns: Ints) -> HeldBlocks:
    """All blocks that were in use at some time of the history, whose events have these times.

    What was in use before it is what was in use at its end, less what the history allocated, and
    what the history freed without having allocated it. Sizes in the history are those that the
    program requested: they are rounded as in the allocator.
    """
    events, blocks = found.events, found.blocks
    action = events.action
    is_alloc = action.codes == action.values.row_of("alloc")
    is_free = action.codes == action.values.row_of("free_requested")
    rows = np.flatnonzero(is_alloc | is_free)
    is_free = is_free[is_alloc | is_free]
    size = np.maximum(-(-events.size[rows] // _ROUNDED) * _ROUNDED, _ROUNDED)
    taken = taken_by(events.device[rows], events.address[rows], np.where(is_free, -size, size))
    released = np.full(len(rows), NO_EVENT)
    ends = np.flatnonzero(taken >= 0)
    released[taken[ends]] = ends
    own = np.flatnonzero(~is_free)
    unknown = np.flatnonzero(is_free & (taken < 0))  # of blocks from before the history
    left = own[released[own] < 0]
    kept = _kept(found, events.device[rows[left]], events.address[rows[left]])
    size[left] = np.maximum(size[left], _final_sizes(found, rows[left]))
    first = int(time_ns.min(initial=_LATEST)) if len(events) else 0
    last = int(time_ns.max(initial=first))
    start = joined([constant(first, len(kept) + len(unknown)), time_ns[rows[own]]])
    freed = joined([constant(NO_EVENT, len(kept)), unknown, released[own]])
    device = joined([blocks.device[kept], events.device[rows[unknown]], events.device[rows[own]]])
    sizes = joined([blocks.size[kept], size[unknown], size[own]])
    is_freed = freed >= 0
    times = np.append(time_ns[rows], last)
    return HeldBlocks(
        device=device,
        size=sizes,
        start_ns=start,
        end_ns=times[freed],
        is_freed=is_freed,
        level=_levels(device, sizes, start, times[freed], is_freed),
        allocated=joined([constant(NO_EVENT, len(kept) + len(unknown)), rows[own]]),
        freed=np.append(rows, NO_EVENT)[freed],
        stack=joined([blocks.stack[kept], constant(0, len(unknown)), events.stack[rows[own]]]),
        requested=joined([blocks.requested[kept], events.size[rows[np.append(unknown, own)]]]),
    )


_LATEST = np.iinfo(np.int64).max


def _key(device: Ints, address: Ints) -> list[tuple[int, int]]:
    return list(zip(device.tolist(), address.tolist(), strict=True))


def _kept(found: Snapshot, device: Ints, address: Ints) -> Ints:
    """The blocks in use at the end that the history did not allocate; given are those it did."""
    blocks = found.blocks
    ours = set(_key(device, address))
    keys = _key(blocks.device, blocks.address)
    flags = [held and key not in ours for held, key in zip(blocks.is_allocated, keys, strict=True)]
    return np.flatnonzero(np.array(flags, np.bool_))


def _final_sizes(found: Snapshot, rows: Ints) -> Ints:
    """The sizes in the allocator of blocks that are still in use, 0 if they are not known."""
    blocks, events = found.blocks, found.events
    known = dict(zip(_key(blocks.device, blocks.address), blocks.size.tolist(), strict=True))
    keys = _key(events.device[rows], events.address[rows])
    return np.array([known.get(key, 0) for key in keys], np.int64)


def _levels(device: Ints, size: Ints, start: Ints, end: Ints, is_freed: Bools) -> Ints:
    """The bytes in use on the device of each block after it was allocated."""
    freed = np.flatnonzero(is_freed)
    count = len(device)
    block = np.concatenate((np.arange(count), freed))
    change = np.concatenate((size, -size[freed]))
    time = np.concatenate((start, end[freed]))
    level = np.zeros(count, np.int64)
    for number in np.unique(device).tolist():
        rows = np.flatnonzero(device[block] == number)
        order = rows[np.lexsort((rows < count, time[rows]))]
        sums = np.cumsum(change[order])
        own = order < count
        level[block[order[own]]] = sums[own]
    return level
