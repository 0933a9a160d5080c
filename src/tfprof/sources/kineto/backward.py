"""Finds the forward op of each backward op, by sequence number.

A backward op has the number of its forward op, and a logical number for the thread that ran it.
Several forward ops may have the same number: the latest of them made the backward op.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from tfprof.columns import Ints
from tfprof.formats.kineto.columns import Flows, Slices
from tfprof.sources.kineto.host import Host, Role
from tfprof.sources.kineto.latest import latest


def forward_ops(slices: Slices, flows: Flows, process: Ints, host: Host) -> Ints:
    """For each event of the host, the row of its forward op; -1 if it has none or it is unknown.

    `process` is the one of each thread.
    """
    rows = host.rows(Role.OP)
    sequence = slices.sequence[host.slice[rows]]
    logical = slices.forward_thread[host.slice[rows]]
    forward = rows[(sequence >= 0) & (logical == 0)]
    backward = rows[(sequence >= 0) & (logical > 0)]
    found = np.full(len(host), -1)
    if not len(forward) or not len(backward):
        return found
    thread = _thread_of(slices, flows, process, host, forward, backward)
    number = slices.sequence[host.slice]
    made = latest(
        (host.thread[forward], number[forward], host.start_ns[forward]),
        (thread, number[backward], host.start_ns[backward]),
    )
    found[backward] = np.where(made >= 0, forward[made], -1)
    return found


def _thread_of(  # noqa: PLR0917 -- columns
    slices: Slices, flows: Flows, process: Ints, host: Host, forward: Ints, backward: Ints
) -> Ints:
    """The thread on which the forward op of each of `backward` ran, or -1.

    It is a thread of the same process. If forward ops ran on several, the arrows between both tell
    which thread has which logical number.
    """
    of_process: dict[int, list[int]] = {}
    for thread in np.unique(host.thread[forward]).tolist():
        of_process.setdefault(int(process[thread]), []).append(thread)
    only = {one: found[0] for one, found in of_process.items() if len(found) == 1}
    logical = slices.forward_thread[host.slice[backward]].tolist()
    own = process[host.thread[backward]].tolist()
    # The arrow ends where the backward op starts.
    places = zip(host.thread[backward].tolist(), host.start_ns[backward].tolist(), strict=True)
    by_start = dict(zip(places, logical, strict=True))
    votes: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for end, begin in _arrows(flows, process) if len(only) < len(of_process) else ():
        number = by_start.get((int(flows.thread[end]), int(flows.time_ns[end])))
        if number is not None:
            votes[int(process[flows.thread[end]]), number][int(flows.thread[begin])] += 1
    known = {key: max(found, key=found.__getitem__) for key, found in votes.items()}
    return np.array(
        [
            only.get(one, known.get((one, number), -1))
            for one, number in zip(own, logical, strict=True)
        ],
        np.int64,
    )


def _arrows(flows: Flows, process: Ints) -> Iterator[tuple[int, int]]:
    """The end and the start of each arrow; processes number theirs independently."""
    starts, ends = np.flatnonzero(flows.is_start), np.flatnonzero(~flows.is_start)
    known, wanted = (
        (process[flows.thread[rows]], flows.id[rows], flows.time_ns[rows])
        for rows in (starts, ends)
    )
    found = latest(known, wanted)
    is_joined = found >= 0
    yield from zip(ends[is_joined].tolist(), starts[found[is_joined]].tolist(), strict=True)
