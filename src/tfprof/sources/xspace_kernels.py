"""The launches of kernels in an XSpace with their configurations."""

from __future__ import annotations

import re

import numpy as np

from tfprof.columns import Ints, Shape, Shapes, ints
from tfprof.model.kernel_runs import UNKNOWN, KernelLaunches, KernelRuns
from tfprof.sources.xspace_events import Space, in_nanos
from tfprof.sources.xspace_vocabulary import Kernels

_FACT = re.compile(r"(\w+):([0-9,]+)", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_DIMENSIONS = 3


def kernel_runs(
    space: Space, kernels: Kernels, *, op: Ints, step: Ints, device: Ints
) -> KernelRuns:
    """The kernels, with the op, the step and the lane of each.

    The profiler states the theoretical occupancy alone, so the achieved one is unknown.
    """
    stated = [dict(_FACT.findall(text)) for text in kernels.details.values]
    of_row = kernels.details.codes
    static, dynamic = (
        ints([_number(facts.get(f"{kind}_shared", "")) for facts in stated])
        for kind in ("static", "dynamic")
    )
    shared = np.where((static < 0) | (dynamic < 0), UNKNOWN, static + dynamic)
    grids, blocks = (Shapes.of(_shape(facts.get(key, "")) for facts in stated) for key in _SHAPES)
    return KernelLaunches(
        op=op,
        step=step,
        device=device,
        name=kernels.name,
        grid=grids.take(of_row),
        block=blocks.take(of_row),
        registers=ints([_number(facts.get("regs", "")) for facts in stated])[of_row],
        shared_memory=shared[of_row],
        occupancy=np.full(len(of_row), UNKNOWN),
        duration_ns=in_nanos(space.duration_ps[kernels.event]),
    ).gathered()


_SHAPES = ("grid", "block")


def _number(text: str) -> int:
    return int(text) if _NUMBER.fullmatch(text) else UNKNOWN


def _shape(text: str) -> Shape:
    sides = [_number(side) for side in text.split(",")]
    return tuple(sides) if len(sides) <= _DIMENSIONS and UNKNOWN not in sides else None
