"""What the runs of each step add up to: `measures.steps` defines when a step begins and ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from tfprof.columns import Coded, Ints, ints
from tfprof.measures.collectives import is_collective_run
from tfprof.measures.device_timeline import (
    COMMUNICATION,
    COMPUTING,
    COPIES,
    IDLE_INPUT,
    OVERLAPPED,
    PARTS,
    accelerator_of,
    accelerators,
)
from tfprof.measures.device_windows import busy_nanos, device_windows, device_work, main_window
from tfprof.measures.host_waits import is_host_wait
from tfprof.measures.run_sums import require_fits
from tfprof.measures.steps import (
    Step,
    covered,
    covered_together,
    input_feeds,
    op_flags,
    rounded_parts,
    shares,
    step_of,
    timed_steps,
)
from tfprof.measures.time import accelerator_nanos, cpu_nanos
from tfprof.memo import remembered
from tfprof.model.clock import NO_TIME
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import DeviceTimes, DeviceWindows, StepTotals, Window

# The parts of a busy step and their columns: the phases of ops, then transfers between devices.
# Other ops may run at the same time as communication, so its part differs from the time in which
# a collective ran (`communication_ns`).
BUSY_PARTS = {part: f"{part}_ns" for part in (*(one.name.lower() for one in Phase), "transfers")}
BUSY_PARTS["communication"] = "busy_communication_ns"


@remembered
def step_totals(profile: ProfileColumns) -> StepTotals:
    """The totals of all steps with recorded times."""
    if profile.stored_runs is not None:
        return profile.stored_runs.step_totals
    runs, records = profile.executions, profile.records
    require_fits(profile, "nanos", runs.duration_ns, records.op[runs.record])
    require_fits(profile, "runs", records.runs, records.op)
    rows = timed_steps(profile).tolist()
    found = [_totals(profile, step_of(profile, row)) for row in rows]
    names = [part.name for part in fields(StepTotals)]
    columns = {name: np.array([one[name] for one in found], np.int64) for name in names}
    windows = device_windows(profile)
    at = main_window(windows, Window.HOST)
    places = np.searchsorted(columns["step"], windows.step[at])
    for name, values in _of_accelerators(windows, at).items():
        columns[name][places] = values
    work = device_work(profile)
    columns["kernels"][places] = 0
    np.add.at(columns["kernels"], np.searchsorted(columns["step"], work.step), work.kernels)
    return StepTotals(**{name: ints(column) for name, column in columns.items()})


def _of_accelerators(windows: DeviceWindows, rows: Ints) -> dict[str, Ints]:
    """The columns of totals that these windows replace.

    Where the times of accelerators were recorded, they are what computes: the host starts what
    they do, or waits for them.
    """
    parts = {name: getattr(windows, f"{name}_ns")[rows] for name in (*PARTS, OVERLAPPED)}
    return {f"{name}_ns": parts[name] for name in COMPUTING.values()} | {
        "busy_ns": busy_nanos(windows, rows),
        "idle_input_wait_ns": parts[IDLE_INPUT],
        BUSY_PARTS["communication"]: parts[COMMUNICATION],
        BUSY_PARTS["transfers"]: parts[COPIES],
        "communication_ns": parts[COMMUNICATION] + parts[OVERLAPPED],
        "exposed_ns": parts[COMMUNICATION],
    }


@remembered
def step_nanos(profile: ProfileColumns) -> Ints:
    """How long each of `step_totals` took, on the accelerators if their times were recorded.

    A host that is ahead of them ends its steps earlier.
    """
    totals, windows = step_totals(profile), device_windows(profile)
    found = totals.wall_ns.copy()
    rows = main_window(windows, Window.OWN)
    places = np.searchsorted(totals.step, windows.step[rows])
    found[places] = windows.finish_ns[rows] - windows.begin_ns[rows]
    return ints(found)


@remembered
def device_times(profile: ProfileColumns) -> DeviceTimes:
    """How long each device was busy in the time of each step on the host."""
    if profile.stored_runs is not None:
        return profile.stored_runs.device_times
    windows = device_windows(profile)
    rows = np.flatnonzero(windows.window == Window.HOST)
    busy = busy_nanos(windows, rows).tolist()
    found = [
        (int(windows.step[row]), windows.device[row], nanos)
        for row, nanos in zip(rows.tolist(), busy, strict=True)
        if nanos and windows.device[row]
    ]
    for row in timed_steps(profile).tolist():
        found += [(row, *one) for one in _busy_hosts(profile, step_of(profile, row))]
    found.sort()
    return DeviceTimes(
        ints([row for row, _, _ in found]),
        Coded.of([name for _, name, _ in found]),
        ints([nanos for _, _, nanos in found]),
    )


@remembered
def step_starts(profile: ProfileColumns) -> Ints:
    """When the first op of each step started; the largest number if that is unknown."""
    if profile.stored_runs is not None:
        return profile.stored_runs.step_starts
    starts = np.full(len(profile.steps), np.iinfo(np.int64).max)
    records = profile.records
    timed = np.flatnonzero(records.first_start_ns > 0)
    np.minimum.at(starts, records.step[timed], records.first_start_ns[timed])
    return ints(starts)


def _totals(profile: ProfileColumns, step: Step) -> dict[str, int]:
    start, end = step.within
    waits = input_waits(profile, step)
    busy, either = covered(start, end), covered_together((start, end), waits)
    lanes = np.append(profile.devices.is_accelerator_lane, False)[step.device]
    is_run = step.op >= 0
    op_time, pipeline = (int(column[step.row]) for column in _op_time(profile))
    inside = int((end - start)[is_run].sum())
    marked = int(profile.steps.start_ns[step.row])
    is_shared = np.append(is_collective_run(profile), False)[step.run]
    return {
        "step": step.row,
        "start_ns": step.begin,
        "wall_ns": step.nanos,
        "busy_ns": busy,
        "input_wait_ns": covered_together(waits),
        "idle_input_wait_ns": either - busy,
        **_busy_parts(profile, step, start, end),
        "communication_ns": covered(start[is_shared], end[is_shared]),
        "exposed_ns": busy - covered(start[~is_shared], end[~is_shared]),
        "ops": int(_run_counts(profile)[step.row]),
        "kernels": int((lanes & is_run).sum()),
        "op_time_ns": op_time,
        "parallel_ns": inside - covered(start[is_run], end[is_run]),
        "pipeline_ns": pipeline,
        "outside_ns": op_time - pipeline - inside,
        "early_ns": 0 if marked == NO_TIME else marked - step.begin,
    }


def input_waits(profile: ProfileColumns, step: Step) -> tuple[Ints, Ints]:
    """When the step waited for input: the recorded waits, and the runs of ops that fetch data."""
    runs = op_flags(step, input_feeds(profile))
    start = np.concatenate((step.wait_start, step.start[runs]))
    end = np.concatenate((step.wait_end, step.end[runs]))
    return np.clip(start, step.begin, step.finish), np.clip(end, step.begin, step.finish)


def _busy_parts(profile: ProfileColumns, step: Step, start: Ints, end: Ints) -> dict[str, int]:
    """The busy time by phase of the ops, and transfers."""
    part = np.append(profile.phase, len(Phase))[step.op]  # the row -1 is a transfer
    nanos = np.zeros(len(BUSY_PARTS))
    np.add.at(nanos, part, shares(start, end))
    parts = rounded_parts(nanos, covered(start, end)).tolist()
    return dict(zip(BUSY_PARTS.values(), parts, strict=True))


def _busy_hosts(profile: ProfileColumns, step: Step) -> Iterator[tuple[str, int]]:
    """How long each device was busy that is no accelerator with kernels.

    While a host waits for an accelerator, it is not.
    """
    start, end = step.within
    works = ~op_flags(step, is_host_wait(profile))
    names = busy_devices(profile)
    known = {one.name for one in accelerators(profile)}
    rows: dict[str, list[int]] = {}
    for code in np.unique(step.device).tolist():
        if accelerator_of(names[code]) not in known:
            rows.setdefault(names[code], []).append(code)
    for name, codes in rows.items():
        here = np.isin(step.device, codes) & works
        if here.any():
            yield name, covered(start[here], end[here])


@remembered
def busy_devices(profile: ProfileColumns) -> list[str]:
    """The name of the device that runs on each device keep busy.

    Streams belong to their accelerator, and launching kernels keeps the host busy.
    """
    devices = profile.devices
    return [
        name.partition("/stream:")[0] if is_lane else host if is_placement else name
        for name, host, is_lane, is_placement in zip(
            devices.name,
            devices.host,
            devices.is_accelerator_lane.tolist(),
            devices.is_placement.tolist(),
            strict=True,
        )
    ]


@remembered
def _op_time(profile: ProfileColumns) -> tuple[Ints, Ints]:
    """The summed time of all ops in each step, and that of iterators."""
    nanos = accelerator_nanos(profile) + cpu_nanos(profile)
    is_iterator = profile.ops.is_iterator()[profile.records.op]
    sums = np.zeros((2, len(profile.steps)), np.int64)
    np.add.at(sums[0], profile.records.step, nanos)
    np.add.at(sums[1], profile.records.step, np.where(is_iterator, nanos, 0))
    return sums[0], sums[1]


@remembered
def _run_counts(profile: ProfileColumns) -> Ints:
    """How many runs of ops each step has, without iterators."""
    is_iterator = profile.ops.is_iterator()[profile.records.op]
    counts = np.zeros(len(profile.steps), np.int64)
    np.add.at(counts, profile.records.step, np.where(is_iterator, 0, profile.records.runs))
    return counts
