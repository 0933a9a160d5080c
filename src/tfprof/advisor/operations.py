"""Ops that have a faster alternative, as the original reports them.

Reports op names that contain `BatchNorm` if no op has the type `FusedBatchNorm`, and ops on a GPU
whose `data_format` attribute is NHWC. PyTorch has no such ops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.kinds import ranks
from tfprof.advisor.steps import gain
from tfprof.columns import Bools, Ints
from tfprof.errors import MissingInputError
from tfprof.measures.steps import op_flags, typical_step
from tfprof.model.devices import Role
from tfprof.model.profile import ProfileColumns

SUMMARY = "Ops that have a faster alternative: unfused batch normalisation, NHWC on a GPU."

_FUSED = "FusedBatchNorm"
_ATTRIBUTE, _SLOW_FORMAT = "data_format", "NHWC"

# Ops of one kind have the same attributes: if this many have no data format, none has one.
_PROBED = 64


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report unfused batch normalisation, and slow data formats."""
    if is_of_pytorch(profile):  # its batch normalisation is one kernel, whatever it is called
        return
    yield from _batch_norm(profile)
    yield from _data_format(profile)


def _batch_norm(profile: ProfileColumns) -> Iterator[Finding]:
    types = profile.ops.types
    is_fused = types.names.starts_with(_FUSED) & (types.names.lengths == len(_FUSED))
    is_normal = profile.ops.name.find("BatchNorm") >= 0
    if is_fused.any() or not is_normal.any():
        return
    found = np.flatnonzero(is_normal)
    yield Finding(
        f"{_ops(len(found))} named BatchNorm, but none is a {_FUSED}, which does the same in one "
        "kernel.",
        _listed(profile, found[:MOST_ROWS]),
        ops=tuple(profile.ops.name.take(found[:MOST_ROWS])),
        gain=_time_of(profile, is_normal),
        command=(
            *("scope", "-show_name_regexes", ".*BatchNorm.*"),
            *("-select", "micros", "-order_by", "micros", "-max_depth", "100"),
        ),
        classic=f"Maybe use faster {_FUSED} instead of BatchNorm",
    )


def _data_format(profile: ProfileColumns) -> Iterator[Finding]:
    found = np.fromiter(islice(_slow_formats(profile), MOST_ROWS), np.int64)
    if not len(found):
        return
    kinds = sorted({profile.ops.kind[op] for op in found.tolist()})
    yield Finding(
        f"Ops on a GPU, including {', '.join(kinds)}, use the data format {_SLOW_FORMAT}; NCHW may "
        "be faster.",
        _listed(profile, found),
        ops=tuple(profile.ops.name.take(found)),
        # The time with another layout cannot be predicted from this one.
        gain=None,
        command=(
            *("op", "-show_name_regexes", "|".join(map(re.escape, kinds))),
            *("-select", "micros,device,input_shapes", "-order_by", "micros"),
        ),
        classic="Found operation using NHWC data_format on GPU. Maybe NCHW is faster.",
    )


def _slow_formats(profile: ProfileColumns) -> Iterator[int]:
    """The ops on an accelerator that have the slow data format, found lazily."""
    ops, placed = profile.ops, profile.op_devices
    on_accelerator = placed.any((profile.devices.role == Role.ACCELERATOR)[placed.values])
    candidates = np.flatnonzero(on_accelerator & ops.is_defined)
    order = candidates[
        np.argsort(ranks(ops.kind.values)[ops.kind.codes[candidates]], kind="stable")
    ]
    bounds = np.flatnonzero(np.diff(ops.kind.codes[order])) + 1
    for of_kind in np.split(order, bounds):
        formats = list(_formats(profile, of_kind[:_PROBED]))
        if any(format_ is not None for format_ in formats):
            found = zip(of_kind.tolist(), _formats(profile, of_kind), strict=True)
            yield from (op for op, format_ in found if format_ == _SLOW_FORMAT)


def _formats(profile: ProfileColumns, found: Ints) -> Iterator[object]:
    """The data format of each op, None if it has none; equal values are decoded once."""
    origins = profile.ops.origins
    known: dict[bytes | None, object] = {None: None}
    for part in np.split(found, np.flatnonzero(np.diff(origins.input[found])) + 1):
        reader = origins.inputs[origins.input[part[0]]].attributes if len(part) else None
        if reader is None:
            yield from (None for _ in part)
            continue
        encoded = reader.encoded_values(origins.position[part], [_ATTRIBUTE])
        for op, (value,) in zip(part.tolist(), encoded, strict=True):
            if value not in known:
                known[value] = origins.attribute(op, _ATTRIBUTE)
            yield known[value]


def _listed(profile: ProfileColumns, found: Ints) -> Evidence:
    ops = profile.ops
    rows = [(ops.name[op], ops.kind[op]) for op in found.tolist()]
    return Evidence.of({"op": None, "kind": None}, rows)


def _ops(count: int) -> str:
    return "1 op is" if count == 1 else f"{count:,} ops are"


def _time_of(profile: ProfileColumns, flags: Bools) -> Gain | None:
    """The time of the flagged ops as the gain, since a faster op may take almost none."""
    try:
        step = typical_step(profile)
    except MissingInputError:
        return None
    return gain(profile, step, step.covered(op_flags(step, flags)))
