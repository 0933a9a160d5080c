"""Wall time within a step: time in which several ops run at once counts once.

A step lasts from the time at which the program began it until it began the next one. If these
times were not recorded, it lasts from the first start to the last end of its runs. Runs before the
first recorded step belong to that step and extend it. All times are in nanoseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Ints
from tfprof.errors import MissingInputError
from tfprof.measures.step_bounds import bounds, rows_of_steps
from tfprof.measures.step_bounds import timed_steps as timed_steps  # noqa: PLC0414 -- re-exported
from tfprof.measures.warm_up import warm_up_steps
from tfprof.memo import remembered, remembering
from tfprof.metrics import Need
from tfprof.model.ops import DATA_SCOPE, Phase
from tfprof.model.profile import ProfileColumns

_NO_STEP = "no step with times was recorded"


def require_steps(profile: ProfileColumns) -> None:
    """Raise `MissingInputError` if no step was recorded."""
    profile.require(Need.RUNS, _NO_STEP)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The runs of a step in order of their starts, including transfers between devices.

    Iterators of the input pipeline are left out, because their time includes waiting.
    """

    row: int  # of `Steps`
    number: int
    recording: str  # the label of the recording, empty if there is only one
    begin: int
    finish: int
    op: Ints  # -1 for a transfer
    run: Ints  # a row of `Executions`, -1 for a transfer
    copy: Ints  # a row of `Copies`, -1 for a run of an op
    device: Ints
    start: Ints
    end: Ints
    wait_start: Ints  # of the waits for input
    wait_end: Ints

    @property
    def nanos(self) -> int:
        """How long the step took."""
        return self.finish - self.begin

    @property
    def within(self) -> tuple[Ints, Ints]:
        """The starts and ends of the runs, as far as they are within the step."""
        return (
            np.clip(self.start, self.begin, self.finish),
            np.clip(self.end, self.begin, self.finish),
        )

    def covered(self, flags: Bools) -> int:
        """How long any of the flagged runs was active."""
        return covered(self.start[flags], self.end[flags])

    def alone(self, flags: Bools) -> int:
        """How long only flagged runs were active."""
        return covered(self.start, self.end) - self.covered(~flags)

    @property
    def option(self) -> tuple[str, ...]:
        """The options with which a view shows only this step."""
        # A negative `-step` means the average, so a step with a negative number cannot be chosen.
        step = ("-step", str(self.number)) if self.number >= 0 else ()
        return (*step, "-recording", re.escape(self.recording)) if self.recording else step

    @property
    def title(self) -> str:
        """The name of the step in a sentence."""
        return f"step {self.number}" + (f" of {self.recording}" if self.recording else "")


def covered(start: Ints, end: Ints) -> int:
    """The total time covered by these intervals, sorted by start."""
    if not len(start):
        return 0
    reach = np.maximum.accumulate(end)
    gaps = np.maximum(start[1:] - reach[:-1], 0)
    return int(reach[-1]) - int(start[0]) - int(gaps.sum())


def covered_together(*intervals: tuple[Ints, Ints]) -> int:
    """The total time covered by any of these intervals, given as columns of starts and ends."""
    start, end = (np.concatenate(columns) for columns in zip(*intervals, strict=True))
    order = np.argsort(start, kind="stable")
    return covered(start[order], end[order])


def shares(start: Ints, end: Ints) -> npt.NDArray[np.float64]:
    """The time of each interval, where an instant is divided equally among those that cover it.

    They add up to the time covered by any of them, except for the precision of doubles.
    """
    times = np.concatenate((start, end))
    order = np.argsort(times, kind="stable")  # an empty interval starts before it ends
    active = np.cumsum(np.where(order < len(start), 1, -1))[:-1]
    each = np.diff(times[order]) / np.maximum(active, 1)
    passed = np.zeros(len(times))
    passed[order[1:]] = np.cumsum(np.where(active > 0, each, 0.0))
    return passed[len(start) :] - passed[: len(start)]


def rounded_parts(parts: npt.NDArray[np.float64], whole: int) -> Ints:
    """The parts as integers that add up to `whole`, each at most 1 from its exact value.

    The sums of the first parts are rounded, not the parts: so no rounding error accumulates.
    """
    ends = np.minimum(np.minimum(np.rint(np.cumsum(parts)), whole).astype(np.int64), whole)
    return np.diff(np.append(ends[:-1], whole), prepend=0)


@remembered
def typical_step(profile: ProfileColumns) -> Step:
    """The step with the median duration (the shorter of two), of those after warm-up.

    It is a single step and not an average, so that its parts add up to the whole.
    """
    recorded = np.setdiff1d(timed_steps(profile), warm_up_steps(profile))
    if not len(recorded):
        raise MissingInputError(f"{_NO_STEP}: give {profile.remedies[Need.RUNS]}.")
    begin, finish = bounds(profile)
    took = finish[recorded] - begin[recorded]
    middle = np.argsort(took, kind="stable")[(len(recorded) - 1) // 2]
    return step_of(profile, int(recorded[middle]))


@remembering(2)  # a typical step and the one after it
def step_of(profile: ProfileColumns, row: int) -> Step:
    """The runs of a step, given its row in `Steps`."""
    runs, copies, waits = profile.executions, profile.copies, profile.waits
    rows, copied, waited = (rows_of[row] for rows_of in rows_of_steps(profile))
    recording = profile.recordings.label[int(profile.steps.recording[row])]
    start = np.concatenate((runs.start_ns[rows], copies.start_ns[copied]))
    duration = np.concatenate((runs.duration_ns[rows], copies.duration_ns[copied]))
    order = np.argsort(start, kind="stable")
    nothing = np.full(len(rows), -1), np.full(len(copied), -1)
    begin, finish = (int(bound[row]) for bound in bounds(profile))
    return Step(
        row,
        int(profile.steps.number[row]),
        recording if len(profile.recordings) > 1 else "",
        begin=begin,
        finish=finish,
        op=np.concatenate((profile.records.op[runs.record[rows]], nothing[1]))[order],
        run=np.concatenate((rows, nothing[1]))[order],
        copy=np.concatenate((nothing[0], copied))[order],
        device=np.concatenate((runs.device[rows], copies.device[copied]))[order],
        start=start[order],
        # In a damaged file a run may end before it starts.
        end=np.maximum(start + duration, start)[order],
        wait_start=waits.start_ns[waited],
        wait_end=waits.start_ns[waited] + waits.duration_ns[waited],
    )


def on_lanes(profile: ProfileColumns, step: Step) -> Bools:
    """Which runs of a step are kernels on accelerators."""
    return np.append(profile.devices.is_accelerator_lane, False)[step.device] & (step.op >= 0)


@remembered
def input_feeds(profile: ProfileColumns) -> Bools:
    """For each op, whether it fetches data, so that the step waits for it."""
    is_input: Bools = profile.phase == Phase.INPUT
    return is_input & ~profile.ops.name.starts_with(f"{DATA_SCOPE}/")


def op_flags(step: Step, flags: Bools) -> Bools:
    """Which runs of a step belong to a flagged op; `flags` has one entry per op."""
    return np.append(flags, False)[step.op]


def op_nanos(step: Step, flags: Bools) -> Ints:
    """The total time of each op's flagged runs in a step; `flags` has one entry per run."""
    count = int(step.op.max(initial=-1)) + 1
    nanos = np.zeros(count, np.int64)
    np.add.at(nanos, step.op[flags], (step.end - step.start)[flags])
    return nanos
