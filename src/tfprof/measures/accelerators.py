"""What each accelerator computed in a step, and what happened while it was idle.

An accelerator is idle while no kernel runs on any of its streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.measures.step_sums import busy_devices, input_waits
from tfprof.measures.steps import Step, covered, covered_together, op_flags
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns

# What may happen while an accelerator is idle, besides ops of each phase on the host. If several
# things happen at once, the first one counts.
INPUT, COMMUNICATION, TRANSFERS, WAITING = "input", "communication", "transfers", "waiting"
NOTHING = "nothing"

# Instead of a phase: the ops of transfers may be unknown.
UNATTRIBUTED = "unattributed"

# The lane with the transfers of an accelerator has its name and this.
_LANE = "/memcpy"

_BY_PHASE = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER, Phase.OTHER)


@dataclass(frozen=True, slots=True)
class AcceleratorTime:
    """What an accelerator did in a step; all times are nanoseconds.

    `kernel_ns` adds up the kernels by the phase of their ops, `transfer_ns` the copies and fills;
    several may run at once. `idle_ns` divides the time in which no kernel ran by what happened
    meanwhile: waiting for `input`, `communication`, `transfers`, the host `waiting` for the
    accelerator, ops on the host by phase, and `nothing`, such as Python code between ops. It adds
    up to the wall time without `busy_ns`.
    """

    device: str
    kernels: int
    busy_ns: int
    kernel_ns: Mapping[str, int]
    transfers: int
    transfer_ns: Mapping[str, int]
    idle_ns: Mapping[str, int]


def accelerator_times(profile: ProfileColumns, step: Step) -> list[AcceleratorTime]:
    """The accelerators that ran kernels in a step, sorted by name."""
    start, end = step.within
    on_lane = on_lanes(profile, step)
    names = np.array(busy_devices(profile))
    found = []
    for name in np.unique(names[step.device[on_lane]]).tolist():
        here = on_lane & (names[step.device] == name)
        copied = (step.copy >= 0) & (names[step.device] == f"{name}{_LANE}")
        busy = start[here], end[here]
        found.append(
            AcceleratorTime(
                device=name,
                kernels=int(here.sum()),
                busy_ns=covered(*busy),
                kernel_ns=_by_phase(profile, step, here),
                transfers=int(copied.sum()),
                transfer_ns=_by_phase(profile, step, copied),
                idle_ns=_idle(profile, step, busy),
            )
        )
    return found


def on_lanes(profile: ProfileColumns, step: Step) -> Bools:
    """Which runs of a step are kernels on accelerators."""
    return np.append(profile.devices.is_accelerator_lane, False)[step.device] & (step.op >= 0)


def is_host_wait(profile: ProfileColumns) -> Bools:
    """For each op, whether it is a call in which the host waits for an accelerator."""
    kind = profile.ops.kind
    flags = ["Synchronize" in name or is_blocking_copy(name) for name in kind.values]
    return np.array(flags, np.bool_)[kind.codes]


def is_blocking_copy(kind: str) -> bool:
    """Whether a kind is a call that copies and waits; such calls are ops only if they wait."""
    return kind.startswith(("cudaMemcpy", "hipMemcpy"))


def _by_phase(profile: ProfileColumns, step: Step, flags: Bools) -> dict[str, int]:
    """The time of the flagged runs and transfers by the phase of their ops."""
    names = [*(phase.name.lower() for phase in Phase), UNATTRIBUTED]
    record = np.append(profile.copies.record, -1)[step.copy[flags]]
    op = np.where(step.op[flags] >= 0, step.op[flags], np.append(profile.records.op, -1)[record])
    sums = np.zeros(len(names), np.int64)
    np.add.at(sums, np.append(profile.phase, len(Phase))[op], (step.end - step.start)[flags])
    return {name: int(nanos) for name, nanos in zip(names, sums.tolist(), strict=True) if nanos}


def _idle(profile: ProfileColumns, step: Step, busy: tuple[Ints, Ints]) -> dict[str, int]:
    """The time outside of `busy` by what happened meanwhile."""
    found: dict[str, int] = {}
    intervals, before = [busy], covered(*busy)
    for name, interval in _meanwhile(profile, step):
        intervals.append(interval)
        now = covered_together(*intervals)
        if now > before:
            found[name] = now - before
        before = now
    if step.nanos > before:
        found[NOTHING] = step.nanos - before
    return found


def _meanwhile(profile: ProfileColumns, step: Step) -> Iterator[tuple[str, tuple[Ints, Ints]]]:
    """What happened in a step besides kernels, and when, by descending precedence."""
    start, end = step.within
    on_host = (step.op >= 0) & ~on_lanes(profile, step)
    phase = np.append(profile.phase, -1)[step.op]
    yield INPUT, input_waits(profile, step)
    for name, flags in (
        (COMMUNICATION, on_host & (phase == Phase.COMMUNICATION)),
        (TRANSFERS, step.copy >= 0),
        (WAITING, on_host & op_flags(step, is_host_wait(profile))),
        *((one.name.lower(), on_host & (phase == one)) for one in _BY_PHASE),
    ):
        yield name, (start[flags], end[flags])
