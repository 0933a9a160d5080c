"""How long hosts wait for each other in collectives, after their clocks are aligned.

A collective starts on a host when the host arrives. It ends on all hosts at about the same time,
when the last has arrived and the data is transferred. So the clocks of hosts can be aligned on the
ends, and the time until the last arrival is waiting, the rest transfer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Floats, Ints, ints
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import Collectives

# A straight line through fewer points is no estimate of how fast a clock runs.
_LEAST_FOR_RATE = 8
# How often the offsets are improved; they hardly change after that.
_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """The collectives in which at least two hosts took part.

    Rows of matrices are hosts, columns are meetings. Two runs meet if they have the same op, step
    number and order within the step.
    """

    recording: Ints  # of each row
    op: Ints  # of each column
    number: Ints  # the step number of each column
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
    numbers, code = np.unique(number, return_inverse=True)
    height, width = int(order.max(initial=0)) + 1, len(profile.ops)
    key, column = np.unique((code * width + op) * height + order, return_inverse=True)
    hosts, row = np.unique(recording, return_inverse=True)
    start, end = np.zeros((2, len(hosts), len(key)), np.int64)
    start[row, column], end[row, column] = found.start_ns[rows], found.end_ns[rows]
    took_part = np.zeros(start.shape, np.bool_)
    took_part[row, column] = True
    shared = took_part.sum(axis=0) > 1
    return Meetings(
        ints(hosts),
        ints(key[shared] // height % width),
        numbers[key[shared] // height // width],
        ints(start[:, shared]),
        ints(end[:, shared]),
        took_part[:, shared],
        int((~shared).sum()),
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
    reference = int(took_part.sum(axis=1).argmax())
    offset = np.zeros(hosts, np.int64)
    for host in range(hosts):
        both = took_part[host] & took_part[reference]
        # Differences of whole numbers: a time since 1970 has more digits than a double.
        apart = end_ns[host, both] - end_ns[reference, both]
        offset[host] = np.median(apart) if len(apart) else _first_apart(end_ns, took_part, host)
    first = int(end_ns[took_part].min())
    ends = np.where(took_part, end_ns - first - offset[:, None], 0).astype(np.float64)
    ends[~took_part] = np.nan
    for _ in range(_ROUNDS):
        ends -= _trend(ends, ends - np.nanmedian(ends, axis=0))
    residual = np.nan_to_num(ends - np.nanmedian(ends, axis=0))
    return offset - offset[0], residual


def _first_apart(end_ns: Ints, took_part: Bools, host: int) -> int:
    """The offset of a host that shares no meeting with the reference, from its first meeting."""
    shared = np.flatnonzero(took_part[host])
    if not len(shared):
        return 0
    here = took_part[:, shared[0]].copy()
    here[host] = False
    return int(end_ns[host, shared[0]] - np.median(end_ns[here, shared[0]]))


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
