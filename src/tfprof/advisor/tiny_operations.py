"""Many tiny ops: starting them takes the executor longer than they compute.

Counts the time in which only ops of a few microseconds ran, or nothing at all, in a typical
recorded step. For PyTorch on an accelerator, TinyKernelChecker looks at the kernels instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.kinds import by_kind, run_counts
from tfprof.advisor.steps import gain, took, whole_micros
from tfprof.columns import Bools
from tfprof.measures.steps import Step, on_lanes, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Many tiny ops, which take longer to dispatch than to compute."

# Starting an op takes a few microseconds, most of the time of a shorter op.
_TINY_NANOS = 10_000
# Fewer runs than this take a few milliseconds at most, no matter how they are dispatched.
_LEAST_RUNS = 1000
# Some ops are tiny in any step; they matter if they take a third of its time.
_LEAST_SHARE = 1 / 3


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if tiny ops dominate the step."""
    step = typical_step(profile)
    kernels = on_lanes(profile, step)
    if is_of_pytorch(profile) and kernels.any():
        return
    is_run = (step.op >= 0) & ~kernels
    is_tiny = is_run & (step.end - step.start <= _TINY_NANOS)
    # Time before its first and after its last run has other causes, such as waiting for input.
    span = int(step.end.max(initial=step.begin)) - int(step.start.min(initial=step.finish))
    wasted = span - step.covered(~is_tiny)
    if wasted < _LEAST_SHARE * took(profile, step):
        return
    runs = int(run_counts(profile, step, is_tiny).sum())
    if runs >= _LEAST_RUNS:
        yield _finding(profile, step, is_tiny, runs, wasted)


def _finding(
    profile: ProfileColumns, step: Step, is_tiny: Bools, runs: int, wasted: int
) -> Finding:
    shown = by_kind(profile, step, is_tiny)
    advice = (
        "`torch.compile` fuses ops."
        if is_of_pytorch(profile)
        else "Fused cells or XLA reduce the number of ops to dispatch."
    )
    return Finding(
        f"For {format_nanos(wasted)} of {step.title}, only ops of at most "
        f"{whole_micros(_TINY_NANOS)} microseconds ran ({runs:,} runs), or none. "
        f"{advice}",
        Evidence.of(
            {"kind": None, "tiny runs": Unit.COUNT, "their time": Unit.MICROS},
            [(one.kind, one.runs, whole_micros(one.nanos)) for one in shown],
        ),
        ops=tuple(one.kind for one in shown),
        gain=gain(profile, step, wasted),
        command=(
            *("op", "-select", "occurrence,micros", "-order_by", "occurrence"),
            *("-max_depth", "9", *step.option),
        ),
    )
