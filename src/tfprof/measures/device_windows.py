"""What each accelerator did in each step: in the step on the device, and in its time on the host.

Kernels run later than the host launches them, so a step has two windows of time. On the host it
lasts until the program begins the next one. On the accelerator it lasts until the last kernel that
it launched has ended, or until the program begins the next one if that is later; the next step
begins there. The kernels that decide are those that compute, on the busiest stream: an event that
the program records between steps would see the same, and what runs beside them, such as a long
copy, does not move the steps. So the steps of an accelerator cover its time without gaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints, joined
from tfprof.measures.collectives import is_collective
from tfprof.measures.device_timeline import (
    BUSY,
    OVERLAPPED,
    PARTS,
    Timeline,
    Work,
    accelerators,
    timeline,
)
from tfprof.measures.step_bounds import bounds, timed_steps
from tfprof.memo import remembered
from tfprof.model.clock import NO_TIME
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import DeviceWindows, DeviceWork, Window

_NEVER = np.iinfo(np.int64).min


@remembered
def device_windows(profile: ProfileColumns) -> DeviceWindows:
    """The windows of all steps with recorded times on all accelerators that ran kernels."""
    if profile.stored_runs is not None:
        return profile.stored_runs.device_windows
    found = [(name, _windows(profile, rows)) for name, rows in _timelines(profile)]
    device = Coded.of([name for name, table in found for _ in table["step"]])
    names = [part.name for part in fields(DeviceWindows) if part.name != "device"]
    table = {name: joined([one[name] for _, one in found]) for name in names}
    rank = np.argsort(np.argsort(device.values)) if len(device.values) else ints([])
    order = np.lexsort((table["window"], rank[device.codes], table["step"]))
    columns = {name: ints(column[order]) for name, column in table.items()}
    return DeviceWindows(**columns, device=device.take(order))


@remembered
def device_work(profile: ProfileColumns) -> DeviceWork:
    """What each step launched on each accelerator."""
    if profile.stored_runs is not None:
        return profile.stored_runs.device_work
    found = [(one.name, _launched(profile, one)) for one in accelerators(profile)]
    names = [part.name for part in fields(DeviceWork) if part.name != "device"]
    return DeviceWork(
        device=Coded.of([name for name, table in found for _ in table["step"]]),
        **{name: joined([table[name] for _, table in found]) for name in names},
    )


def main_window(windows: DeviceWindows, window: Window) -> Ints:
    """One row per step: of its only accelerator, or of all together."""
    rows = np.flatnonzero(windows.window == window)
    _, first = np.unique(windows.step[rows], return_index=True)  # the empty name is the first
    return ints(rows[first])


def busy_nanos(windows: DeviceWindows, rows: Ints) -> Ints:
    """How long the accelerators computed, communicated or copied in these windows."""
    return ints(np.sum([getattr(windows, f"{name}_ns")[rows] for name in BUSY], axis=0))


@remembered
def together(profile: ProfileColumns) -> dict[int, tuple[int, ...]]:
    """The rows of `accelerators` of each recording that has any."""
    found: dict[int, tuple[int, ...]] = {}
    for row, one in enumerate(accelerators(profile)):
        found[one.recording] = (*found.get(one.recording, ()), row)
    return found


def _timelines(profile: ProfileColumns) -> list[tuple[str, tuple[int, ...]]]:
    """The rows of `accelerators` to make timelines of: each one, and all of a recording."""
    single = [(one.name, (row,)) for row, one in enumerate(accelerators(profile))]
    return [*single, *(("", rows) for rows in together(profile).values() if len(rows) > 1)]


def _windows(profile: ProfileColumns, rows: tuple[int, ...]) -> dict[str, Ints]:
    """The windows of these accelerators of one recording together."""
    works = [accelerators(profile)[row] for row in rows]
    step = _steps_of(profile, works)
    begin, finish = (bound[step] for bound in bounds(profile))
    own_begin, own_finish = _own(profile, works, step, begin, finish)
    whole = step[:1] if is_one_time(profile, works[0].recording) else step[:0]
    spans = np.array([work.span() for work in works]).reshape(-1, 2)
    first, last = (bound[: len(whole)] for bound in ([spans[:, 0].min()], [spans[:, 1].max()]))
    starts = np.concatenate((own_begin, begin, first)).astype(np.int64)
    ends = np.concatenate((own_finish, finish, last)).astype(np.int64)
    kinds = np.repeat(list(Window), (len(step), len(step), len(whole)))
    steps = np.concatenate((step, step, whole))
    parts = {f"{name}_ns": np.zeros(len(steps), np.int64) for name in (*PARTS, OVERLAPPED)}
    for here, one in timelines(profile, rows, step):
        places = np.flatnonzero(np.isin(steps, here))
        for name, nanos in one.within(starts[places], ends[places]).items():
            parts[f"{name}_ns"][places] = nanos
    return {"step": steps, "window": kinds, "begin_ns": starts, "finish_ns": ends, **parts}


def is_one_time(profile: ProfileColumns, recording: int) -> bool:
    """Whether the steps of a recording were recorded together.

    Each RunMetadata is a recording of its own, so steps of it may overlap.
    """
    return not bool(profile.recordings.counts_whole_micros[recording])


def timelines(
    profile: ProfileColumns, rows: tuple[int, ...], steps: Ints
) -> Iterator[tuple[Ints, Timeline]]:
    """The timelines of these accelerators, each with the steps that it is about."""
    if is_one_time(profile, accelerators(profile)[rows[0]].recording):
        yield steps, timeline(profile, rows)
        return
    for step in steps.tolist():
        yield ints([step]), timeline(profile, rows, step)


def _steps_of(profile: ProfileColumns, works: list[Work]) -> Ints:
    """The steps of these accelerators, in the order in which they began.

    Of steps that were recorded one by one, those in which all of them ran a kernel.
    """
    steps = timed_steps(profile)
    steps = steps[profile.steps.recording[steps] == works[0].recording]
    if not is_one_time(profile, works[0].recording):
        ran = np.sum([np.isin(steps, work.step) for work in works], axis=0)
        steps = steps[ran == len(works)]
    return ints(steps[np.argsort(bounds(profile)[0][steps], kind="stable")])


def _own(
    profile: ProfileColumns, works: list[Work], step: Ints, begin: Ints, finish: Ints
) -> tuple[Ints, Ints]:
    """When each step began and ended on the accelerators.

    Steps that the program did not mark last as long as their runs, and may overlap.
    """
    place = np.full(len(profile.steps) + 1, -1)
    place[step] = np.arange(len(step))
    last = np.full(len(step) + 1, _NEVER)  # in the end, of what was launched before
    for work in works:
        computes = ~is_collective(profile)[work.op]
        if computes.any():
            computes &= work.lane == _busiest(work, computes)
        here = np.where(work.is_early[computes], len(step), place[work.step[computes]])
        np.maximum.at(last, here, work.kernel_end[computes])
    last, early = last[:-1], last[-1]
    is_marked = profile.steps.start_ns[step] != NO_TIME
    done = np.maximum.accumulate(np.where(is_marked, last, _NEVER))
    done = np.maximum(done, early)
    before = np.append(early, done[:-1])
    return (
        np.where(is_marked, np.maximum(begin, before), begin),
        np.where(is_marked, np.maximum(finish, done), finish),
    )


def _busiest(work: Work, computes: Bools) -> int:
    """The lane with the most time of these kernels."""
    lanes, place = np.unique(work.lane[computes], return_inverse=True)
    nanos = np.zeros(len(lanes), np.int64)
    np.add.at(nanos, place, (work.kernel_end - work.kernel_start)[computes])
    return int(lanes[nanos.argmax()])


def _launched(profile: ProfileColumns, work: Work) -> dict[str, Ints]:
    """What each step launched on an accelerator; one row per step that launched anything.

    Kernels that were launched before the recording belong to no step.
    """
    copies, records = profile.copies, profile.records
    mine = np.flatnonzero(~work.is_early)
    step, place = np.unique(
        np.concatenate((work.step[mine], copies.step[work.copy])), return_inverse=True
    )
    of_kernel, of_copy = place[: len(mine)], place[len(mine) :]
    copy_op = np.append(records.op, -1)[copies.record[work.copy]]
    took, copied = (work.kernel_end - work.kernel_start)[mine], work.copy_end - work.copy_start
    kernel_ns = _by_phase(profile, len(step), of_kernel, work.op[mine], took)
    copy_ns = _by_phase(profile, len(step), of_copy, copy_op, copied)
    names = [phase.name.lower() for phase in Phase]
    found = {f"{name}_ns": kernel_ns[row] for row, name in enumerate(names)}
    found |= {f"transfer_{name}_ns": copy_ns[row] for row, name in enumerate(names)}
    return found | {
        "step": step,
        "kernels": np.bincount(of_kernel, minlength=len(step)),
        "transfers": np.bincount(of_copy, minlength=len(step)),
        "transfer_unattributed_ns": copy_ns[len(names)],
    }


def _by_phase(profile: ProfileColumns, steps: int, place: Ints, op: Ints, nanos: Ints) -> Ints:
    """A row of sums by step for each phase, and one for unknown ops."""
    found = np.zeros((len(Phase) + 1, steps), np.int64)
    np.add.at(found, (np.append(profile.phase, len(Phase))[op], place), nanos)
    return found
