"""Communication between ranks: how much of the step it takes, and what could hide or shorten it.

Communication is exposed while nothing computes. The bandwidth is that of the bus of one rank, by
the usual factors of each collective; of one recording alone it includes waiting for other ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.hosts import compared
from tfprof.advisor.steps import whole_micros
from tfprof.measures.device_windows import device_windows, main_window
from tfprof.measures.messages import message_times
from tfprof.measures.warm_up import warm_up_steps
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import Window
from tfprof.units import Unit, format_bytes, format_percent

SUMMARY = "Communication between ranks that nothing hides, by group, and its bandwidth."

_LEAST_SHARE = 0.05
# Most of the exposed time is waiting for others: then hiding it does not help.
_MOSTLY = 0.5


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report the communication of the accelerators if much of it is exposed."""
    windows = device_windows(profile)
    rows = main_window(windows, Window.OWN)
    rows = rows[~np.isin(windows.step[rows], warm_up_steps(profile))]
    whole = int((windows.finish_ns - windows.begin_ns)[rows].sum())
    exposed = int(windows.exposed_communication_ns[rows].sum())
    hidden = int(windows.overlapped_communication_ns[rows].sum())
    if not whole or exposed < _LEAST_SHARE * whole:
        return
    waiting = _waiting(profile)
    found = message_times(profile, windows.step[rows])
    steps = len(rows)
    yield Finding(
        f"Communication takes {format_percent(exposed + hidden, whole)} of the steps on the "
        f"accelerators: {format_percent(exposed, whole)} while nothing computes, "
        f"{format_percent(hidden, whole)} hidden behind computing. {_advice(waiting, exposed)}",
        Evidence.of(
            {
                "collective": None,
                "ranks": None,
                "runs per step": None,
                "time per step": Unit.MICROS,
                "message": None,
                "bus bandwidth": None,
            },
            [
                (
                    one.kind or "unknown",
                    one.group or "unknown",
                    f"{one.runs / steps:.4g}",
                    whole_micros(one.nanos / steps),
                    format_bytes(one.bytes) if one.bytes else "unknown",
                    f"{format_bytes(round(one.bus_bytes))}/s" if one.bus_bytes else "unknown",
                )
                for one in found[:MOST_ROWS]
            ],
        ),
        ops=tuple(dict.fromkeys(one.kind for one in found[:MOST_ROWS] if one.kind)),
        gain=Gain(
            whole_micros(exposed / steps), whole_micros(whole / steps), Unit.MICROS, "of the step"
        ),
        command=("ranks",) if len(profile.recordings) > 1 else ("steps",),
    )


def _waiting(profile: ProfileColumns) -> float | None:
    """How long ranks wait for others in all their steps; None if unknown."""
    if len(profile.recordings) < 2:
        return None
    ranks = compared(profile).ranks
    known = [one.waiting_ns * one.steps for one in ranks if one.waiting_ns is not None]
    return float(np.sum(known)) if known else None


def _advice(waiting: float | None, exposed: int) -> str:
    overlap = "Overlap it with the backward pass, in larger buckets."
    if waiting is None:
        return overlap + " Record all ranks to see how much of it is waiting for a slow one."
    share = format_percent(min(round(waiting), exposed), exposed)
    if waiting >= _MOSTLY * exposed:
        return f"Waiting for the last rank is {share} of that: look for what delays it."
    return f"Waiting for the last rank is {share} of that. {overlap}"
