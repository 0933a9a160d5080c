"""What happened on the threads of the host, and what contains what.

Containment is checked event by event: annotations such as `ProfilerStep#3` begin in one Python
call and end in another, so a stack that trusted the order of events would book ops on the wrong
module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Slices, Trace
from tfprof.kernels import nesting
from tfprof.kernels.rows import grouped
from tfprof.model.ops import COLLECTIVE_WORK
from tfprof.sources.kineto.lost_threads import python_threads

# The starts of the names of annotations that PyTorch makes itself.
OPTIMIZER = ("Optimizer.step#", "Optimizer.zero_grad#")
LOADER = "enumerate(DataLoader)#"
STEP = "ProfilerStep#"


class Role(IntEnum):
    """What a host event is; other events contain nothing."""

    OP = 0
    ANNOTATION = 1
    PYTHON = 2


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """One row per event on a thread: ops, annotations, Python calls, launches, allocations.

    Rows are sorted by thread, then start, then descending end, so that what contains an event
    precedes it. `in_op`, `in_annotation` and `in_python` are rows, or -1.
    """

    slice: Ints  # the row of `Slices`, or -1
    memory: Ints  # the row of `MemoryEvents`, or -1
    role: Ints  # a `Role`, or -1
    thread: Ints
    start_ns: Ints
    end_ns: Ints
    in_op: Ints
    in_annotation: Ints
    in_python: Ints

    def __len__(self) -> int:
        return len(self.slice)

    def rows(self, role: Role) -> Ints:
        """The rows of the events with a role."""
        return np.flatnonzero(self.role == role)

    def taken(self, column: Ints, missing: int = -1) -> Ints:
        """The value of each event in a column of slices; allocations have `missing`."""
        return np.append(column, missing)[self.slice]

    def row_of_slice(self, slices: Slices) -> Ints:
        """For each slice its row, or -1 if it is not a host event."""
        found = np.full(len(slices), -1)
        rows = np.flatnonzero(self.slice >= 0)
        found[self.slice[rows]] = rows
        return found


def is_launch(category: str) -> bool:
    """Whether events of a category are calls of a driver, such as those that launch kernels."""
    return category.endswith(("_runtime", "_driver"))


def is_accelerator(category: str) -> bool:
    """Whether events of a category are work of an accelerator itself."""
    return is_kernel(category) or category in {"gpu_memcpy", "gpu_memset"}


def is_kernel(category: str) -> bool:
    """Whether events of a category are kernels; some accelerators have their own word for them."""
    return category in {"kernel", "mtia_ccp_events", "hpu_op"}


def of_category(slices: Slices, is_wanted: Callable[[str], bool]) -> Bools:
    """Which slices have a wanted category."""
    flags = np.array([is_wanted(name) for name in slices.category.values], np.bool_)
    return flags[slices.category.codes]


def nested(trace: Trace) -> Host:
    """The events of the host in order, each with what contains it."""
    slices = trace.slices
    role = _roles(slices)
    chosen = np.flatnonzero((role >= 0) | of_category(slices, is_launch))
    points = len(trace.memory)
    own = python_threads(trace, role == Role.PYTHON, role == Role.OP)
    thread = np.concatenate((own[chosen], trace.memory.thread))
    start = np.concatenate((slices.start_ns[chosen], trace.memory.time_ns))
    end = np.concatenate(
        (slices.start_ns[chosen] + slices.duration_ns[chosen], trace.memory.time_ns)
    )
    order = np.lexsort((-end, start, thread))
    nothing = np.full(points, -1)
    all_roles = np.concatenate((role[chosen], nothing))[order]
    thread, start, end = thread[order], start[order], end[order]
    found = nesting.containers(thread, start, end, all_roles, len(Role))
    return Host(
        slice=np.concatenate((chosen, nothing))[order],
        memory=np.concatenate((np.full(len(chosen), -1), np.arange(points)))[order],
        role=all_roles,
        thread=thread,
        start_ns=start,
        end_ns=end,
        in_op=found[Role.OP],
        in_annotation=found[Role.ANNOTATION],
        in_python=found[Role.PYTHON],
    )


_ROLES = {
    "cpu_op": Role.OP,
    "user_annotation": Role.ANNOTATION,
    "python_function": Role.PYTHON,
}


def _roles(slices: Slices) -> Ints:
    """The role of each slice, or -1; collectives are ops, although they are annotated.

    In old versions, annotations have the category of ops.
    """
    of_category = [_ROLES.get(name, -1) for name in slices.category.values]
    role = np.array(of_category, np.int64)[slices.category.codes]
    was_op = role == Role.OP
    role[(role == Role.ANNOTATION) & _starts(slices, COLLECTIVE_WORK)] = Role.OP
    role[was_op & _starts(slices, (*OPTIMIZER, LOADER, STEP))] = Role.ANNOTATION
    return role


def _starts(slices: Slices, starts: tuple[str, ...]) -> Bools:
    """Which slices have a name that starts with one of these texts."""
    flags = np.array([name.startswith(starts) for name in slices.name.values], np.bool_)
    return flags[slices.name.codes]


class OwnTimes(NamedTuple):
    """The time of calls without that of the calls inside them.

    `first_ns` is the time from the start of each call until the first one inside it, and the other
    columns are the times after calls inside; `call` is a place in the calls.
    """

    first_ns: Ints
    call: Ints
    start_ns: Ints
    duration_ns: Ints


def own_times(host: Host, calls: Ints, is_whole: Bools) -> OwnTimes:
    """The own times of `calls`, which are rows of ops in ascending order.

    The own time of a call that `is_whole` is not divided, nor is that of one in which others
    overlap: all of it follows the start.
    """
    took = (host.end_ns - host.start_ns)[calls]
    place = np.full(len(host) + 1, -1)
    place[calls] = np.arange(len(calls))
    around = place[np.append(host.in_op, -1)[calls]]
    inner = np.flatnonzero(around >= 0)
    inner = inner[grouped(around[inner], len(calls))]
    owner, child = around[inner], calls[inner]
    start, end = host.start_ns[child], host.end_ns[child]
    is_first, is_last = np.ones((2, len(inner)), np.bool_)
    is_first[1:] = is_last[:-1] = np.diff(owner) != 0
    following = np.where(is_last, host.end_ns[calls[owner]], np.append(start[1:], 0))
    after = following - end
    first = took.copy()
    first[owner[is_first]] = (start - host.start_ns[calls[owner]])[is_first]
    inside, gaps = np.zeros((2, len(calls)), np.int64)
    np.add.at(inside, owner, end - start)
    np.add.at(gaps, owner, np.maximum(after, 0))
    own = np.maximum(took - inside, 0)
    is_single = is_whole | (first + gaps != own)
    kept = np.flatnonzero((after > 0) & ~is_single[owner])
    return OwnTimes(np.where(is_single, own, first), owner[kept], end[kept], after[kept])
