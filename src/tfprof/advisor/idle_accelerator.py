"""An accelerator that waits: before its first kernel, between kernels, and from step to step.

Looks at the typical step of those recorded. The time until the next step counts where that one was
recorded too and followed at once; what the program did in between, writing the trace for one, is
part of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import Evidence, Finding, Gain
from tfprof.advisor.steps import Step, covered, step_of, typical_step, whole_micros
from tfprof.errors import MissingInputError
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Accelerators that wait within a step, or from one step to the next."

# Kernels leave small gaps in any step, and some work of the host cannot be hidden: a quarter is
# more than that.
_LEAST_SHARE = 0.25
# A shorter wait is within the noise of starting a step.
_LEAST_NANOS = 100_000

_PARTS = ("before its first kernel", "between kernels", "after its last kernel", "between steps")


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """A finding for each accelerator that waits for much of the step, the idlest first."""
    step = typical_step(profile)
    pause = _pause(profile, step)
    # A transfer keeps an accelerator's lane for copies busy, and not the accelerator.
    lanes = np.flatnonzero(profile.devices.is_accelerator_lane)
    waits = {int(lane): _waits(step, int(lane), pause) for lane in lanes}
    found = {lane: parts for lane, parts in waits.items() if parts}
    if profile.lacks_accelerator_time and not found:
        raise MissingInputError(
            "the streams of an accelerator were not traced: record the step with CUPTI available."
        )
    for lane in sorted(found, key=lambda lane: -sum(found[lane])):
        whole = step.nanos + pause
        if sum(found[lane]) >= max(_LEAST_SHARE * whole, _LEAST_NANOS):
            yield _finding(profile.devices.name[lane], step, found[lane], whole)


def _waits(step: Step, lane: int, pause: int) -> list[int]:
    """How long nothing ran on a lane, part by part; empty where nothing ever did."""
    runs = step.device == lane
    if not runs.any():
        return []
    start, end = step.start[runs], step.end[runs]
    first, last = int(start[0]), int(end.max())
    between = last - first - covered(start, end)
    return [first - step.first_start, between, step.last_end - last, pause]


def _pause(profile: ProfileColumns, step: Step) -> int:
    """The time between the step and the next, 0 where that is not known."""
    steps, after = profile.steps, step.row + 1
    is_next = after < len(steps) and steps.recording[after] == steps.recording[step.row]
    if not is_next or int(steps.number[after]) != step.number + 1:
        return 0
    following = step_of(profile, after)
    if not len(following.start):
        return 0
    pause = following.first_start - step.last_end
    # Files without step numbers are numbered one by one: in a longer pause there may have been
    # another step.
    return pause if 0 < pause < min(step.nanos, following.nanos) else 0


def _finding(device: str, step: Step, waits: list[int], whole: int) -> Finding:
    idle, has_pause = sum(waits), waits[-1] > 0
    span = f"of the time from {step.title} to the next" if has_pause else f"of {step.title}"
    longest = max(range(len(waits)), key=waits.__getitem__)
    return Finding(
        f"{device} stood still for {100 * idle / whole:.0f}% {span}, "
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
        else step.gain(idle),
        command=(
            *("op", "-select", "micros,device", "-order_by", "cpu_micros"),
            *step.option,
        ),
    )
