"""Optimizers that update the parameters with many kernels instead of a fused one.

The optimizers of PyTorch that have a fused implementation use it only if `fused=True` is given.
Counts the time in which only ops of such an optimizer ran, in a typical recorded step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.steps import gain, took, whole_micros
from tfprof.measures.steps import on_lanes, op_flags, typical_step
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, counted, format_nanos

SUMMARY = "Optimizers that could update the parameters with a fused kernel (PyTorch)."

_WITH_FUSED = ("Adagrad", "Adam", "AdamW", "SGD")
_FUSED = "aten::_fused_"
# A fused optimizer still takes the time to read and write all parameters.
_LEAST_SHARE = 0.05
_LEAST_NANOS = 100_000


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report each optimizer that takes much of the step."""
    if not is_of_pytorch(profile):
        return
    step = typical_step(profile)
    names = profile.ops.name
    is_update = profile.phase == Phase.OPTIMIZER
    is_fused = is_update & profile.ops.kind.values.starts_with(_FUSED)[profile.ops.kind.codes]
    for optimizer in _WITH_FUSED:
        ops = is_update & names.starts_with(f"optimizer/{optimizer}.step/")
        runs = op_flags(step, ops)
        alone = step.alone(runs)
        if (ops & is_fused).any() or alone < max(_LEAST_SHARE * took(profile, step), _LEAST_NANOS):
            continue
        kernels = runs & on_lanes(profile, step)
        what = "kernels" if kernels.any() else "runs"
        count = int((kernels if kernels.any() else runs).sum())
        parts = counted(count, what.removesuffix("s"))
        yield Finding(
            f"{optimizer} takes {format_nanos(alone)} of {step.title} alone, in {parts}. "
            f"`torch.optim.{optimizer}(…, fused=True)` updates the parameters with a few.",
            Evidence.of(
                {"optimizer": None, what: Unit.COUNT, "time": Unit.MICROS},
                [(optimizer, count, whole_micros(step.covered(runs)))],
            ),
            ops=tuple(names.take(np.flatnonzero(ops)[:1])),
            gain=gain(profile, step, alone),
            command=(
                *("scope", "-start_name_regexes", "optimizer.*", "-select", "micros"),
                *("-order_by", "micros", "-max_depth", "3", *step.option),
            ),
        )
