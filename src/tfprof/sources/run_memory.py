"""The memory of runs, from allocations and releases."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.model.executions import MEMORY_FACTS


def taken_by(allocator: Ints, address: Ints, size: Ints) -> Ints:
    """For each release, the row of its allocation, or -1 if that was not recorded.

    The rows are in the order of time, and `size` is negative for releases.
    """
    order = np.lexsort((np.arange(len(allocator)), address, allocator))
    before, after = order[:-1], order[1:]
    is_end = (allocator[before] == allocator[after]) & (address[before] == address[after])
    is_end &= (size[before] > 0) & (size[after] < 0)
    taken = np.full(len(order), -1)
    taken[after[is_end]] = before[is_end]
    return taken


def memory_facts(
    time_ns: Ints, *, run: Ints, moment: Ints, size: Ints, is_within: Bools
) -> dict[str, Ints]:
    """The columns of `MEMORY_FACTS`: bytes requested, at the peak and left by each run.

    `time_ns` is when each run ended. The other columns have one row per change: its run, its time,
    its bytes, and whether it happened before the run ended.
    """
    facts = {fact: np.zeros(len(time_ns), np.int64) for fact in MEMORY_FACTS}
    facts["time_ns"] = time_ns
    np.add.at(facts["requested"], run, np.maximum(size, 0))
    within = np.flatnonzero(is_within)
    order = within[np.lexsort((moment[within], run[within]))]
    held, owner = np.cumsum(size[order]), run[order]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    before = np.repeat((held - size[order])[first], np.diff(first, append=len(held)))
    np.maximum.at(facts["peak"], owner, held - before)
    np.add.at(facts["residual"], owner, size[order])
    return facts
