"""Many tiny kernels: launching them takes the host longer than they compute.

Counts the kernels of a few microseconds in a typical recorded step, and the time in which only
these or none ran.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.advisor.already import in_graphs, launch_advice
from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.kinds import by_kind
from tfprof.advisor.steps import gain, took, whole_micros
from tfprof.columns import Bools
from tfprof.measures.steps import Step, on_lanes, op_flags, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Many tiny kernels, which take longer to launch than to compute (PyTorch)."

# Launching a kernel takes PyTorch 5 to 10 microseconds, with the op around it more.
_TINY_NANOS = 10_000
_LEAST_KERNELS = 100
# Some kernels are tiny in any step; they matter if they are most of them and the accelerator is
# mostly without work.
_LEAST_SHARE = 0.5


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if tiny kernels dominate the step."""
    if not is_of_pytorch(profile):
        return
    step = typical_step(profile)
    kernels = on_lanes(profile, step)
    # Those of a graph are launched together.
    single = kernels & ~op_flags(step, in_graphs(profile))
    tiny = single & (step.end - step.start <= _TINY_NANOS)
    if int(tiny.sum()) < max(_LEAST_KERNELS, _LEAST_SHARE * int(kernels.sum())):
        return
    # Time before the first and after the last kernel has other causes, such as waiting for input.
    span = int(step.end[kernels].max()) - int(step.start[kernels].min())
    wasted = span - step.covered(kernels & ~tiny)
    if wasted >= _LEAST_SHARE * took(profile, step):
        yield _finding(profile, step, kernels, tiny, wasted)


def _finding(
    profile: ProfileColumns, step: Step, kernels: Bools, tiny: Bools, wasted: int
) -> Finding:
    shown = by_kind(profile, step, tiny)
    return Finding(
        f"{int(tiny.sum()):,} of {int(kernels.sum()):,} kernels in {step.title} take at most "
        f"{whole_micros(_TINY_NANOS)} microseconds; for {format_nanos(wasted)} only these ran, or "
        f"none. {launch_advice(profile, step)}",
        Evidence.of(
            {"kind": None, "tiny kernels": Unit.COUNT, "their time": Unit.MICROS},
            [(one.kind, one.runs, whole_micros(one.nanos)) for one in shown],
        ),
        ops=tuple(one.kind for one in shown),
        gain=gain(profile, step, wasted),
        command=(
            *("op", "-select", "occurrence,accelerator_micros", "-order_by", "occurrence"),
            *("-max_depth", "9", *step.option),
        ),
    )
