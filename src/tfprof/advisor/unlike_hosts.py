"""Hosts that do the same work differently: with other hardware, or other kernels.

In a data-parallel job all hosts run the same ops. Other hardware, an op that runs on the CPU on one
host and on an accelerator elsewhere, or as another kind of kernel, usually means a wrong machine or
another version or setting of a library.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.columns import Ints
from tfprof.model.devices import Role
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, counted

SUMMARY = "Hosts with other hardware than most, or other kernels or devices for the same ops."

# With fewer hosts there is no usual one.
_LEAST_HOSTS = 3
_NAMES = {Role.HOST: "CPU", Role.ACCELERATOR: "accelerator"}


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report hosts with other hardware, then hosts with other placements and kernels."""
    if len(profile.recordings) >= _LEAST_HOSTS:
        yield from _other_hardware(profile)
        yield from _other_placement(profile)
        yield from _other_kernels(profile)


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


def _other_kernels(profile: ProfileColumns) -> Iterator[Finding]:
    """Ops that run as one kind of kernel on most hosts, and as another on others."""
    unlike: dict[int, list[tuple[str, str, str]]] = {}
    for op in _mixed(profile).tolist():
        kinds = _kinds(profile, op)
        (usual, count), *_ = Counter(kinds.values()).most_common()
        for host, kind in kinds.items():
            if kind != usual and 2 * count > len(kinds):
                unlike.setdefault(host, []).append((profile.ops.name[op], kind, usual))
    for host in sorted(unlike, key=lambda host: -len(unlike[host]))[:1]:
        rows, label = unlike[host], profile.recordings.label[host]
        yield Finding(
            f"{label} runs {counted(len(rows), 'op')} with another kind of kernel than most hosts.",
            Evidence.of({"op": None, "kernel": None, "on most hosts": None}, rows[:MOST_ROWS]),
            ops=tuple(name for name, _, _ in rows[:MOST_ROWS]),
            command=("op", "-recording", re.escape(label), "-select", "micros,occurrence"),
        )


def _mixed(profile: ProfileColumns) -> Ints:
    """The ops that did not run as the same kind on all hosts."""
    other, count = profile.other_kernels, len(profile.ops)
    rows = np.bincount(other.op, minlength=count)
    most, least = np.full(count, -1), np.full(count, len(other))
    np.maximum.at(most, other.op, other.kind.codes)
    np.minimum.at(least, other.op, other.kind.codes)
    is_same = (rows == profile.op_devices.lengths) & (most == least)
    return np.flatnonzero((rows > 0) & ~is_same)


def _kinds(profile: ProfileColumns, op: int) -> dict[int, str]:
    """As which kind an op ran, by recording."""
    placed, other = profile.op_devices, profile.other_kernels
    devices = placed.values[placed.offsets[op] : placed.offsets[op + 1]]
    found = dict.fromkeys(profile.devices.recording[devices].tolist(), profile.ops.kind[op])
    first, last = np.searchsorted(other.op, (op, op + 1)).tolist()
    recordings = other.recording[first:last].tolist()
    return found | {host: other.kind[first + row] for row, host in enumerate(recordings)}


def _listed(labels: list[str]) -> str:
    shown = ", ".join(labels[:MOST_ROWS])
    more = len(labels) - MOST_ROWS
    return f"{shown} and {more:,} more" if more > 0 else shown


def _regex(labels: list[str]) -> str:
    return "|".join(map(re.escape, labels[:MOST_ROWS]))
