"""Parameters spread unevenly over parameter servers: the fullest server determines the step time.

A parameter server is a task of a job with `ps` in its name. Its parameters are the elements of the
variables that ran there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.measures.servers import ParameterServer, servers
from tfprof.measures.steps import require_steps
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_count

SUMMARY = "Parameters spread unevenly over parameter servers."

# Variables cannot be split, so the balance is never exact; 25 % above the mean is uneven.
_UNEVEN = 1.25
# This many floats are 400 KB, which hardly matters on any network.
_LEAST_SURPLUS = 100_000


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if one server holds many more parameters than the others."""
    require_steps(profile)
    found = sorted(servers(profile), key=lambda one: -one.params)
    if len(found) < 2:
        return
    mean = sum(one.params for one in found) // len(found)
    surplus = found[0].params - mean
    if found[0].params >= _UNEVEN * mean and surplus >= _LEAST_SURPLUS:
        yield _finding(found, surplus)


def _finding(found: list[ParameterServer], surplus: int) -> Finding:
    fullest, emptiest = found[0], found[-1]
    return Finding(
        f"{fullest.task} holds {format_count(fullest.params)} parameters, "
        f"{emptiest.task} only {format_count(emptiest.params)}.",
        Evidence.of(
            {"parameter server": None, "parameters": Unit.COUNT},
            [(one.task, one.params) for one in found[:MOST_ROWS]],
        ),
        ops=tuple(one.task for one in found[:MOST_ROWS]),
        gain=Gain(surplus, fullest.params, Unit.COUNT, "parameters on the fullest server"),
        command=(
            *("scope", "-account_type_regexes", f"{re.escape(fullest.task)}/.*"),
            *("-select", "device,params", "-order_by", "params", "-min_params", "1"),
            *("-max_depth", "100"),
        ),
    )
