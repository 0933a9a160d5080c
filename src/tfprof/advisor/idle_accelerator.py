"""Accelerators that are idle: before their first kernel, between kernels, and between steps.

Checks a typical recorded step. The time until the next step counts if that step was recorded too
and followed directly; it includes whatever the program did in between, such as writing the trace.
For PyTorch, the time is divided by what happened meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.advisor.already import launch_advice
from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.steps import gain, whole_micros
from tfprof.columns import ints
from tfprof.errors import MissingInputError
from tfprof.measures.steps import Step, covered, step_of, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos
from tfprof.views.steps import accelerator_times

SUMMARY = "Accelerators that are idle within a step, or between two steps."

# Any step has small gaps between kernels and some host work that cannot overlap; a quarter of the
# step is more than that.
_LEAST_SHARE = 0.25
# A shorter wait is within the noise of starting a step.
_LEAST_NANOS = 100_000

# What may happen while an accelerator is idle, and what helps; empty if that is to launch less.
_MEANWHILE = {
    "input": ("the program waited for input", "Load data with more workers."),
    "communication": ("ranks communicated", "Overlap communication with the backward pass."),
    "transfers": ("data was copied", "Copy from pinned memory with `non_blocking=True`."),
    "waiting": ("the host waited for it", "Read values on the host less often."),
    "forward": ("the host ran forward ops", ""),
    "backward": ("the host ran backward ops", ""),
    "optimizer": ("the host ran optimizer ops", "Use a fused optimizer (`fused=True`)."),
    "other": ("the host ran other ops", ""),
    "nothing": ("no op or transfer ran", "Do less in Python between ops."),
}
_PARTS = ("before its first kernel", "between kernels", "after its last kernel", "between steps")


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report each accelerator that is idle for much of the step, the most idle one first."""
    step = typical_step(profile)
    if is_of_pytorch(profile):
        yield from _explained(profile, step)
        return
    pause = _pause(profile, step)
    # A transfer occupies the copy lane of an accelerator, not the accelerator itself.
    lanes = np.flatnonzero(profile.devices.is_accelerator_lane)
    waits = {int(lane): _waits(step, int(lane), pause) for lane in lanes}
    found = {lane: parts for lane, parts in waits.items() if parts}
    if profile.lacks_accelerator_time and not found:
        raise MissingInputError(
            "the streams of the accelerator were not traced: record the step with CUPTI available."
        )
    for lane in sorted(found, key=lambda lane: -sum(found[lane])):
        whole = step.nanos + pause
        if sum(found[lane]) >= max(_LEAST_SHARE * whole, _LEAST_NANOS):
            yield _finding(profile, profile.devices.name[lane], step, found[lane], whole)


def _explained(profile: ProfileColumns, step: Step) -> Iterator[Finding]:
    """The same, with what happened meanwhile, for the step on the accelerator."""
    found = accelerator_times(profile, ints([step.row])).get(step.row, ())
    times = {one.device: one.own for one in found if one.device}
    for device, one in sorted(times.items(), key=lambda pair: pair[1].busy_ns):
        idle = sum(one.idle_ns.values())
        if idle < max(_LEAST_SHARE * one.wall_ns, _LEAST_NANOS):
            continue
        parts = sorted(one.idle_ns.items(), key=lambda part: -part[1])
        part, nanos = parts[0]
        what, advice = _MEANWHILE[part]
        yield Finding(
            f"{device} was idle for {100 * idle / one.wall_ns:.0f}% of {step.title}, for "
            f"{format_nanos(nanos)} while {what}. {advice or launch_advice(profile, step)}",
            Evidence.of(
                {"meanwhile": None, "time": Unit.MICROS},
                [(_MEANWHILE[name][0], whole_micros(time)) for name, time in parts],
            ),
            ops=(device,),
            gain=Gain(whole_micros(idle), whole_micros(one.wall_ns), Unit.MICROS, "of the step"),
            command=("steps", *step.option),
        )


def _waits(step: Step, lane: int, pause: int) -> list[int]:
    """How long a lane was idle in each of `_PARTS`; empty if nothing ran there at all."""
    runs = step.device == lane
    if not runs.any():
        return []
    start, end = step.start[runs], step.end[runs]
    first, last = int(start[0]), int(end.max())
    between = last - first - covered(start, end)
    return [first - step.begin, between, max(step.finish - last, 0), pause]


def _pause(profile: ProfileColumns, step: Step) -> int:
    """The time between the step and the next one, 0 if unknown."""
    steps, after = profile.steps, step.row + 1
    is_next = after < len(steps) and steps.recording[after] == steps.recording[step.row]
    if not is_next or int(steps.number[after]) != step.number + 1:
        return 0
    following = step_of(profile, after)
    if not len(following.start):
        return 0
    pause = following.begin - step.finish
    # Files without step numbers are numbered consecutively, so a longer pause may contain a step
    # that was not recorded.
    return pause if 0 < pause < min(step.nanos, following.nanos) else 0


def _finding(
    profile: ProfileColumns, device: str, step: Step, waits: list[int], whole: int
) -> Finding:
    idle, has_pause = sum(waits), waits[-1] > 0
    span = f"of the time from {step.title} to the next" if has_pause else f"of {step.title}"
    longest = max(range(len(waits)), key=waits.__getitem__)
    return Finding(
        f"{device} was idle for {100 * idle / whole:.0f}% {span}, "
        f"{format_nanos(waits[longest])} of that {_PARTS[longest]}.",
        Evidence.of(
            {"waiting": None, "time": Unit.MICROS},
            [
                (part, whole_micros(nanos))
                for part, nanos in zip(_PARTS, waits, strict=True)
                if nanos
            ],
        ),
        ops=(device,),
        gain=Gain(whole_micros(idle), whole_micros(whole), Unit.MICROS, "from one step to the next")
        if has_pause
        else gain(profile, step, idle),
        command=(
            *("op", "-select", "micros,device", "-order_by", "cpu_micros"),
            *step.option,
        ),
    )
