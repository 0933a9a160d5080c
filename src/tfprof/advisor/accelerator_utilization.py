"""The share of time in which an accelerator was busy.

It is busy while it computes, communicates or copies on any of its streams, and the time is that of
its steps. Of TensorFlow's RunMetadata the share is what the original reports: the time lasts from
the first start to the last end of the ops placed there, each in the last step in which it was seen,
and the kernels of all streams are added up. A utilization below 0.5 is low.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.advisor.steps import whole_micros
from tfprof.columns import Ints, distinct
from tfprof.measures.device_windows import busy_nanos, device_windows
from tfprof.measures.time import accelerator_micros, last_end_micros
from tfprof.measures.warm_up import warm_up_steps
from tfprof.model.clock import NO_TIME, micros_of_nanos
from tfprof.model.devices import Role
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import Window
from tfprof.units import Unit, counted

SUMMARY = "The share of time in which each accelerator was busy."

_LOW = 0.5  # the limit of the original


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report the utilization of each accelerator that ran anything."""
    yield from _classic(profile) if profile.counts_whole_micros else _over_steps(profile)


def _over_steps(profile: ProfileColumns) -> Iterator[Finding]:
    """The share of the steps in which each accelerator was busy, the idlest one first."""
    windows = device_windows(profile)
    recording = profile.steps.recording[windows.step]
    is_own = (windows.window == Window.OWN) & ~np.isin(windows.step, warm_up_steps(profile))
    # All accelerators of a recording together have an empty name.
    keys = {(int(recording[row]), windows.device[row]) for row in np.flatnonzero(is_own).tolist()}
    keys = {(one, name) for one, name in keys if name}
    several = len(keys) > len({name for _, name in keys})
    found = []
    for one, name in sorted(keys):
        is_named = windows.device.codes == windows.device.values.index(name)
        rows = np.flatnonzero(is_own & (recording == one) & is_named)
        busy = int(busy_nanos(windows, rows).sum())
        took = int((windows.finish_ns - windows.begin_ns)[rows].sum())
        title = f"{name} of {profile.recordings.label[one]}" if several else name
        if took > 0:
            found.append(_Busy(title, name, len(rows), busy, took))
    if found:
        yield _of_accelerators(sorted(found, key=lambda one: one.share))


class _Busy(NamedTuple):
    """How long an accelerator was busy in its steps."""

    title: str
    device: str
    steps: int
    busy_ns: int
    of_ns: int

    @property
    def share(self) -> float:
        return self.busy_ns / self.of_ns


def _of_accelerators(found: list[_Busy]) -> Finding:
    least, most = found[0], found[-1]
    who, share = least.title, f"{100 * least.share:.0f}%"
    if len(found) > 1:
        who = f"{len(found):,} accelerators were busy, {least.title} for {share} and {most.title}"
        share = f"{100 * most.share:.0f}%"
    steps = counted(most.steps, "step", "steps")
    verb = "" if len(found) > 1 else " was busy"
    return Finding(
        f"{who}{verb} for {share} of {steps}.",
        Evidence.of(
            {"device": None, "busy": Unit.MICROS, "of": Unit.MICROS},
            [
                (one.title, whole_micros(one.busy_ns), whole_micros(one.of_ns))
                for one in found[:MOST_ROWS]
            ],
        ),
        ops=tuple(one.title for one in found[:MOST_ROWS]),
        gain=None,  # IdleAcceleratorChecker reports it
        command=("ranks",) if len(found) > 1 else ("steps",),
        classic="\n".join(
            f"device: {one.device} {_low(one.share)}utilization: {one.share:.2f}" for one in found
        ),
    )


def _classic(profile: ProfileColumns) -> Iterator[Finding]:
    records, names = profile.records, profile.devices.name
    rows, device = _last_records(profile)
    is_accelerator = np.append(profile.devices.role == Role.ACCELERATOR, False)
    accelerators = [code for code in distinct(device).tolist() if is_accelerator[code]]
    for code in sorted(accelerators, key=names.__getitem__):
        of_device = rows[device == code]
        starts = records.first_start_ns[of_device]
        starts = micros_of_nanos(starts[starts != NO_TIME])
        last = int(last_end_micros(profile)[of_device].max(initial=0))
        busy = int(accelerator_micros(profile)[of_device].sum())
        # Without start times the time begins at 0, as in the original.
        took = last - (int(starts.min()) if len(starts) else 0)
        if took > 0:
            yield _finding(_title(profile, code), names[code], busy, took)


def _last_records(profile: ProfileColumns) -> tuple[Ints, Ints]:
    """The last record of each op in each recording, and its device."""
    records = profile.records
    recording = profile.steps.recording[records.step]
    is_last = np.ones(len(records), np.bool_)
    is_last[:-1] = (records.op[1:] != records.op[:-1]) | (recording[1:] != recording[:-1])
    rows = np.flatnonzero(is_last)
    device = np.full(len(rows), -1)
    for one in range(len(profile.recordings)):
        here = recording[rows] == one
        device[here] = profile.home(one)[records.op[rows[here]]]
    return rows, device


def _title(profile: ProfileColumns, code: int) -> str:
    """The name of a device, with that of its recording if others have one of that name."""
    devices = profile.devices
    name, recording = devices.name[code], int(devices.recording[code])
    is_shared = sum(other == name for other in devices.name) > 1
    return f"{name} of {profile.recordings.label[recording]}" if is_shared else name


def _finding(title: str, device: str, busy: int, took: int) -> Finding:
    utilization = busy / took
    return Finding(
        f"{title} computed for {100 * utilization:.0f}% of the time between the first start and "
        "the last end of its ops.",
        Evidence.of(
            {"device": None, "busy": Unit.MICROS, "of": Unit.MICROS}, [(title, busy, took)]
        ),
        # The gain depends on which kernels overlap; IdleAcceleratorChecker reports it.
        gain=None,
        command=("op", "-select", "accelerator_micros,device", "-order_by", "accelerator_micros"),
        classic=f"device: {device} {_low(utilization)}utilization: {utilization:.2f}",
    )


def _low(utilization: float) -> str:
    return "" if utilization >= _LOW else "low "
