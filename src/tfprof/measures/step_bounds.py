"""When each step begins and ends, and which runs belong to it; `measures.steps` defines a step."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, Ragged, ints, offsets_of
from tfprof.memo import remembered
from tfprof.model.clock import NO_TIME
from tfprof.model.profile import ProfileColumns

_NEVER = np.iinfo(np.int64).max


def timed_steps(profile: ProfileColumns) -> Ints:
    """The rows of the steps with recorded times."""
    if profile.stored_runs is not None:
        return profile.stored_runs.step_totals.step
    return np.flatnonzero(bounds(profile)[0] < _NEVER)


def durations(profile: ProfileColumns) -> tuple[Ints, Ints, Ints]:
    """The rows of the steps with recorded times, when each began, and how long it took."""
    if profile.stored_runs is not None:
        totals = profile.stored_runs.step_totals
        return totals.step, totals.start_ns, totals.wall_ns
    rows, (begin, finish) = timed_steps(profile), bounds(profile)
    return rows, begin[rows], finish[rows] - begin[rows]


@remembered
def rows_of_steps(profile: ProfileColumns) -> tuple[Ragged, Ragged, Ragged]:
    """For each step, its rows in `Executions`, without iterators, and in `Copies` and `Waits`."""
    count = len(profile.steps)
    step = profile.records.step[profile.executions.record]
    kept = np.flatnonzero(~profile.ops.is_iterator()[profile.records.op[profile.executions.record]])
    return (
        _by_step(step[kept], kept, count),
        _by_step(profile.copies.step, np.arange(len(profile.copies)), count),
        _by_step(profile.waits.step, np.arange(len(profile.waits)), count),
    )


def _by_step(step: Ints, rows: Ints, count: int) -> Ragged:
    order = np.argsort(step, kind="stable")
    return Ragged(offsets_of(np.bincount(step, minlength=count)), rows[order])


@remembered
def bounds(profile: ProfileColumns) -> tuple[Ints, Ints]:
    """The begin and end of each step; `_NEVER` if no time was recorded."""
    runs, copies, steps = profile.executions, profile.copies, profile.steps
    rows = rows_of_steps(profile)[0]
    place = np.concatenate((rows.owners, copies.step))
    start = np.concatenate((runs.start_ns[rows.values], copies.start_ns))
    duration = np.concatenate((runs.duration_ns[rows.values], copies.duration_ns))
    first = np.where(steps.start_ns == NO_TIME, _NEVER, steps.start_ns)
    last = np.full(len(steps), np.iinfo(np.int64).min)
    np.minimum.at(first, place, start)
    np.maximum.at(last, place, np.maximum(start + duration, start))
    return ints(first), ints(np.where(steps.end_ns == NO_TIME, last, steps.end_ns))
