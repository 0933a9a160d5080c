"""Expensive ops that ran on the host of an accelerator.

Reports only ops that an accelerator could run: they do float arithmetic, or another op of the same
kind ran on one. The time is that of a typical recorded step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.advisor.steps import gain, took, whole_micros
from tfprof.columns import Bools, Ints, distinct
from tfprof.measures.numbers import float_ops_per_run
from tfprof.measures.steps import Step, op_flags, op_nanos, typical_step
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Expensive ops that ran on the host although an accelerator is available."

# Moving a shorter op is not worth the copies it may require.
_LEAST_SHARE = 0.02
_LEAST_NANOS = 100_000


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report the expensive ops of each host in one finding."""
    step = typical_step(profile)
    for host, accelerators in _hosts(profile, step).items():
        found = _expensive(profile, step, host, accelerators)
        if len(found):
            yield _finding(profile, step, host, found)


def _hosts(profile: ProfileColumns, step: Step) -> dict[int, list[int]]:
    """The hosts of accelerators, each with those of its accelerators that were used."""
    devices, recording = profile.devices, int(profile.steps.recording[step.row])
    here = np.flatnonzero(devices.recording == recording).tolist()
    names = {devices.name[code]: code for code in here}
    home = profile.home(recording)
    found: dict[int, list[int]] = {}
    for code in distinct(home[home >= 0]).tolist():
        host = names.get(devices.host[code], code)
        if devices.is_placement[code] and host != code:
            found.setdefault(host, []).append(code)
    return found


def _expensive(profile: ProfileColumns, step: Step, host: int, accelerators: list[int]) -> Ints:
    """The ops on `host` that are worth moving, the slowest first."""
    nanos = op_nanos(step, step.device == host)
    least = max(_LEAST_SHARE * took(profile, step), _LEAST_NANOS)
    found = np.flatnonzero(nanos >= least)
    found = found[_could_move(profile, found, accelerators)] if len(found) else found
    return found[np.argsort(-nanos[found], kind="stable")]


def _could_move(profile: ProfileColumns, found: Ints, accelerators: list[int]) -> Bools:
    ops = profile.ops
    ran_there = np.zeros(len(ops.kind.values), np.bool_)
    ran_there[
        ops.kind.codes[profile.op_devices.any(np.isin(profile.op_devices.values, accelerators))]
    ] = True
    computes = float_ops_per_run(profile).per_run > 0
    return ran_there[ops.kind.codes[found]] | computes[found]


def _finding(profile: ProfileColumns, step: Step, host: int, found: Ints) -> Finding:
    ops, name = profile.ops, profile.devices.name[host]
    is_found = np.zeros(len(ops), np.bool_)
    is_found[found] = True
    runs = op_flags(step, is_found) & (step.device == host)
    nanos = op_nanos(step, runs)
    least_micros = int(nanos[found].min()) // NANOS_PER_MICRO
    shown = found[:MOST_ROWS].tolist()
    what = f"{len(found):,} ops" if len(found) > 1 else f"`{ops.name[shown[0]]}`"
    return Finding(
        f"{what} ran on {name} for {format_nanos(step.covered(runs))} of {step.title}, "
        "although an accelerator is available.",
        Evidence.of(
            {"op": None, "kind": None, "time on the host": Unit.MICROS},
            [(ops.name[op], ops.kind[op], whole_micros(int(nanos[op]))) for op in shown],
        ),
        ops=tuple(ops.name[op] for op in shown),
        gain=gain(profile, step, step.covered(runs)),
        command=(
            *("scope", "-account_type_regexes", re.escape(name), "-select", "micros,device"),
            *(
                "-order_by",
                "micros",
                "-min_micros",
                str(least_micros),
            ),
            *("-max_depth", "100", *step.option),
        ),
    )
