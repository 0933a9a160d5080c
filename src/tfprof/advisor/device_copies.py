"""Time in which data is copied between devices or tasks while nothing computes.

Copies are the events on the copy lane of a GPU, tensors received from another task, and runs of
send and receive ops; receiving may include waiting for the sender. The time is that of a typical
recorded step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.kinds import of_kinds, ranks
from tfprof.advisor.steps import gain, took, whole_micros
from tfprof.columns import Bools, Coded, Ints
from tfprof.measures.steps import Step, on_lanes, op_flags, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Time in which data was copied between devices or tasks while nothing computed."

# Ops that TensorFlow inserts between devices, and its names for tensors in transit: the kind of an
# op that is not in the graph is its name.
_KINDS = ("_Send", "_Recv", "_HostSend", "_HostRecv", "edge_")

# Some data moves in any step; less than this can overlap with computing.
_LEAST_SHARE = 0.05
_LEAST_NANOS = 100_000


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if copies delay the step."""
    step = typical_step(profile)
    copies = (step.copy >= 0) | op_flags(step, of_kinds(profile, _KINDS))
    # In PyTorch the op that copies waits on the host, which is not computing.
    computing = on_lanes(profile, step) if is_of_pytorch(profile) else ~copies
    alone = step.covered(copies | computing) - step.covered(computing)
    if copies.any() and alone >= max(_LEAST_SHARE * took(profile, step), _LEAST_NANOS):
        yield _finding(profile, step, copies, alone)


def _finding(profile: ProfileColumns, step: Step, copies: Bools, alone: int) -> Finding:
    devices = profile.devices.name
    groups, copied = _by_device_and_name(profile, step, copies)
    rows = [
        (devices[device], copied.values[name], count, whole_micros(nanos))
        for device, name, count, nanos in groups
    ]
    advice = (
        "Copy from pinned memory with `non_blocking=True`, so that it overlaps with computing."
        if is_of_pytorch(profile)
        else "Place ops that exchange data on the same device or task."
    )
    return Finding(
        f"For {format_nanos(alone)} of {step.title}, data was copied while nothing computed. "
        f"{advice}",
        Evidence.of(
            {"recorded by": None, "what": None, "copies": Unit.COUNT, "time": Unit.MICROS}, rows
        ),
        ops=tuple(dict.fromkeys(what for _, what, _, _ in rows)),
        gain=gain(profile, step, step.covered(copies)),
        command=(*_command(profile), *step.option),
    )


def _command(profile: ProfileColumns) -> tuple[str, ...]:
    """The view that shows which lines or ops copy."""
    if is_of_pytorch(profile):
        kind, key = "code" if profile.has_code else "scope", "transfer_micros"
        shown = key
    else:
        kind, key = "scope", "output_bytes"
        shown = f"device,micros,{key}"
    return kind, "-select", shown, "-order_by", key, "-max_depth", "100", f"-min_{key}", "1"


def _by_device_and_name(
    profile: ProfileColumns, step: Step, copies: Bools
) -> tuple[list[tuple[int, int, int, int]], Coded]:
    """Device, name, count and time of the copies that took the most time, and the names."""
    ops, transfers = profile.ops, profile.copies
    row, op = step.copy[copies], step.op[copies]
    by_op, by_row = np.flatnonzero(row < 0), np.flatnonzero(row >= 0)
    names = Coded.joined(
        [
            Coded(np.arange(len(by_op)), ops.name.take(op[by_op])),
            transfers.name.take(row[by_row]),
        ]
    )
    name = np.empty(len(row), np.int64)
    name[np.concatenate((by_op, by_row))] = names.codes
    width = max(len(names.values), 1)
    keys, place = np.unique(step.device[copies] * width + name, return_inverse=True)
    nanos: Ints = np.zeros(len(keys), np.int64)
    np.add.at(nanos, place, (step.end - step.start)[copies])
    counts = np.bincount(place, minlength=len(keys))
    device, name = np.divmod(keys, width)
    by_name = ranks(names.values)[name], ranks(profile.devices.name)[device]
    order = np.lexsort((*by_name, -nanos))[:MOST_ROWS]
    columns = (column[order].tolist() for column in (device, name, counts, nanos))
    return list(zip(*columns, strict=True)), names
