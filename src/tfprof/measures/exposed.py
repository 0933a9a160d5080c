"""When only collectives ran, and for how long the hosts only waited for each other.

On an accelerator nothing else computes meanwhile, otherwise no other op runs on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, ints, joined
from tfprof.measures import arrivals
from tfprof.measures.collectives import collectives, is_collective_run
from tfprof.measures.device_timeline import covered_within, uncovered
from tfprof.measures.device_windows import device_windows, main_window, timelines, together
from tfprof.measures.steps import step_of, timed_steps
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import ExposedTimes, Window
from tfprof.units import format_nanos

# Clocks must agree better than this share of a step, or arrivals cannot be compared.
_CLOCKS = 0.02


@remembered
def exposed_times(profile: ProfileColumns) -> ExposedTimes:
    """The stretches of all steps with recorded times."""
    if profile.stored_runs is not None:
        return profile.stored_runs.exposed_times
    found = [*_of_accelerators(profile), *_of_hosts(profile)]
    step = np.repeat([row for row, _, _ in found], [len(start) for _, start, _ in found])
    start = joined([start for _, start, _ in found])
    order = np.lexsort((start, step))
    end = joined([end for _, _, end in found])
    return ExposedTimes(*(ints(column.astype(np.int64)[order]) for column in (step, start, end)))


def _of_accelerators(profile: ProfileColumns) -> Iterator[tuple[int, Ints, Ints]]:
    """The stretches in each step on the accelerators of a recording, all of them together."""
    windows = device_windows(profile)
    rows = main_window(windows, Window.OWN)
    recording = profile.steps.recording[windows.step[rows]]
    for one, works in together(profile).items():
        row_of = {int(windows.step[row]): row for row in rows[recording == one].tolist()}
        for steps, found in timelines(profile, works, ints(list(row_of))):
            start, end = found.exposed
            for step in steps.tolist():
                begin = int(windows.begin_ns[row_of[step]])
                finish = int(windows.finish_ns[row_of[step]])
                first = int(np.searchsorted(end, begin, side="right"))
                last = int(np.searchsorted(start, finish, side="left"))
                if first < last:
                    here = slice(first, last)
                    starts = np.clip(start[here], begin, finish)
                    yield step, starts, np.clip(end[here], begin, finish)


def _of_hosts(profile: ProfileColumns) -> Iterator[tuple[int, Ints, Ints]]:
    """The stretches in each step of the recordings without accelerators."""
    is_shared = np.append(is_collective_run(profile), False)
    known = together(profile)
    for row in timed_steps(profile).tolist():
        if int(profile.steps.recording[row]) not in known:
            step = step_of(profile, row)
            shared = is_shared[step.run]
            if shared.any():
                start, end = step.within
                others = start[~shared], end[~shared]
                yield row, *uncovered((start[shared], end[shared]), others)


@dataclass(frozen=True, slots=True, eq=False)
class RankWaits:
    """Who waited for whom in collectives, as far as that is known."""

    met: arrivals.Meetings
    waits: arrivals.Waits | None
    doubts: tuple[str, ...]  # what is not known, and why
    step: Ints  # rows of `Steps`, ascending
    waiting_ns: Ints  # of each of them: the exposed time until the last host arrived


def rank_waits(profile: ProfileColumns, steps: Ints, usual_ns: float) -> RankWaits:
    """Who waited for whom in these steps, which take about `usual_ns`."""
    met = arrivals.meetings(profile, collectives(profile), steps)
    nothing = ints([])
    if not len(met):
        doubts: tuple[str, ...] = ()
        if met.alone and len(np.unique(profile.steps.recording[steps])) > 1:
            reason = "no two recordings ran the same one in a step of the same number."
            doubts = (f"{_WHAT}: {reason}",)
        return RankWaits(met, None, doubts, nothing, nothing)
    found = arrivals.waits(met)
    if found.residual_ns > _CLOCKS * usual_ns:
        apart = format_nanos(round(found.residual_ns))
        reason = (
            f"the ends of a collective differ by {apart} between hosts, even with their clocks "
            f"aligned. They may leave it at different times (as with gloo), have clocks that "
            "drift, or take part in different ones."
        )
        return RankWaits(met, None, (f"{_WHAT}: {reason}",), nothing, nothing)
    return RankWaits(met, found, tuple(_unequal(profile, met)), *_waiting(profile, met, found))


_WHAT = "waiting in collectives"


def _unequal(profile: ProfileColumns, met: arrivals.Meetings) -> Iterator[str]:
    counts = met.took_part.sum(axis=1)
    if counts.min() < counts.max() or met.alone:
        few = profile.recordings.label[int(met.recording[counts.argmin()])]
        yield (
            f"{_WHAT}: hosts have unequal numbers of collectives (from {counts.min():,} in {few} "
            f"to {counts.max():,}); only those that several hosts have are compared."
        )


def _waiting(
    profile: ProfileColumns, met: arrivals.Meetings, found: arrivals.Waits
) -> tuple[Ints, Ints]:
    """The steps of the hosts that met, and how long each only waited."""
    exposed = exposed_times(profile)
    recording = profile.steps.recording[exposed.step]
    steps = np.flatnonzero(np.isin(profile.steps.recording, met.recording))
    nanos = np.zeros(len(profile.steps), np.int64)
    for row, one in enumerate(met.recording.tolist()):
        took_part = met.took_part[row]
        start = met.start_ns[row, took_part]
        wait = np.rint(found.wait_ns[row, took_part]).astype(np.int64)
        here = np.flatnonzero(recording == one)
        waited = covered_within(start, start + wait, exposed.start_ns[here], exposed.end_ns[here])
        np.add.at(nanos, exposed.step[here], waited)
    return ints(steps), ints(nanos[steps])
