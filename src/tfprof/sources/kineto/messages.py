"""What the collectives of accelerators send, and which ranks take part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, ints
from tfprof.formats.kineto.columns import Trace
from tfprof.sources.kineto.host import Host
from tfprof.sources.kineto.launches import Launches

# The bytes of elements, by the names of PyTorch's types.
_SIZES = {
    **dict.fromkeys(("Byte", "Char", "Bool"), 1),
    **dict.fromkeys(("Short", "Half", "BFloat16"), 2),
    **dict.fromkeys(("Int", "Float"), 4),
    **dict.fromkeys(("Long", "Double", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}

# How far out the op may be that states the message: `record_param_comms` around `nccl:…`.
_MOST_OUT = 4


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """One row per kernel whose message is stated."""

    activity: Ints  # a row of `Launches`
    kind: Coded
    group: Coded
    ranks: Ints
    bytes: Ints


def messages(trace: Trace, host: Host, launched: Launches) -> Stated:
    """The messages that the ops around the launches of kernels state, or the kernels themselves.

    Kernels of older versions of PyTorch do not state the type of elements.
    """
    stated = trace.collectives
    row_of = np.full(len(trace.slices) + 1, -1)
    row_of[stated.slice] = np.arange(len(stated))
    row = np.full(len(launched), -1)
    around = np.where(launched.is_kernel, launched.call, -1)
    for _ in range(_MOST_OUT):
        around = np.append(host.in_op, -1)[around]
        row = np.where(row >= 0, row, row_of[np.append(host.slice, -1)[around]])
    row = np.where((row < 0) & launched.is_kernel, row_of[launched.slice], row)
    activity = np.flatnonzero(row >= 0)
    row = row[activity]
    sizes = ints([_size(name) for name in stated.dtype.values])
    elements = np.maximum(np.maximum(stated.in_elements, stated.out_elements), 0)[row]
    return Stated(
        ints(activity),
        stated.name.take(row),
        _groups(stated.group, stated.group_ranks).take(row),
        ints(np.maximum(stated.group_size, 0)[row]),
        ints(elements * np.append(sizes, 0)[stated.dtype.codes[row]]),
    )


def _groups(name: Coded, ranks: Coded) -> Coded:
    """The ranks of each group, or its name if they are not stated."""
    width = len(ranks.values) or 1
    pairs, place = np.unique(name.codes * width + ranks.codes, return_inverse=True)
    texts = [ranks.values[pair % width] or name.values[pair // width] for pair in pairs.tolist()]
    return Coded.of(texts).take(place)


def _size(dtype: str) -> int:
    """The bytes of an element; 0 if the type is unknown."""
    return 1 if dtype.startswith("Float8") else _SIZES.get(dtype, 0)
