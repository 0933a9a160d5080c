"""The steps of a trace: as the program marked them, or else as its optimizer ends them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.formats.kineto.columns import Slices
from tfprof.model.ops import Phase
from tfprof.sources.kineto.belonging import STEP_END
from tfprof.sources.kineto.host import OPTIMIZER, STEP, Host, Role

_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class StepMarks:
    """When each step began, in ascending order, and its number; empty if nothing marks steps."""

    start_ns: Ints
    number: Ints
    end_ns: int  # when the last one ended
    is_marked: bool  # by the program, not derived from its optimizer

    def of_time(self, time_ns: Ints) -> Ints:
        """The number of the step at each time; times before the first step belong to it."""
        if not len(self.start_ns):
            return np.zeros(len(time_ns), np.int64)
        place = np.searchsorted(self.start_ns, time_ns, side="right") - 1
        return self.number[np.maximum(place, 0)]


def step_marks(slices: Slices, host: Host, phase: Ints) -> StepMarks:
    """The steps of a trace."""
    rows = host.rows(Role.ANNOTATION)
    names = [slices.name.values[code] for code in slices.name.codes[host.slice[rows]].tolist()]
    if marks := _numbered(host, rows, names, STEP):
        start, end, number = (ints(column) for column in zip(*marks, strict=True))
        return StepMarks(start, number, int(end.max()), is_marked=True)
    if marks := _numbered(host, rows, names, STEP_END):
        _, end, number = (ints(column) for column in zip(*marks, strict=True))
        start = np.concatenate(([host.start_ns.min()], end[:-1]))
        return StepMarks(start, number, int(end[-1]), is_marked=True)
    ends = [
        (row, name)
        for row, name in zip(rows.tolist(), names, strict=True)
        if name.startswith(OPTIMIZER[0])
    ]
    return _between_updates(host, phase, ends)


def _numbered(host: Host, rows: Ints, names: list[str], start: str) -> list[tuple[int, int, int]]:
    """Begin, end and number of the annotations whose names have this start and a number.

    Those of one thread count: if a file has the events of several ranks, each marks its own steps.
    """
    of_thread: dict[int, set[tuple[int, int, int]]] = {}
    for row, name in zip(rows.tolist(), names, strict=True):
        number = name.removeprefix(start)
        if name.startswith(start) and number.isdecimal() and int(number) < _LARGEST:
            mark = int(host.start_ns[row]), int(host.end_ns[row]), int(number)
            of_thread.setdefault(int(host.thread[row]), set()).add(mark)
    found = sorted(max(of_thread.values(), key=len, default=()))
    if len({number for _, _, number in found}) < len(found):  # recorded again with the same numbers
        return [(begin, end, place) for place, (begin, end, _) in enumerate(found)]
    return found


def _between_updates(host: Host, phase: Ints, updates: list[tuple[int, str]]) -> StepMarks:
    """Each step ends before the first op after an update of the parameters.

    Programs with several optimizers, such as those of adversarial networks, have no such steps.
    """
    if len({name for _, name in updates}) != 1:
        return StepMarks(ints([]), ints([]), 0, is_marked=False)
    is_work = (phase != Phase.OPTIMIZER) & (host.thread == host.thread[updates[0][0]])
    work = np.flatnonzero(is_work & (host.role == Role.OP))
    if not len(work):  # ops were not recorded, but calls of the driver
        work = np.flatnonzero(is_work & (host.role < 0) & (host.slice >= 0))
    begins = [int(host.start_ns.min())]
    for row, _ in sorted(updates, key=lambda update: int(host.end_ns[update[0]])):
        place = int(np.searchsorted(host.start_ns[work], host.end_ns[row], side="left"))
        if place < len(work):
            begins.append(int(host.start_ns[work[place]]))
    begins = sorted(set(begins))[: len(updates)]
    return StepMarks(ints(begins), np.arange(len(begins)), int(host.end_ns.max()), is_marked=False)
