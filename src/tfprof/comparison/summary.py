"""What changed, before any table: the time of a step, where it went, and the totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from tfprof.comparison.causes import DiffCause, Explanation, explain
from tfprof.comparison.numbers import Number, numbers_named
from tfprof.comparison.pair import Pair
from tfprof.comparison.parts import LEAST_CHANGED, LEAST_SAME, is_steady
from tfprof.comparison.times import Steps, TimeChanges, compare_medians, is_repeated
from tfprof.measures.memory import allocator_traces
from tfprof.measures.numbers import EVERYTHING, chosen_steps, has_number, per_op, total
from tfprof.measures.repetitions import RunSteps
from tfprof.measures.step_sums import step_totals
from tfprof.measures.steps import timed_steps
from tfprof.memo import remembered
from tfprof.metrics import Need
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Chosen
from tfprof.units import Unit

# A busy machine delays the program between ops, too, so only a large part of a step is claimed.
_LEAST_IDLE = 0.4

# The times of a step that are compared: all, what is idle while waiting for input, other idle time.
_TIMES = ("wall_ns", "input_wait_ns", "other_idle_ns")

_OF_EVERY_MODEL = ("params", "float_ops")
# The totals that are compared, if either side has them.
_TOTALS = ("params", "trainable_params", "slots", "float_ops", "occurrence")


class DiffTotal(NamedTuple):
    """A number of the whole model on both sides."""

    number: Number
    before: float
    after: float

    @property
    def change(self) -> float:
        return self.after - self.before


class DiffIdle(NamedTuple):
    """The time of a median step in which no op ran, on both sides, in nanoseconds."""

    is_input_wait: bool  # whether it is waiting for input; otherwise it is the rest
    before_ns: int
    after_ns: int


@dataclass(frozen=True, slots=True)
class DiffSummary:
    """The comparison of two profiles as a whole."""

    steps: tuple[int, int]  # how many steps with times each side has
    recordings: tuple[int, int]  # of how many runs of the program these are
    step: TimeChanges | None  # one row: the wall time of a step; None if a side has no times
    pace: float | None  # how many times as long the ops take that did not change; None if unknown
    idle: DiffIdle | None  # the time without ops, if it explains the change of the step
    cause: DiffCause | None  # the part of the model that takes another time, beyond the pace
    totals: tuple[DiffTotal, ...]


def build_summary(pair: Pair, chosen: Chosen = EVERYTHING) -> DiffSummary:
    """Compare two profiles as a whole, in the chosen steps and recordings."""
    return _summary(pair, chosen)


@remembered
def _summary(pair: Pair, chosen: Chosen) -> DiffSummary:
    totals = [_step_times(side, chosen) for side in (pair.base, pair.new)]
    walls = [side["wall_ns"] for side in totals]
    step, found, idle = None, Explanation(None, None, 0.0), None
    if all(len(wall.run) for wall in walls):
        step = compare_medians(*walls)
        if step.is_conclusive:
            found = explain(pair, chosen)
            repeated = is_repeated(*walls)
            if repeated or (found.pace is not None and is_steady(found.pace)):
                idle = _idle(totals, step, repeated=repeated)
            is_explained = repeated or idle is not None or _is_beyond(step, found)
            step = step._replace(is_shown=step.is_shown & is_explained)
    steps = len(walls[0].run), len(walls[1].run)
    recordings = walls[0].runs, walls[1].runs
    numbers = tuple(_totals(pair, chosen))
    return DiffSummary(steps, recordings, step, found.pace, idle, found.cause, numbers)


def _idle(
    sides: Sequence[Mapping[str, Steps]], step: TimeChanges, *, repeated: bool
) -> DiffIdle | None:
    """The kind of idle time that has most of the change of a step."""
    for is_input_wait, likely in ((True, LEAST_SAME), (False, _LEAST_IDLE)):
        kind = "input_wait_ns" if is_input_wait else "other_idle_ns"
        least = LEAST_CHANGED if repeated else likely
        found = compare_medians(*(side[kind] for side in sides))
        change = float(found.change[0])
        is_most = change * step.change[0] > 0 and 2 * abs(change) >= abs(step.change[0])
        whole = float(max(step.before[0], step.after[0]))
        if found.is_shown[0] and is_most and abs(change) >= least * whole:
            before, after = (round(float(side[0])) for side in (found.before, found.after))
            return DiffIdle(is_input_wait, before, after)
    return None


def _is_beyond(step: TimeChanges, found: Explanation) -> bool:
    """Whether ops explain the change of a step, and the machine less than half."""
    before, after = float(step.before[0]), float(step.after[0])
    if found.pace is None or not before or not after:
        return True
    least = max(abs(after - before) / 2, LEAST_SAME * max(before, after))
    is_in_ops = found.beyond_ns * (after - before) > 0 and abs(found.beyond_ns) >= least
    return (found.cause is not None or is_in_ops) and not pace_explains(found.pace, step)


def pace_explains(pace: float, step: TimeChanges) -> bool:
    """Whether more than half of the change of a step is that all ops take longer, or shorter."""
    change = log(float(step.after[0]) / float(step.before[0]))
    return change * log(pace) > 0 and 2 * abs(log(pace)) > abs(change)


def _step_times(profile: ProfileColumns, chosen: Chosen) -> dict[str, Steps]:
    """The times of the chosen steps, in nanoseconds."""
    if not profile.has(Need.RUNS) or not len(timed_steps(profile)):
        return {name: Steps.of_one_run(np.zeros((1, 0))) for name in _TIMES}
    totals = step_totals(profile)
    rows = np.isin(totals.step, chosen_steps(profile, chosen))
    steps = RunSteps.of(profile, totals.step[rows])
    waits = totals.idle_input_wait_ns
    columns = (totals.wall_ns, waits, totals.wall_ns - totals.busy_ns - waits)
    return {
        name: Steps(steps.means(column[rows])[None], steps.run)
        for name, column in zip(_TIMES, columns, strict=True)
    }


def _totals(pair: Pair, chosen: Chosen) -> Iterator[DiffTotal]:
    sides = [per_op(side, chosen) for side in (pair.base, pair.new)]
    ran = all(side.has(Need.RUNS) for side in (pair.base, pair.new))
    for number in numbers_named(_TOTALS):
        if (number.key == "runs" and not ran) or _is_one_sided(pair, number):
            continue
        before, after = (total(side, chosen, number.key) for side in (pair.base, pair.new))
        is_all = number.key == "trainable_params" and all(
            bool((side["trainable_params"] == side["params"]).all()) for side in sides
        )
        if (before or after) and not is_all:
            yield DiffTotal(number, before, after)
    peaks = [_peak(side) for side in (pair.base, pair.new)]
    if peaks[0] is not None and peaks[1] is not None:
        number = Number("peak_bytes", "peak_bytes", "memory peak", Unit.BYTES, is_time=False)
        yield DiffTotal(number, peaks[0], peaks[1])


def _is_one_sided(pair: Pair, number: Number) -> bool:
    """Whether one side lacks a number that every model has, so that its files do not contain it."""
    sides = (pair.base, pair.new)
    return number.key in _OF_EVERY_MODEL and not all(has_number(side, number.key) for side in sides)


def _peak(profile: ProfileColumns) -> int | None:
    """The most memory that any allocator held at one time; None if it was not recorded."""
    return max((trace.peak_bytes for trace in allocator_traces(profile)), default=None)
