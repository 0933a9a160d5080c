"""Hosts that do the same work differently: on another kind of device, or not on the same device.

In a data-parallel job all hosts run the same ops. Other hardware, or an op that runs on the CPU
on one host and on an accelerator elsewhere, usually means a wrong machine or a missing kernel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.model.devices import Role
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, counted

SUMMARY = "Hosts with other hardware than most, or that run ops on another kind of device."

# With fewer hosts there is no usual one.
_LEAST_HOSTS = 3
_NAMES = {Role.HOST: "CPU", Role.ACCELERATOR: "accelerator"}


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report hosts with other hardware, then hosts with other placements."""
    if len(profile.recordings) >= _LEAST_HOSTS:
        yield from _other_hardware(profile)
        yield from _other_placement(profile)


def _other_hardware(profile: ProfileColumns) -> Iterator[Finding]:
    models: dict[int, set[str]] = {}
    rows = zip(profile.devices.recording.tolist(), profile.devices.model, strict=True)
    for recording, model in rows:
        if model:
            models.setdefault(recording, set()).add(model)
    found = {recording: ", ".join(sorted(names)) for recording, names in models.items()}
    counts = Counter(found.values()).most_common()
    if len(counts) < 2 or 2 * counts[0][1] <= len(found):
        return  # all are alike, or there is no usual hardware
    usual = counts[0][0]
    labels = profile.recordings.label
    others = [labels[recording] for recording in found if found[recording] != usual]
    has = "has" if len(others) == 1 else "have"
    yield Finding(
        f"{_listed(others)} {has} other hardware than the other "
        f"{counted(len(found) - len(others), 'host')}.",
        Evidence.of(
            {"hosts": Unit.COUNT, "hardware": None, "such as": None},
            [
                (count, model, next(labels[one] for one in found if found[one] == model))
                for model, count in counts[:MOST_ROWS]
            ],
        ),
        ops=tuple(others[:MOST_ROWS]),
        command=("steps", "-recording", _regex(others)),
    )


def _other_placement(profile: ProfileColumns) -> Iterator[Finding]:
    """Ops that run on an accelerator on most hosts, and on the CPU on others, or vice versa."""
    placed, devices = profile.placements, profile.devices
    role = np.where(devices.role[placed.device] == Role.HOST, Role.HOST, Role.ACCELERATOR)
    on_accelerator = role == Role.ACCELERATOR
    count = len(profile.ops)
    total = np.bincount(placed.op, minlength=count)
    accelerated = np.bincount(placed.op[on_accelerator], minlength=count)
    usual = 2 * accelerated > total
    is_mixed = (accelerated > 0) & (accelerated < total) & (2 * accelerated != total)
    other = np.flatnonzero(is_mixed[placed.op] & (on_accelerator != usual[placed.op]))
    recordings = devices.recording[placed.device[other]]
    for recording, ops in Counter(recordings.tolist()).most_common(1):
        rows = other[recordings == recording][:MOST_ROWS]
        names = [profile.ops.name[op] for op in placed.op[rows].tolist()]
        where = [_NAMES[Role(one)] for one in role[rows].tolist()]
        label = profile.recordings.label[recording]
        yield Finding(
            f"{label} runs {counted(ops, 'op')} on another kind of device than most hosts.",
            Evidence.of({"op": None, "runs on": None}, zip(names, where, strict=True)),
            ops=tuple(names),
            command=("scope", "-recording", re.escape(label), "-select", "device,micros"),
        )


def _listed(labels: list[str]) -> str:
    shown = ", ".join(labels[:MOST_ROWS])
    more = len(labels) - MOST_ROWS
    return f"{shown} and {more:,} more" if more > 0 else shown


def _regex(labels: list[str]) -> str:
    return "|".join(map(re.escape, labels[:MOST_ROWS]))
