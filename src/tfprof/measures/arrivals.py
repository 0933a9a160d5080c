"""How long hosts wait for each other in collectives, after their clocks are aligned.

A collective starts on a host when the host arrives. It ends on all hosts at about the same time,
when the last has arrived and the data is transferred. So the clocks of hosts can be aligned on the
ends, and the time until the last arrival is waiting, the rest transfer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Coded, Floats, Ints, distinct_rows, ints
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import Collectives

# A straight line through fewer points is no estimate of how fast a clock runs.
_LEAST_FOR_RATE = 8
# How often the offsets are improved; they hardly change after that.
_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """The collectives in which at least two hosts took part.

    Rows of matrices are hosts, columns are meetings. Two runs meet if they have the same op, group,
    step number and order within the step.
    """

    recording: Ints  # of each row
    op: Ints  # of each column
    number: Ints  # the step number of each column
    order: Ints  # of each column, within its step
    kind: Coded  # of each column, such as `allreduce`
    group: Coded  # of each column
    ranks: Ints  # how many belong to the group of each column; 0 if unknown
    bytes: Ints  # of the message of each column; 0 if unknown
    start_ns: Ints  # matrices; 0 where the host did not take part
    end_ns: Ints
    took_part: Bools
    alone: int  # runs of collectives that no other host has

    def __len__(self) -> int:
        return len(self.op)


def meetings(profile: ProfileColumns, found: Collectives, steps: Ints) -> Meetings:
    """Match the runs of collectives in these steps across recordings."""
    rows = np.flatnonzero(np.isin(found.step, steps))
    step, op, order = found.step[rows], found.op[rows], found.order[rows]
    recording, number = profile.steps.recording[step], profile.steps.number[step]
    _, code = np.unique(number, return_inverse=True)
    group, kind = found.group.take(rows), found.kind.take(rows)
    keys, column = distinct_rows((code, op, group.codes, order))
    first = np.zeros(len(keys), np.int64)
    first[column[::-1]] = np.arange(len(rows))[::-1]
    hosts, row = np.unique(recording, return_inverse=True)
    start, end = np.zeros((2, len(hosts), len(keys)), np.int64)
    start[row, column], end[row, column] = found.start_ns[rows], found.end_ns[rows]
    took_part = np.zeros(start.shape, np.bool_)
    took_part[row, column] = True
    shared = took_part.sum(axis=0) > 1
    first = first[shared]
    return Meetings(
        recording=ints(hosts),
        op=ints(op[first]),
        number=ints(number[first]),
        order=ints(order[first]),
        kind=kind.take(first),
        group=group.take(first),
        ranks=ints(found.ranks[rows[first]]),
        bytes=ints(found.bytes[rows[first]]),
        start_ns=ints(start[:, shared]),
        end_ns=ints(end[:, shared]),
        took_part=took_part[:, shared],
        alone=int((~shared).sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """How long each host waited in each meeting, and how well the clocks agree.

    Matrices as in `Meetings`; 0 where the host did not take part.
    """

    wait_ns: Floats
    transfer_ns: Floats
    last: Ints  # the row of the host that arrived last in each meeting
    offset_ns: Ints  # how far the clock of each host is ahead of that of the first
    residual_ns: float  # nine of ten ends agree this well


def waits(found: Meetings) -> Waits:
    """Align the clocks and divide the time of each collective."""
    offset, residual = _aligned(found.end_ns, found.took_part)
    # The ends of a meeting are the same moment, so arrivals are measured back from there.
    duration = (found.end_ns - found.start_ns).astype(np.float64)
    ahead = np.where(found.took_part, duration - residual, np.inf)
    latest = ahead.min(axis=0, initial=np.inf)
    wait = np.clip(ahead - latest, 0, duration)
    wait[~found.took_part] = 0
    apart = np.abs(residual[found.took_part])
    return Waits(
        wait,
        np.where(found.took_part, duration - wait, 0),
        ints(ahead.argmin(axis=0)) if len(found) else ints([]),
        ints(offset),
        float(np.percentile(apart, 90)) if len(apart) else 0.0,
    )


def _aligned(end_ns: Ints, took_part: Bools) -> tuple[Ints, Floats]:
    """The offset of each clock, and how far each end is from the median end of its meeting."""
    hosts = len(end_ns)
    if not end_ns.size:
        return np.zeros(hosts, np.int64), np.zeros(end_ns.shape)
    offset = _offsets(end_ns, took_part)
    first = int(end_ns[took_part].min())
    ends = np.where(took_part, end_ns - first - offset[:, None], 0).astype(np.float64)
    ends[~took_part] = np.nan
    for _ in range(_ROUNDS):
        ends -= _trend(ends, ends - np.nanmedian(ends, axis=0))
    residual = np.nan_to_num(ends - np.nanmedian(ends, axis=0))
    return offset - offset[0], residual


def _offsets(end_ns: Ints, took_part: Bools) -> Ints:
    """The offset of each clock, from the ends of meetings with hosts whose offset is known.

    At first that is one host, then those that met it, then those that met them. Hosts that met
    none of them start again with one of theirs.
    """
    hosts = np.arange(len(end_ns))
    offset, known = np.zeros(len(end_ns), np.int64), np.zeros(len(end_ns), np.bool_)
    while not known.all():
        met = np.flatnonzero(took_part[known].any(axis=0))
        rest = hosts[~known]
        reached = rest[took_part[np.ix_(rest, met)].any(axis=1)]
        if not len(reached):
            known[rest[took_part[rest].sum(axis=1).argmax()]] = True
            continue
        witness = (took_part[:, met] & known[:, None]).argmax(axis=0)
        ends = end_ns[witness, met] - offset[witness]
        for host in reached.tolist():
            both = took_part[host, met]
            # Differences of whole numbers: a time since 1970 has more digits than a double.
            offset[host] = np.median(end_ns[host, met[both]] - ends[both])
        known[reached] = True
    return offset


def _trend(ends: Floats, residual: Floats) -> Floats:
    """What the residuals of each host have in common: an offset, and a clock that runs faster."""
    found = np.zeros(residual.shape)
    for host, row in enumerate(residual):
        known = np.flatnonzero(~np.isnan(row))
        if not len(known):
            continue
        found[host] = np.median(row[known])
        if len(known) >= _LEAST_FOR_RATE:
            at, apart = ends[host, known], row[known] - found[host, known]
            rate = _rate(at, apart)
            found[host, known] += rate * (at - np.median(at))
    return found


def _rate(at: npt.NDArray[np.float64], apart: npt.NDArray[np.float64]) -> float:
    """The slope of a line: the median of the slopes between the first and second half."""
    order = np.argsort(at, kind="stable")
    half = len(at) // 2
    early, late = order[:half], order[-half:]
    return float(np.median((apart[late] - apart[early]) / np.maximum(at[late] - at[early], 1)))
