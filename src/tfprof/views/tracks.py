"""The tracks of recorded steps: what ran when, in lanes in which nothing overlaps.

There is a track of the steps of each recording, one of its waits for input, and one of the ops and
one of the transfers of each device. All times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from tfprof.columns import Bools, Ints, Strings, ints
from tfprof.kernels import lanes
from tfprof.measures.numbers import chosen_steps
from tfprof.measures.steps import timed_steps
from tfprof.model.profile import ProfileColumns
from tfprof.views.steps import StepTime, StepTimes
from tfprof.views.view import chosen_by

_WAITING = "waiting for the next element"
_NOTHING = -1


class TrackKind(Enum):
    """What the slices of a track are."""

    STEPS = "steps"
    WAITS = "input wait"
    OPS = "ops"
    TRANSFERS = "transfers"


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """Columns of slices, one row each."""

    step: Ints  # a row of `Steps`
    op: Ints  # -1 for slices that are not runs of ops
    name: Strings
    category: Strings  # the kind of op
    start_ns: Ints
    duration_ns: Ints

    def __len__(self) -> int:
        return len(self.step)

    def take(self, rows: Ints) -> Slices:
        """The slices of `rows`, in that order."""
        return Slices(
            self.step[rows],
            self.op[rows],
            self.name.take(rows),
            self.category.take(rows),
            self.start_ns[rows],
            self.duration_ns[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Slices in order of their starts; those in the same lane do not overlap."""

    kind: TrackKind
    recording: int  # a row of `Recordings`
    device: int  # a row of `Devices`, -1 for steps and waits
    slices: Slices
    lane: Ints

    @classmethod
    def of(cls, kind: TrackKind, recording: int, device: int, slices: Slices) -> Track:
        """The track of these slices, in as few lanes as they need."""
        # In a damaged file a run may end before it starts.
        slices = replace(slices, duration_ns=np.maximum(slices.duration_ns, 0))
        slices = slices.take(np.argsort(slices.start_ns, kind="stable"))
        start = slices.start_ns
        # A slice may start when another ends; lanes are free only after that.
        last = np.maximum(start + slices.duration_ns - 1, start)
        lane = lanes.first_free(start, last, ints([0, len(start)]))
        return cls(kind, recording, device, slices, lane)

    def where(self, flags: Bools) -> Track:
        """The track with only its flagged slices, in as few lanes as they need."""
        slices = self.slices.take(np.flatnonzero(flags))
        return Track.of(self.kind, self.recording, self.device, slices)


def build(profile: ProfileColumns, times: StepTimes) -> Iterator[Track]:
    """The tracks of the steps in `times`, recording by recording."""
    chosen = chosen_steps(profile, chosen_by(times.options))
    rows = step_rows(profile, times)
    is_chosen = np.zeros(len(profile.steps), np.bool_)
    is_chosen[chosen] = True
    for recording in np.unique(profile.steps.recording[chosen]).tolist():
        here = profile.steps.recording == recording
        places = np.flatnonzero(here[rows])
        yield _step_track(recording, rows[places], [times.steps[place] for place in places])
        yield from _wait_track(profile, recording, is_chosen & here)
        yield from _op_tracks(profile, recording, is_chosen & here)
        yield from _transfer_tracks(profile, recording, is_chosen & here)


def step_rows(profile: ProfileColumns, times: StepTimes) -> Ints:
    """The row of `Steps` that each of the measured steps is."""
    chosen = chosen_steps(profile, chosen_by(times.options))
    return np.intersect1d(chosen, timed_steps(profile))


def _step_track(recording: int, rows: Ints, steps: Sequence[StepTime]) -> Track:
    names = Strings([f"step {step.step}" for step in steps])
    start = ints([step.start_ns for step in steps])
    duration = ints([step.wall_ns for step in steps])
    slices = Slices(rows, _no_ops(rows), names, names, start, duration)
    return Track.of(TrackKind.STEPS, recording, _NOTHING, slices)


def _wait_track(profile: ProfileColumns, recording: int, here: Bools) -> Iterator[Track]:
    waits = profile.waits
    rows = np.flatnonzero(here[waits.step])
    if len(rows):
        names = Strings([_WAITING]).take(np.zeros(len(rows), np.int64))
        step, start, duration = waits.step[rows], waits.start_ns[rows], waits.duration_ns[rows]
        slices = Slices(step, _no_ops(rows), names, names, start, duration)
        yield Track.of(TrackKind.WAITS, recording, _NOTHING, slices)


def _op_tracks(profile: ProfileColumns, recording: int, here: Bools) -> Iterator[Track]:
    runs, records, ops = profile.executions, profile.records, profile.ops
    chosen = np.flatnonzero(here[records.step[runs.record]])
    for device in np.unique(runs.device[chosen]).tolist():
        rows = chosen[runs.device[chosen] == device]
        step, op = (column[runs.record[rows]] for column in (records.step, records.op))
        kind = ops.kind.values.take(ops.kind.codes[op])
        start, duration = runs.start_ns[rows], runs.duration_ns[rows]
        slices = Slices(step, op, ops.name.take(op), kind, start, duration)
        yield Track.of(TrackKind.OPS, recording, device, slices)


def _transfer_tracks(profile: ProfileColumns, recording: int, here: Bools) -> Iterator[Track]:
    copies = profile.copies
    chosen = np.flatnonzero(here[copies.step])
    for device in np.unique(copies.device[chosen]).tolist():
        rows = chosen[copies.device[chosen] == device]
        names = copies.name.values.take(copies.name.codes[rows])
        step, start, duration = copies.step[rows], copies.start_ns[rows], copies.duration_ns[rows]
        slices = Slices(step, _no_ops(rows), names, names, start, duration)
        yield Track.of(TrackKind.TRANSFERS, recording, device, slices)


def _no_ops(rows: Ints) -> Ints:
    return np.full(len(rows), _NOTHING)
