"""Finds the forward op of each backward op, by sequence number.

A backward op has the number of its forward op, and a logical number for the thread that ran it.
Several forward ops may have the same number: the latest of them made the backward op.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints
from tfprof.formats.kineto.columns import Flows, Slices
from tfprof.sources.kineto.host import Host, Role


def forward_ops(slices: Slices, flows: Flows, host: Host) -> Ints:
    """For each event of the host, the row of its forward op; -1 if it has none or it is unknown."""
    rows = host.rows(Role.OP)
    sequence = slices.sequence[host.slice[rows]]
    logical = slices.forward_thread[host.slice[rows]]
    forward = rows[(sequence >= 0) & (logical == 0)]
    backward = rows[(sequence >= 0) & (logical > 0)]
    found = np.full(len(host), -1)
    if not len(forward) or not len(backward):
        return found
    thread = _thread_of(slices, flows, host, forward, backward)
    number = slices.sequence[host.slice]
    made = _latest(
        (host.thread[forward], number[forward], host.start_ns[forward]),
        (thread, number[backward], host.start_ns[backward]),
    )
    found[backward] = np.where(made >= 0, forward[made], -1)
    return found


def _latest(known: tuple[Ints, Ints, Ints], wanted: tuple[Ints, Ints, Ints]) -> Ints:
    """For each wanted thread, number and time, the last known row with both before the time."""
    count = len(known[0])
    thread, number, time = (np.concatenate(pair) for pair in zip(known, wanted, strict=True))
    is_wanted = np.arange(len(thread)) >= count
    order = np.lexsort((is_wanted, time, number, thread))
    last = np.maximum.accumulate(np.where(is_wanted[order], -1, np.arange(len(order))))
    row = order[np.maximum(last, 0)]
    is_same = (last >= 0) & (thread[row] == thread[order]) & (number[row] == number[order])
    found = np.empty(len(order), np.int64)
    found[order] = np.where(is_same, row, -1)
    return found[count:]


def _thread_of(slices: Slices, flows: Flows, host: Host, forward: Ints, backward: Ints) -> Ints:
    """The thread on which the forward op of each of `backward` ran, or -1.

    If forward ops ran on several threads, the arrows between both tell which thread has which
    logical number.
    """
    threads = np.unique(host.thread[forward])
    logical = slices.forward_thread[host.slice[backward]]
    if len(threads) == 1:
        return np.full(len(backward), int(threads[0]))
    starts = np.flatnonzero(flows.is_start)
    starts = starts[np.argsort(flows.id[starts], kind="stable")]
    ends = np.flatnonzero(~flows.is_start)
    place = np.searchsorted(flows.id[starts], flows.id[ends])
    is_joined = place < len(starts)
    ends, start = ends[is_joined], starts[place[is_joined]]
    is_joined = flows.id[start] == flows.id[ends]
    ends, start = ends[is_joined], start[is_joined]
    # The arrow ends where the backward op starts.
    by_start = {
        (thread, time): number
        for thread, time, number in zip(
            host.thread[backward].tolist(),
            host.start_ns[backward].tolist(),
            logical.tolist(),
            strict=True,
        )
    }
    votes: dict[int, dict[int, int]] = {}
    for end, begin in zip(ends.tolist(), start.tolist(), strict=True):
        number = by_start.get((int(flows.thread[end]), int(flows.time_ns[end])))
        if number is not None:
            of_number = votes.setdefault(number, {})
            thread = int(flows.thread[begin])
            of_number[thread] = of_number.get(thread, 0) + 1
    known = {number: max(found, key=found.__getitem__) for number, found in votes.items()}
    return np.array([known.get(number, -1) for number in logical.tolist()], np.int64)
