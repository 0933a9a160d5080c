"""The launches of kernels with their configurations."""

from __future__ import annotations

import json

import numpy as np

from tfprof.columns import Coded, Ints, Shape, Shapes, places_of
from tfprof.formats.kineto.columns import Trace
from tfprof.model.kernel_runs import FACTS, UNKNOWN, KernelLaunches, KernelRuns

_DIMENSIONS = 3
_MOST_DIM = 2**31


def kernel_runs(trace: Trace, rows: Ints, *, op: Ints, step: Ints, device: Ints) -> KernelRuns:
    """The kernels in `rows` of the slices, with the op, the step and the lane of each."""
    slices, stated = trace.slices, trace.configurations
    of_row = places_of(stated.slice, len(slices))[rows]
    facts = {name: np.append(getattr(stated, name), UNKNOWN)[of_row] for name in FACTS}
    return KernelLaunches(
        op=op,
        step=step,
        device=device,
        name=slices.name.take(rows),
        grid=_shapes(stated.grid, of_row),
        block=_shapes(stated.block, of_row),
        **{name: np.maximum(column, UNKNOWN) for name, column in facts.items()},
        duration_ns=slices.duration_ns[rows],
    ).gathered()


def _shapes(texts: Coded, rows: Ints) -> Shapes:
    """The lists in these rows; unknown for row -1 and for what is no list of numbers."""
    known = Shapes.of([*map(_shape, texts.values), None])
    codes = np.append(texts.codes, len(texts.values))[rows]
    return Shapes(known.codes[codes], known.values)


def _shape(text: str) -> Shape:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not 0 < len(found) <= _DIMENSIONS:
        return None
    is_shape = all(type(side) is int and 0 <= side < _MOST_DIM for side in found)
    return tuple(found) if is_shape else None
