"""Calls in which the host waits for an accelerator: what makes them, and what they may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence
from tfprof.advisor.steps import took, whole_micros
from tfprof.columns import Bools
from tfprof.measures.steps import Step, on_lanes
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit

_LEAST_NANOS = 100_000


class HostWaits(NamedTuple):
    """The waits in a step, and by how much it could be shorter without them."""

    runs: int
    nanos: int
    most_gained: int
    causes: tuple[str, ...]
    evidence: Evidence


def delays(
    profile: ProfileColumns, step: Step, is_wait: Callable[[str], bool], least_share: float
) -> HostWaits | None:
    """The runs of the kinds that are waits, if they delay a step by at least this share of it."""
    flags = [is_wait(kind) for kind in profile.ops.kind.values]
    found = _host_waits(profile, step, _is_kind(profile, step, flags))
    least = max(least_share * took(profile, step), _LEAST_NANOS)
    return found if found.most_gained >= least else None


def _host_waits(profile: ProfileColumns, step: Step, flags: Bools) -> HostWaits:
    """The flagged runs of a step, by the op around them and its line, the longest first.

    Without them the step would still take as long as the accelerators compute.
    """
    idle = took(profile, step) - step.covered(on_lanes(profile, step))
    nanos = step.covered(flags)
    sums: dict[tuple[str, str], list[int]] = {}
    each = (step.end - step.start)[flags].tolist()
    for op, duration in zip(step.op[flags].tolist(), each, strict=True):
        known = sums.setdefault((_cause(profile, op), line_of(profile, op)), [0, 0])
        known[0] += 1
        known[1] += duration
    rows = sorted(sums.items(), key=lambda row: (-row[1][1], row[0]))[:MOST_ROWS]
    return HostWaits(
        int(flags.sum()),
        nanos,
        min(nanos, max(idle, 0)),
        tuple(dict.fromkeys(cause for (cause, _), _ in rows)),
        Evidence.of(
            {"op": None, "line": None, "waits": Unit.COUNT, "time": Unit.MICROS},
            [(*place, runs, whole_micros(time)) for place, (runs, time) in rows],
        ),
    )


def _cause(profile: ProfileColumns, op: int) -> str:
    """The kind of the outermost op around a call, or of the call itself if there is none."""
    part_of = profile.ops.part_of
    while part_of[op] >= 0:
        op = int(part_of[op])
    return profile.ops.kind[op]


def line_of(profile: ProfileColumns, op: int) -> str:
    """The line of code that called an op, as `train.py:49`; empty if unknown."""
    row = int(profile.ops.code[op])
    if row < 0:
        return ""
    frame = profile.code.frame(row)
    return f"{frame.file}:{frame.line}"


def _is_kind(profile: ProfileColumns, step: Step, flags_by_kind: list[bool]) -> Bools:
    """Which runs of a step are of a flagged kind, not on an accelerator."""
    flags = np.array(flags_by_kind, np.bool_)[profile.ops.kind.codes]
    return np.append(flags, False)[step.op] & ~on_lanes(profile, step)
