"""Wall time within a step: time in which several ops run at once counts once.

All times are in nanoseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tfprof.advisor.finding import Gain
from tfprof.columns import Bools, Ints
from tfprof.errors import MissingInputError
from tfprof.memo import remembered, remembering
from tfprof.metrics import Need
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit

_NEVER = np.iinfo(np.int64).max
_NO_STEP = "no step with times was recorded"


def require_steps(profile: ProfileColumns) -> None:
    """Raise `MissingInputError` if no step was recorded."""
    profile.require(Need.RUNS, _NO_STEP)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The runs of a step in order of their starts, including transfers between devices."""

    row: int  # of `Steps`
    number: int
    recording: str  # the label of the recording, empty if there is only one
    op: Ints  # -1 for a transfer
    copy: Ints  # a row of `Copies`, -1 for a run of an op
    device: Ints
    start: Ints
    end: Ints

    @property
    def first_start(self) -> int:
        return int(self.start[0])

    @property
    def last_end(self) -> int:
        return int(self.end.max())

    @property
    def nanos(self) -> int:
        """How long the step took, from its first start to its last end."""
        return self.last_end - self.first_start

    def covered(self, flags: Bools) -> int:
        """How long any of the flagged runs was active."""
        return covered(self.start[flags], self.end[flags])

    def alone(self, flags: Bools) -> int:
        """How long only flagged runs were active."""
        return covered(self.start, self.end) - self.covered(~flags)

    def gain(self, nanos: int) -> Gain:
        """The gain of shortening the step by `nanos`."""
        return Gain(whole_micros(nanos), whole_micros(self.nanos), Unit.MICROS, "of the step")

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


@remembered
def typical_step(profile: ProfileColumns) -> Step:
    """The step with the median duration (the shorter of two), since the first steps warm up.

    It is a single step and not an average, so that its parts add up to the whole.
    """
    first, last = _bounds(profile)
    recorded = np.flatnonzero(first < _NEVER)
    if not len(recorded):
        raise MissingInputError(f"{_NO_STEP}: give {profile.remedies[Need.RUNS]}.")
    took = last[recorded] - first[recorded]
    middle = np.argsort(took, kind="stable")[(len(recorded) - 1) // 2]
    return step_of(profile, int(recorded[middle]))


@remembering(2)  # a typical step and the one after it
def step_of(profile: ProfileColumns, row: int) -> Step:
    """The runs of a step, given its row in `Steps`."""
    runs, copies = profile.executions, profile.copies
    rows = np.flatnonzero(profile.records.step[runs.record] == row)
    copied = np.flatnonzero(copies.step == row)
    recording = profile.recordings.label[int(profile.steps.recording[row])]
    start = np.concatenate((runs.start_ns[rows], copies.start_ns[copied]))
    duration = np.concatenate((runs.duration_ns[rows], copies.duration_ns[copied]))
    order = np.argsort(start, kind="stable")
    nothing = np.full(len(rows), -1), np.full(len(copied), -1)
    return Step(
        row,
        int(profile.steps.number[row]),
        recording if len(profile.recordings) > 1 else "",
        op=np.concatenate((profile.records.op[runs.record[rows]], nothing[1]))[order],
        copy=np.concatenate((nothing[0], copied))[order],
        device=np.concatenate((runs.device[rows], copies.device[copied]))[order],
        start=start[order],
        # In a damaged file a run may end before it starts.
        end=np.maximum(start + duration, start)[order],
    )


def _bounds(profile: ProfileColumns) -> tuple[Ints, Ints]:
    """The first start and the last end of each step, including transfers."""
    runs, copies = profile.executions, profile.copies
    place = np.concatenate((profile.records.step[runs.record], copies.step))
    start = np.concatenate((runs.start_ns, copies.start_ns))
    duration = np.concatenate((runs.duration_ns, copies.duration_ns))
    first = np.full(len(profile.steps), _NEVER)
    last = np.full(len(profile.steps), np.iinfo(np.int64).min)
    np.minimum.at(first, place, start)
    np.maximum.at(last, place, np.maximum(start + duration, start))
    return first, last


def op_flags(step: Step, flags: Bools) -> Bools:
    """Which runs of a step belong to a flagged op; `flags` has one entry per op."""
    return np.append(flags, False)[step.op]


def op_nanos(step: Step, flags: Bools) -> Ints:
    """The total time of each op's flagged runs in a step; `flags` has one entry per run."""
    count = int(step.op.max(initial=-1)) + 1
    nanos = np.zeros(count, np.int64)
    np.add.at(nanos, step.op[flags], (step.end - step.start)[flags])
    return nanos


def whole_micros(nanos: int) -> int:
    """A time rounded to the nearest microsecond, as findings show it."""
    return round(nanos / NANOS_PER_MICRO)
