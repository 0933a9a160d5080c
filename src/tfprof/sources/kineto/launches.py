"""Which call on the host launched each kernel, copy or fill, and which calls wait for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Slices
from tfprof.sources.kineto.host import Host, Role, is_accelerator, is_kernel, is_launch, of_category
from tfprof.sources.kineto.latest import latest

_LAUNCH = re.compile("Launch.*Kernel|KernelLaunch|GraphLaunch")  # also of other accelerators
_GRAPH = "GraphLaunch"
_BEGIN_CAPTURE, _END_CAPTURE = "StreamBeginCapture", "StreamEndCapture"
_SYNCHRONIZES = "Synchronize"  # `cudaStreamSynchronize`, `hipDeviceSynchronize`, …
_PAGEABLE = "Pageable"  # `Memcpy HtoD (Pageable -> Device)`


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """One row per activity of an accelerator."""

    slice: Ints
    call: Ints  # the row of `Host` that launched it, a call or else an op, or -1
    is_kernel: Bools  # not a copy or a fill
    in_graph: Bools  # launched together with others, as a graph
    is_early: Bools  # launched before the recording
    ambiguous: int  # how many have several calls, on different threads
    calls: Ints  # the calls that launch kernels or graphs, as rows of `Slices`
    is_lost: Bools  # of `calls`: launched nothing that is in the trace
    is_captured: Bools  # of `calls`: became part of a graph, and ran nothing
    is_replay: Bools  # of `calls`: launched a graph

    def __len__(self) -> int:
        return len(self.slice)

    def times(self, slices: Slices, host: Host) -> Ints:
        """When each activity was launched; when it started if the call is unknown."""
        start = slices.start_ns[self.slice]
        return np.where(self.call >= 0, np.append(host.start_ns, 0)[self.call], start)

    def origin(self, host: Host, rows: Ints) -> Ints:
        """The ops that launched these activities, or the calls if they are outside of ops.

        They are rows of `Host`, or -1 if unknown.
        """
        call = self.call[rows]
        role, in_op = np.append(host.role, -1)[call], np.append(host.in_op, -1)[call]
        return np.where((role == Role.OP) | (in_op < 0), call, in_op)


def launches(slices: Slices, host: Host, process: Ints) -> Launches:
    """Join activities and calls by correlation, which is a number of the driver.

    The numbers of different processes may collide, so an activity with several calls is only
    joined if they are on the same thread: with the last one before it. If the call is missing, the
    activity is joined with the op that it names, unless there are several processes; `process` is
    the one of each thread.
    """
    activity = np.flatnonzero(of_category(slices, is_accelerator))
    ops = host.rows(Role.OP)
    is_single = len(np.unique(process[host.thread[ops]])) == 1
    kernel = of_category(slices, is_kernel)[activity]
    row_of = host.row_of_slice(slices)
    calls = np.flatnonzero(of_category(slices, is_launch) & (slices.correlation > 0))
    calls = calls[np.lexsort((slices.thread[calls], slices.correlation[calls]))]
    number = slices.correlation[calls]
    wanted = slices.correlation[activity]
    first = np.searchsorted(number, wanted, side="left")
    last = np.searchsorted(number, wanted, side="right") - 1
    is_joined = (last >= first) & (wanted > 0)
    owner, found = np.append(slices.thread[calls], -1), np.append(calls, 0)
    safe_first, safe_last = (np.where(is_joined, place, -1) for place in (first, last))
    is_one = is_joined & (owner[safe_first] == owner[safe_last])
    before = latest((number, slices.start_ns[calls]), (wanted, slices.start_ns[activity]))
    launch = found[np.where(before >= 0, before, safe_first)]
    call = np.where(is_one, np.append(row_of, -1)[launch], -1)
    first_number = number[0] if len(number) else 0  # the driver numbers its calls in their order
    launching = calls[_is_launch(slices, calls)]
    has_nothing = ~np.isin(slices.correlation[launching], wanted)
    is_captured = _captured(slices, calls, slices.start_ns[launching])
    return Launches(
        slice=activity,
        call=np.where(is_joined | (not is_single), call, _named_op(slices, host, ops, activity)),
        is_kernel=kernel,
        ambiguous=int((is_joined & ~is_one).sum()),
        in_graph=is_one & _contains(slices, launch, _GRAPH),
        is_early=(wanted > 0) & (wanted < first_number),
        calls=launching,
        is_lost=has_nothing & ~is_captured,
        is_captured=has_nothing & is_captured,
        is_replay=_contains(slices, launching, _GRAPH),
    )


def _named_op(slices: Slices, host: Host, rows: Ints, activity: Ints) -> Ints:
    """The only op among `rows` with the external id of each activity, or -1.

    Old versions wrote the correlation instead if there was no op.
    """
    number = slices.external_id[host.slice[rows]]
    numbers, first, count = np.unique(number, return_index=True, return_counts=True)
    is_single = (count == 1) & (numbers > 0)
    numbers, rows = numbers[is_single], np.append(rows[first[is_single]], -1)
    wanted = slices.external_id[activity]
    place = np.searchsorted(numbers, wanted)
    is_known = (np.append(numbers, -1)[place] == wanted) & (wanted > 0)
    is_known &= wanted != slices.correlation[activity]
    return np.where(is_known, rows[place], -1)


def _captured(slices: Slices, calls: Ints, times: Ints) -> Bools:
    """Whether a graph was captured at each time, by any thread."""
    begins, ends = (
        slices.start_ns[calls[_contains(slices, calls, name)]]
        for name in (_BEGIN_CAPTURE, _END_CAPTURE)
    )
    moments = np.concatenate((begins, ends))
    order = np.argsort(moments, kind="stable")
    running = np.append(0, np.cumsum(np.where(order < len(begins), 1, -1)))
    running -= running.min()  # a capture that only ends began before the recording
    captured: Bools = running[np.searchsorted(moments[order], times)] > 0
    return captured


def _is_launch(slices: Slices, rows: Ints) -> Bools:
    """Which of these calls launch kernels or graphs."""
    flags = [_LAUNCH.search(name) is not None for name in slices.name.values]
    return np.array(flags, np.bool_)[slices.name.codes[rows]]


def _contains(slices: Slices, rows: Ints, text: str) -> Bools:
    """Which of these slices have a name with this text."""
    found: Bools = (slices.name.values.find(text) >= 0)[slices.name.codes[rows]]
    return found


def waiting_calls(slices: Slices, host: Host, launched: Launches) -> Ints:
    """The calls in which the host waits for an accelerator, as rows of `Host`.

    They synchronise, or copy from or to memory that is not pinned. The profiler itself synchronises
    once before it stops; that call is left out.
    """
    has_name = np.array([_SYNCHRONIZES in name for name in slices.name.values], np.bool_)
    calls = np.flatnonzero((host.slice >= 0) & (host.role < 0))
    waiting = calls[has_name[slices.name.codes[host.slice[calls]]]] if len(calls) else calls
    last_op = int(host.start_ns[host.rows(Role.OP)].max(initial=-1))
    is_late = (host.in_op[waiting] < 0) & (host.start_ns[waiting] > last_op)
    if is_late.any():
        late = waiting[is_late]
        waiting = waiting[waiting != late[np.argmax(host.start_ns[late])]]
    is_pageable = np.array([_PAGEABLE in name for name in slices.name.values], np.bool_)
    is_copy = (
        (launched.call >= 0) & (np.append(host.role, -1)[launched.call] < 0) & ~launched.is_kernel
    )
    copies, of_copies = launched.call[is_copy], slices.name.codes[launched.slice[is_copy]]
    return np.union1d(waiting, copies[is_pageable[of_copies]] if len(copies) else copies)
