"""The time of each recorded step: wall, busy, idle and waiting for input, and unusual steps.

All times are nanoseconds. `measures/steps.py` defines when a step begins and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.measures.device_timeline import COMPUTING, IDLE, UNASSIGNED
from tfprof.measures.device_windows import device_windows, device_work
from tfprof.measures.exposed import rank_waits
from tfprof.measures.numbers import chosen_steps, require_steps
from tfprof.measures.run_sums import run_sums
from tfprof.measures.step_sums import BUSY_PARTS, device_times, step_nanos, step_totals
from tfprof.measures.steps import require_steps as require_any_step
from tfprof.measures.steps import timed_steps
from tfprof.measures.warm_up import notes as warm_up_notes
from tfprof.measures.warm_up import warm_up_steps
from tfprof.memo import remembered
from tfprof.model.clock import NO_TIME
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import DeviceWork, StepTotals, Window
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
class DeviceTime:
    """What an accelerator did from `start_ns` on, in parts that add up to `wall_ns`.

    While several things happen, the first one counts: computing, then communication, then copies
    and fills. The rest is idle, divided by what happened meanwhile: waiting for `input`,
    `communication` or `transfers` of the host, the host `waiting` for the accelerator, ops on the
    host by phase, and `nothing`, such as Python code between ops. `unassigned_ns` is idle time
    in which the host was not recorded.
    """

    start_ns: int
    wall_ns: int
    computing_ns: Mapping[str, int]  # by phase
    exposed_communication_ns: int
    waiting_ns: int | None  # the part of it until the last rank arrived; None if unknown
    exposed_copies_ns: int
    idle_ns: Mapping[str, int]
    unassigned_ns: int
    overlapped_communication_ns: int  # while something computed, so not a part

    @property
    def busy_ns(self) -> int:
        """How long the accelerator computed, communicated or copied."""
        return self.wall_ns - sum(self.idle_ns.values()) - self.unassigned_ns


@dataclass(frozen=True, slots=True)
class AcceleratorTime:
    """What an accelerator did in a step; all times are nanoseconds.

    `own` is the step on the accelerator: what the step launched, wherever it ran. `on_host` is the
    time that the step took on the host: what ran in it, whoever launched it. `kernel_ns` adds up
    the kernels of the step by the phase of their ops, `transfer_ns` its copies and fills; several
    may run at once.
    """

    device: str  # empty for all accelerators together
    own: DeviceTime
    on_host: DeviceTime
    kernels: int
    kernel_ns: Mapping[str, int]
    transfers: int
    transfer_ns: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StepTime:
    """The time of one step.

    `wall_ns` is the time on the host. It is `busy_ns`, in which at least one op or transfer ran,
    and `idle_ns`; if the times of accelerators were recorded, in which one of them was busy.
    `step_ns` is how long the step took on them, otherwise the wall time. `op_time_ns`
    adds up all ops. It is the time in which at least one op ran, plus `parallel_ns` if several ran
    at once, plus `pipeline_ns` of iterators of the input pipeline, plus `outside_ns`.

    `phases` divides `step_ns` into parts that add up to it: the busy time by the phase of the ops
    (`forward`, `backward`, `optimizer`, `input`, `other`, `communication`) and `transfers`, and the
    idle time into `idle_input_wait` and `idle_other`. While several runs are active on a host, each
    gets an equal share of the time. The sums of the first parts are rounded, so every part is at
    most 1 ns from its exact value. On accelerators, communication and transfers only have the time
    in which nothing computes.
    """

    recording: str
    step: int
    start_ns: int
    wall_ns: int
    step_ns: int
    busy_ns: int
    idle_ns: int
    input_wait_ns: int  # waiting for the next input, also while ops ran
    idle_input_wait_ns: int  # the part of it in which no op ran
    phases: Mapping[str, int]  # parts of `step_ns`, which add up to it
    devices: Mapping[str, int]  # how long each device was busy
    accelerators: tuple[AcceleratorTime, ...]  # those that ran kernels in the recording
    ops: int  # runs of ops, without iterators
    kernels: int  # runs on accelerators
    op_time_ns: int
    parallel_ns: int
    pipeline_ns: int
    outside_ns: int  # of runs that belong to the step but lasted longer than it
    early_ns: int  # how long ops ran before the program began the first recorded step
    is_warm_up: bool  # it does what later steps need not do again, so summaries leave it out

    @property
    def all_accelerators(self) -> AcceleratorTime | None:
        """What the only accelerator did, or all of them together; None if there is none."""
        return self.accelerators[0] if self.accelerators else None  # the empty name is the first


@dataclass(frozen=True, slots=True)
class UnusualStep:
    """A step that took clearly longer or shorter than the median, and what was different."""

    step: int
    step_ns: int
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepSummary:
    """The usual step of a recording, and the unusual ones, by how long they took (`step_ns`)."""

    recording: str
    steps: int
    median_step: int  # the shorter of two
    median_ns: int
    p10_ns: int
    p90_ns: int
    unusual: tuple[UnusualStep, ...]
    # From the first start of kernels and transfers of each accelerator to the last end, in all
    # steps.
    accelerators: Mapping[str, DeviceTime]


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The answer: the chosen steps in order, and a summary of each recording."""

    options: StepOptions
    steps: tuple[StepTime, ...]
    summaries: tuple[StepSummary, ...]
    notes: tuple[str, ...]

    def median_step(self, summary: StepSummary) -> StepTime:
        """The median step of a recording."""
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
    totals, nanos = step_totals(profile), step_nanos(profile)
    found = accelerator_times(profile, rows)
    places = np.flatnonzero(np.isin(totals.step, rows)).tolist()
    measured = {
        int(totals.step[place]): _measured(profile, totals, place, int(nanos[place]), found)
        for place in places
    }
    recordings = profile.steps.recording[rows]
    summaries = [
        _summary(profile, {row: measured[row] for row in rows[recordings == one].tolist()})
        for one in np.unique(recordings).tolist()
    ]
    return StepTimes(
        options, tuple(measured.values()), tuple(summaries), tuple(_notes(profile, rows))
    )


def _measured(
    profile: ProfileColumns,
    totals: StepTotals,
    place: int,
    nanos: int,
    accelerators: Mapping[int, tuple[AcceleratorTime, ...]],
) -> StepTime:
    """The step in a row of the totals."""
    row = int(totals.step[place])
    found = {name: int(getattr(totals, name)[place]) for name in _COPIED}
    wall, busy, waited = (found[name] for name in ("wall_ns", "busy_ns", "idle_input_wait_ns"))
    phases = {name: int(getattr(totals, part)[place]) for name, part in BUSY_PARTS.items()}
    phases |= {"idle_input_wait": waited, "idle_other": wall - busy - waited}
    if row in accelerators:
        phases = _phases(accelerators[row][0].own)
    return StepTime(
        recording=profile.recordings.label[int(profile.steps.recording[row])],
        step=int(profile.steps.number[row]),
        step_ns=nanos,
        idle_ns=wall - busy,
        phases=phases,
        devices=_busy_devices(profile)[row],
        accelerators=accelerators.get(row, ()),
        is_warm_up=row in warm_up_steps(profile),
        **found,
    )


def _phases(time: DeviceTime) -> dict[str, int]:
    """The parts of a step on accelerators as those of steps on hosts are named."""
    waited = time.idle_ns.get("input", 0)
    return {
        **{name: time.computing_ns.get(name, 0) for name in BUSY_PARTS},
        "communication": time.exposed_communication_ns,
        "transfers": time.exposed_copies_ns,
        "idle_input_wait": waited,
        "idle_other": time.wall_ns - time.busy_ns - waited,
    }


def accelerator_times(
    profile: ProfileColumns, rows: Ints
) -> dict[int, tuple[AcceleratorTime, ...]]:
    """What each accelerator did in each of these steps, and all of a recording together."""
    windows, work = device_windows(profile), device_work(profile)
    waiting = _waiting(profile, rows)
    launched = {(step, work.device[row]): row for row, step in enumerate(work.step.tolist())}
    chosen = np.flatnonzero(np.isin(windows.step, rows)).tolist()
    places = {
        (int(windows.step[row]), windows.device[row], int(windows.window[row])): row
        for row in chosen
    }
    found: dict[int, list[AcceleratorTime]] = {}
    for (step, device, window), mine in places.items():
        theirs = places.get((step, device, Window.HOST))
        if window != Window.OWN or theirs is None:
            continue
        names = {device} if device else {name for one, name in launched if one == step}
        of_step = [launched[step, name] for name in names if (step, name) in launched]
        found.setdefault(step, []).append(
            AcceleratorTime(
                device=device,
                own=_device_time(profile, mine, waiting.get(step)),
                on_host=_device_time(profile, theirs, None),
                kernels=int(work.kernels[of_step].sum()),
                kernel_ns=_sums(work, of_step, _KERNELS),
                transfers=int(work.transfers[of_step].sum()),
                transfer_ns=_sums(work, of_step, _TRANSFERS),
            )
        )
    return {step: tuple(times) for step, times in found.items()}


_KERNELS = {phase.name.lower(): f"{phase.name.lower()}_ns" for phase in Phase}
_TRANSFERS = {name: f"transfer_{name}_ns" for name in (*_KERNELS, "unattributed")}


def _sums(work: DeviceWork, rows: Sequence[int], columns: Mapping[str, str]) -> dict[str, int]:
    """The sums of columns that are not zero."""
    sums = {name: int(getattr(work, column)[rows].sum()) for name, column in columns.items()}
    return {name: nanos for name, nanos in sums.items() if nanos}


def _device_time(profile: ProfileColumns, row: int, waiting: int | None) -> DeviceTime:
    """A row of the windows."""
    windows = device_windows(profile)
    parts = {
        name: int(getattr(windows, f"{name}_ns")[row]) for name in (*COMPUTING.values(), *IDLE)
    }
    begin, finish = int(windows.begin_ns[row]), int(windows.finish_ns[row])
    idle = {name.removeprefix("idle_"): parts[name] for name in IDLE if name != UNASSIGNED}
    return DeviceTime(
        start_ns=begin,
        wall_ns=finish - begin,
        computing_ns={name: parts[name] for name in COMPUTING.values() if parts[name]},
        exposed_communication_ns=int(windows.exposed_communication_ns[row]),
        waiting_ns=waiting,
        exposed_copies_ns=int(windows.exposed_copies_ns[row]),
        idle_ns={name: nanos for name, nanos in idle.items() if nanos},
        unassigned_ns=parts[UNASSIGNED],
        overlapped_communication_ns=int(windows.overlapped_communication_ns[row]),
    )


def _waiting(profile: ProfileColumns, rows: Ints) -> dict[int, int]:
    """How long the accelerators of each step only waited for other ranks, where that is known."""
    if len(profile.recordings) < 2 or not len(rows):
        return {}
    nanos = step_nanos(profile)[np.isin(step_totals(profile).step, rows)]
    found = rank_waits(profile, rows, float(np.median(nanos)))
    return dict(zip(found.step.tolist(), found.waiting_ns.tolist(), strict=True))


@remembered
def _busy_devices(profile: ProfileColumns) -> dict[int, dict[str, int]]:
    """How long each device was busy, by step."""
    times = device_times(profile)
    found: dict[int, dict[str, int]] = {row: {} for row in step_totals(profile).step.tolist()}
    for row, step in enumerate(times.step.tolist()):
        found[step][times.device[row]] = int(times.busy_ns[row])
    return found


def _summary(profile: ProfileColumns, measured: Mapping[int, StepTime]) -> StepSummary:
    usual = {row: step for row, step in measured.items() if not step.is_warm_up}
    measured = usual or measured  # a single step may have been chosen
    steps = list(measured.values())
    walls = np.array([step.step_ns for step in steps])
    low, median, high = (
        int(np.percentile(walls, share, method="inverted_cdf")) for share in (10, 50, 90)
    )
    middle = int(np.argsort(walls, kind="stable")[(len(walls) - 1) // 2])
    recording = int(profile.steps.recording[next(iter(measured))])
    return StepSummary(
        recording=steps[0].recording,
        steps=len(steps),
        median_step=steps[middle].step,
        median_ns=median,
        p10_ns=low,
        p90_ns=high,
        unusual=tuple(_unusual(profile, measured, walls, median)),
        accelerators=_whole(profile, recording),
    )


def _whole(profile: ProfileColumns, recording: int) -> dict[str, DeviceTime]:
    """What each accelerator of a recording did in all its time."""
    windows = device_windows(profile)
    is_here = profile.steps.recording[windows.step] == recording
    rows = np.flatnonzero(is_here & (windows.window == Window.WHOLE)).tolist()
    return {windows.device[row]: _device_time(profile, row, None) for row in rows}


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
            yield UnusualStep(step.step, step.step_ns, causes)


def _causes(
    profile: ProfileColumns, row: int, step: StepTime, others: Sequence[StepTime]
) -> Iterator[str]:
    """What was different in a step, the largest difference first."""
    parts = [_rough_parts(one) for one in others]
    mine = parts[others.index(step)]
    usual = {name: int(np.median([part[name] for part in parts])) for name in mine}
    more = {name: nanos - usual[name] for name, nanos in mine.items()}
    whole = step.step_ns - sum(usual.values())
    for name in sorted(more, key=lambda name: -abs(more[name])):
        if more[name] * whole > 0 and abs(more[name]) >= _LEAST_CAUSE * abs(whole):
            sign = "more" if more[name] > 0 else "less"
            ops = _unusual_ops(profile, row) if name == "running ops" and more[name] > 0 else ""
            yield f"{format_nanos(abs(more[name]))} {sign} {name}{ops}"
    if step.early_ns >= _LEAST_CAUSE * abs(whole):
        yield f"{format_nanos(step.early_ns)} before the program began the step"


def _rough_parts(step: StepTime) -> dict[str, int]:
    """Parts that add up to how long the step took, as causes name them."""
    waited, busy, main = step.idle_input_wait_ns, step.busy_ns, step.all_accelerators
    if main is not None:
        waited, busy = main.own.idle_ns.get("input", 0), main.own.busy_ns
    return {
        "waiting for input": waited,
        "idle for other reasons, such as Python or tracing a function": step.step_ns
        - busy
        - waited,
        "running ops": busy,
    }


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
    if np.isin(warm_up_steps(profile), rows).any():
        yield from warm_up_notes(profile)
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
