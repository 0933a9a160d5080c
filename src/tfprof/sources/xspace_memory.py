"""The memory used by runs in an XSpace, from the allocations on their threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Coded, Ints
from tfprof.errors import InputError
from tfprof.sources.run_memory import memory_facts, taken_by
from tfprof.sources.xspace_events import Space, split_by
from tfprof.sources.xspace_vocabulary import MemoryEvents, OpRuns
from tfprof.sums import fits


@dataclass(frozen=True, slots=True, eq=False)
class RunMemory:
    """The allocators used by each run, and their allocations and releases."""

    use_run: Ints
    use_name: Coded
    use_level: Ints
    use_is_gpu: Bools
    change_use: Ints
    change_ps: Ints
    change_bytes: Ints
    change_is_within: Bools  # whether it happened before the run ended
    unowned: int  # allocations outside runs

    @classmethod
    def of(cls, space: Space, runs: OpRuns, memory: MemoryEvents) -> RunMemory:
        """The allocations that happened while an op ran on the same thread."""
        if not fits(memory.bytes):
            raise InputError(
                space.path, "is damaged: its allocations add up to more bytes than any machine has."
            )
        names = Coded.of(memory.allocator)
        run = _run_around(space, runs, memory.event)
        taken = taken_by(names.codes, memory.address, memory.bytes)
        # A release belongs to the run that allocated the memory.
        owner = np.where(memory.bytes >= 0, run, np.append(run, -1)[taken])
        kept = np.flatnonzero((owner >= 0) & (memory.bytes != 0))
        width = max(len(names.values), 1)
        use, change_use = np.unique(owner[kept] * width + names.codes[kept], return_inverse=True)
        use_run, use_name = np.divmod(use, width)
        level = np.zeros(len(use), np.int64)
        took = memory.bytes[kept] > 0
        level[change_use[took]] = memory.in_use[kept[took]]
        is_gpu = np.array([*("GPU" in name for name in names.values), False])
        moment = space.start_ps[memory.event[kept]]
        event = runs.event[owner[kept]]
        end = space.start_ps[event] + space.duration_ps[event]
        return cls(
            use_run=use_run,
            use_name=Coded(use_name, names.values),
            use_level=level,
            use_is_gpu=is_gpu[use_name],
            change_use=change_use,
            change_ps=moment,
            change_bytes=memory.bytes[kept],
            change_is_within=moment <= end,
            unowned=int(((memory.bytes > 0) & (run < 0)).sum()),
        )

    def facts(self, time_ns: Ints) -> dict[str, Ints]:
        """The columns of `MEMORY_FACTS`: bytes requested, at the peak and left by each run."""
        facts = memory_facts(
            time_ns,
            run=self.use_run[self.change_use],
            moment=self.change_ps,
            size=self.change_bytes,
            is_within=self.change_is_within,
        )
        gpu = np.flatnonzero(self.use_is_gpu)
        np.maximum.at(facts["in_use"], self.use_run[gpu], self.use_level[gpu])
        return facts


def _run_around(space: Space, runs: OpRuns, event: Ints) -> Ints:
    """The latest run that started before each event on its thread, -1 if it had ended."""
    host = np.flatnonzero(runs.gpu < 0)
    found = np.full(len(event), -1)
    if not len(event) or not len(host):
        return found
    start, line = space.start_ps, space.line
    order = host[np.lexsort((start[runs.event[host]], line[runs.event[host]]))]
    of_line = line[runs.event[order]]
    for here in split_by(line[event], np.argsort(line[event], kind="stable")):
        first, last = np.searchsorted(of_line, line[event[here[0]]] + np.arange(2))
        rows = order[first:last]
        moment = start[event[here]]
        place = np.searchsorted(start[runs.event[rows]], moment, side="right") - 1
        hit = np.flatnonzero(place >= 0)
        run = rows[place[hit]]
        within = runs.event[run]
        is_within = moment[hit] <= start[within] + space.duration_ps[within]
        found[here[hit[is_within]]] = run[is_within]
    return found
