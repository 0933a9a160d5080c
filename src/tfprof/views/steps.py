"""The time of each recorded step: wall, busy, idle and waiting for input, and unusual steps.

All times are nanoseconds. `measures/steps.py` defines when a step begins and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.measures.accelerators import AcceleratorTime, accelerator_times
from tfprof.measures.numbers import chosen_steps, require_steps
from tfprof.measures.run_sums import run_sums
from tfprof.measures.step_sums import BUSY_PARTS, device_times, step_totals
from tfprof.measures.steps import require_steps as require_any_step
from tfprof.measures.steps import step_of, timed_steps
from tfprof.memo import remembered
from tfprof.model.clock import NO_TIME
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import StepTotals
from tfprof.options import StepOptions
from tfprof.units import format_nanos
from tfprof.views.view import chosen_by

# With fewer steps there is no usual one.
_LEAST_STEPS = 4
# A step is unusual if it differs from the median by more than three standard deviations, which
# the median deviation estimates for a normal distribution, and by at least a tenth.
_DEVIATIONS = 3 * 1.4826
_LEAST_SHARE = 0.1
# A cause must explain at least this share of the difference.
_LEAST_CAUSE = 0.2
_MOST_OPS = 2


@dataclass(frozen=True, slots=True)
class StepTime:
    """The time of one step.

    `wall_ns` is `busy_ns`, in which at least one op or transfer ran, and `idle_ns`. `op_time_ns`
    adds up all ops. It is the time in which at least one op ran, plus `parallel_ns` if several ran
    at once, plus `pipeline_ns` of iterators of the input pipeline, plus `outside_ns`.

    `phases` divides the wall time into parts that add up to it: the busy time by the phase of the
    ops (`forward`, `backward`, `optimizer`, `input`, `other`, `communication`) and `transfers`, and
    the idle time into `idle_input_wait` and `idle_other`. While several runs are active, each gets
    an equal share of the time. The sums of the first parts are rounded, so every part is at most
    1 ns from its exact value.
    """

    recording: str
    step: int
    start_ns: int
    wall_ns: int
    busy_ns: int
    idle_ns: int
    input_wait_ns: int  # waiting for the next input, also while ops ran
    idle_input_wait_ns: int  # the part of it in which no op ran
    phases: Mapping[str, int]  # parts of the wall time, which add up to it
    devices: Mapping[str, int]  # how long each device was busy
    ops: int  # runs of ops, without iterators
    kernels: int  # runs on accelerators
    op_time_ns: int
    parallel_ns: int
    pipeline_ns: int
    outside_ns: int  # of runs that belong to the step but lasted longer than it
    early_ns: int  # how long ops ran before the program began the first recorded step


@dataclass(frozen=True, slots=True)
class UnusualStep:
    """A step that took clearly longer or shorter than the median, and what was different."""

    step: int
    wall_ns: int
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepSummary:
    """The usual step of a recording, and the unusual ones."""

    recording: str
    steps: int
    median_step: int  # the step whose wall time is the median; the shorter of two
    median_ns: int
    p10_ns: int
    p90_ns: int
    unusual: tuple[UnusualStep, ...]
    accelerators: tuple[AcceleratorTime, ...]  # in the median step; empty if runs are not stored


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The answer: the chosen steps in order, and a summary of each recording."""

    options: StepOptions
    steps: tuple[StepTime, ...]
    summaries: tuple[StepSummary, ...]
    notes: tuple[str, ...]

    def median_step(self, summary: StepSummary) -> StepTime:
        """The step whose wall time is the median of a recording."""
        wanted = summary.recording, summary.median_step
        return next(step for step in self.steps if (step.recording, step.step) == wanted)


# The facts about a step that are columns of its totals.
_COPIED = sorted({one.name for one in fields(StepTime)} & {one.name for one in fields(StepTotals)})
_COPIED.remove("step")  # a number in one, a row in the other


def build(profile: ProfileColumns, options: StepOptions) -> StepTimes:
    """Measure the chosen steps."""
    require_any_step(profile)
    chosen = chosen_by(options)
    require_steps(profile, chosen, "shows all steps")
    rows = np.intersect1d(chosen_steps(profile, chosen), timed_steps(profile))
    totals = step_totals(profile)
    places = np.flatnonzero(np.isin(totals.step, rows)).tolist()
    measured = {int(totals.step[place]): _measured(profile, totals, place) for place in places}
    recordings = profile.steps.recording[rows]
    summaries = [
        _summary(profile, {row: measured[row] for row in rows[recordings == one].tolist()})
        for one in np.unique(recordings).tolist()
    ]
    return StepTimes(
        options, tuple(measured.values()), tuple(summaries), tuple(_notes(profile, rows))
    )


def _measured(profile: ProfileColumns, totals: StepTotals, place: int) -> StepTime:
    """The step in a row of the totals."""
    row = int(totals.step[place])
    found = {name: int(getattr(totals, name)[place]) for name in _COPIED}
    wall, busy, waited = (found[name] for name in ("wall_ns", "busy_ns", "idle_input_wait_ns"))
    phases = {name: int(getattr(totals, part)[place]) for name, part in BUSY_PARTS.items()}
    idle = {"idle_input_wait": waited, "idle_other": wall - busy - waited}
    return StepTime(
        recording=profile.recordings.label[int(profile.steps.recording[row])],
        step=int(profile.steps.number[row]),
        idle_ns=wall - busy,
        phases=phases | idle,
        devices=_busy_devices(profile)[row],
        **found,
    )


@remembered
def _busy_devices(profile: ProfileColumns) -> dict[int, dict[str, int]]:
    """How long each device was busy, by step."""
    times = device_times(profile)
    found: dict[int, dict[str, int]] = {row: {} for row in step_totals(profile).step.tolist()}
    for row, step in enumerate(times.step.tolist()):
        found[step][times.device[row]] = int(times.busy_ns[row])
    return found


def _summary(profile: ProfileColumns, measured: Mapping[int, StepTime]) -> StepSummary:
    steps = list(measured.values())
    walls = np.array([step.wall_ns for step in steps])
    low, median, high = (
        int(np.percentile(walls, share, method="inverted_cdf")) for share in (10, 50, 90)
    )
    middle = int(np.argsort(walls, kind="stable")[(len(walls) - 1) // 2])
    has_runs = profile.stored_runs is None
    row = list(measured)[middle]
    return StepSummary(
        recording=steps[0].recording,
        steps=len(steps),
        median_step=steps[middle].step,
        median_ns=median,
        p10_ns=low,
        p90_ns=high,
        unusual=tuple(_unusual(profile, measured, walls, median)),
        accelerators=tuple(accelerator_times(profile, step_of(profile, row)) if has_runs else ()),
    )


def _unusual(
    profile: ProfileColumns, measured: Mapping[int, StepTime], walls: Ints, median: int
) -> Iterator[UnusualStep]:
    if len(walls) < _LEAST_STEPS:
        return
    away = np.abs(walls - median)
    limit = max(_DEVIATIONS * float(np.median(away)), _LEAST_SHARE * median)
    for row, distance in zip(measured, away.tolist(), strict=True):
        if distance > limit:
            step = measured[row]
            causes = tuple(_causes(profile, row, step, list(measured.values())))
            yield UnusualStep(step.step, step.wall_ns, causes)


def _causes(
    profile: ProfileColumns, row: int, step: StepTime, others: Sequence[StepTime]
) -> Iterator[str]:
    """What was different in a step, the largest difference first."""
    parts = {
        "waiting for input": [one.idle_input_wait_ns for one in others],
        "idle for other reasons, such as Python or tracing a function": [
            one.idle_ns - one.idle_input_wait_ns for one in others
        ],
        "running ops": [one.busy_ns for one in others],
    }
    place = others.index(step)
    usual = {name: int(np.median(column)) for name, column in parts.items()}
    more = {name: column[place] - usual[name] for name, column in parts.items()}
    whole = step.wall_ns - sum(usual.values())
    for name in sorted(more, key=lambda name: -abs(more[name])):
        if more[name] * whole > 0 and abs(more[name]) >= _LEAST_CAUSE * abs(whole):
            sign = "more" if more[name] > 0 else "less"
            ops = _unusual_ops(profile, row) if name == "running ops" and more[name] > 0 else ""
            yield f"{format_nanos(abs(more[name]))} {sign} {name}{ops}"
    if step.early_ns >= _LEAST_CAUSE * abs(whole):
        yield f"{format_nanos(step.early_ns)} before the program began the step"


def _unusual_ops(profile: ProfileColumns, row: int) -> str:
    """The ops that took the most time beyond their average over the other steps."""
    steps, runs = profile.steps, run_sums(profile)
    others = np.flatnonzero(steps.recording == steps.recording[row])
    others = others[others != row]
    usual = runs.totals("nanos", others) // max(len(others), 1)
    excess = runs.totals("nanos", ints([row])) - usual
    excess[profile.ops.is_iterator()] = 0
    largest = np.argsort(-excess, kind="stable")[:_MOST_OPS].tolist()
    names = [profile.ops.name[op] for op in largest if excess[op] > 0]
    return f", mostly {' and '.join(names)}" if names else ""


def _notes(profile: ProfileColumns, rows: Ints) -> Iterator[str]:
    steps = profile.steps
    untimed = sorted(set(range(len(steps))) - set(timed_steps(profile).tolist()))
    if untimed:
        numbers = ", ".join(map(str, steps.number[untimed].tolist()))
        yield f"no times were recorded for step {numbers}."
    for recording in np.unique(steps.recording[rows]).tolist():
        if not profile.recordings.counts_whole_micros[recording]:
            yield from _unmarked(profile, recording, rows[steps.recording[rows] == recording])
    if profile.lacks_accelerator_time:
        yield "the time of accelerators was not recorded: busy time is that of the hosts."


# How a program of TensorFlow marks its steps. For PyTorch, the note on the trace says it.
_MARKING = (
    " Call a tf.function per step, or mark steps with "
    'tf.profiler.experimental.Trace("train", step_num=…, _r=1).'
)


def _unmarked(profile: ProfileColumns, recording: int, rows: Ints) -> Iterator[str]:
    """Notes on steps of a recording whose start was not recorded."""
    steps, label = profile.steps, profile.recordings.label[recording]
    unmarked = rows[steps.start_ns[rows] == NO_TIME]
    if len(unmarked) and bool((steps.start_ns[steps.recording == recording] == NO_TIME).all()):
        is_torch = profile.recordings.framework[recording] == "pytorch"
        yield (
            f"{label} has no step markers: its steps last from their first op to their last."
            f"{'' if is_torch else _MARKING}"
        )
    elif len(unmarked):
        numbers = ", ".join(map(str, steps.number[unmarked].tolist()))
        yield (
            f"{label}: step {numbers} was marked more than once and lasts from its first op to "
            "its last. Give each step its own number."
        )
