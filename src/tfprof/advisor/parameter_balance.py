"""Parameters spread unevenly over parameter servers: the fullest server determines the step time.

A parameter server is a task of a job with `ps` in its name. Its parameters are the elements of the
variables that ran there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.kinds import of_kinds
from tfprof.columns import Ints
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.measures.steps import require_steps
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_count

SUMMARY = "Parameters spread unevenly over parameter servers."

_SERVER = re.compile(r"/job:(?=[^/]*ps)[^/]*/(replica:\d+/)?task:\d+", re.ASCII)
_VARIABLES = ("Variable", "VarHandleOp")  # the beginnings of their kinds

# Variables cannot be split, so the balance is never exact; 25 % above the mean is uneven.
_UNEVEN = 1.25
# This many floats are 400 KB, which hardly matters on any network.
_LEAST_SURPLUS = 100_000


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if one server holds many more parameters than the others."""
    require_steps(profile)
    servers, server_of = _servers(profile)
    if len(servers) < 2:
        return
    held = _held(profile, server_of, len(servers))
    mean = int(held.sum()) // len(servers)
    surplus = int(held.max()) - mean
    if held.max() >= _UNEVEN * mean and surplus >= _LEAST_SURPLUS:
        yield _finding(servers, held, surplus)


def _servers(profile: ProfileColumns) -> tuple[list[str], Ints]:
    """The parameter servers, and the index of each device's server, -1 for none."""
    matches = [_SERVER.match(name) for name in profile.devices.name]
    servers = sorted({match[0] for match in matches if match})
    server_of = [servers.index(match[0]) if match else -1 for match in matches]
    return servers, np.array([*server_of, -1])  # the last is for ops without a device


def _held(profile: ProfileColumns, server_of: Ints, count: int) -> Ints:
    """The number of parameters on each server."""
    placed = profile.op_devices
    first = np.full(len(profile.ops), -1)
    first[placed.lengths > 0] = placed.values[placed.offsets[:-1][placed.lengths > 0]]
    server = server_of[first]
    chosen = of_kinds(profile, _VARIABLES) & (server >= 0)
    held = np.zeros(count, np.int64)
    np.add.at(held, server[chosen], per_op(profile, EVERYTHING)["params"][chosen])
    return held


def _finding(servers: list[str], held: Ints, surplus: int) -> Finding:
    order = np.argsort(-held, kind="stable").tolist()
    fullest, emptiest = order[0], order[-1]
    return Finding(
        f"{servers[fullest]} holds {format_count(int(held[fullest]))} parameters, "
        f"{servers[emptiest]} only {format_count(int(held[emptiest]))}.",
        Evidence.of(
            {"parameter server": None, "parameters": Unit.COUNT},
            [(servers[server], int(held[server])) for server in order[:MOST_ROWS]],
        ),
        ops=tuple(servers[server] for server in order[:MOST_ROWS]),
        gain=Gain(surplus, int(held[fullest]), Unit.COUNT, "parameters on the fullest server"),
        command=(
            *("scope", "-account_type_regexes", f"{re.escape(servers[fullest])}/.*"),
            *("-select", "device,params", "-order_by", "params", "-min_params", "1"),
            *("-max_depth", "100"),
        ),
    )
