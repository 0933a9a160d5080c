"""The comparison of hosts, on which several checkers report."""

from __future__ import annotations

import re

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.steps import whole_micros
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.options import RankOptions
from tfprof.units import Unit, format_nanos
from tfprof.views.ranks import RankTimes, SlowHost, build

# How the parts of a step are named in evidence.
_PARTS = {
    "compute": "running ops",
    "input_wait": "waiting for input",
    "transfers": "transfers between devices",
    "idle": "idle",
}


@remembered
def compared(profile: ProfileColumns) -> RankTimes:
    """All hosts in all steps; requires several recordings."""
    return build(profile, RankOptions())


def finding(found: RankTimes, one: SlowHost, why: str) -> Finding:
    """The finding on a slow host; `why` ends the sentence."""
    host = next(rank for rank in found.ranks if rank.recording == one.recording)
    label = re.escape(one.recording)
    return Finding(
        f"{one.recording} takes {format_nanos(one.excess_ns)} ({100 * one.excess:.0f}%) longer "
        f"than the other hosts {one.when}, {why}",
        Evidence.of(
            {"where": None, "in": None, "longer per step": Unit.MICROS},
            [
                (loss.scope or "-", _PARTS[loss.part], whole_micros(loss.nanos))
                for loss in one.losses[:MOST_ROWS]
            ],
        ),
        ops=tuple(loss.scope for loss in one.losses if loss.scope),
        gain=Gain(
            whole_micros(min(one.excess_ns, host.mean_ns)),
            whole_micros(host.mean_ns),
            Unit.MICROS,
            "of the step",
        ),
        command=("steps", "-recording", label)
        if one.waits_for_input
        else ("scope", "-recording", label, "-select", "micros", "-order_by", "micros"),
    )
