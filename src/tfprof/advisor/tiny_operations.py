"""Many tiny ops: starting them takes the executor longer than they compute.

Counts the time in which only ops of a few microseconds ran, or nothing at all, in a typical
recorded step.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.advisor.kinds import ranks
from tfprof.advisor.steps import gain, whole_micros
from tfprof.columns import Bools
from tfprof.measures.steps import Step, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Many tiny ops, which take longer to dispatch than to compute."

# Starting an op takes TensorFlow's executor a few microseconds, most of the time of a shorter op.
_TINY_NANOS = 10_000
# Fewer runs than this take a few milliseconds at most, no matter how they are dispatched.
_LEAST_RUNS = 1000
# Some ops are tiny in any step; they matter if they take a third of its time.
_LEAST_SHARE = 1 / 3


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if tiny ops dominate the step."""
    step = typical_step(profile)
    is_run = (step.op >= 0) & ~np.append(profile.devices.is_accelerator_lane, False)[step.device]
    is_tiny = is_run & (step.end - step.start <= _TINY_NANOS)
    # Time before its first and after its last run has other causes, such as waiting for input.
    span = int(step.end.max(initial=step.begin)) - int(step.start.min(initial=step.finish))
    wasted = span - step.covered(~is_tiny)
    if int(is_tiny.sum()) >= _LEAST_RUNS and wasted >= _LEAST_SHARE * step.nanos:
        yield _finding(profile, step, is_tiny, wasted)


def _finding(profile: ProfileColumns, step: Step, is_tiny: Bools, wasted: int) -> Finding:
    kinds = profile.ops.kind
    code = kinds.codes[step.op[is_tiny]]
    runs = np.bincount(code, minlength=len(kinds.values))
    nanos = np.zeros(len(kinds.values), np.int64)
    np.add.at(nanos, code, (step.end - step.start)[is_tiny])
    shown = np.lexsort((ranks(kinds.values), -runs))[:MOST_ROWS]
    shown = shown[runs[shown] > 0].tolist()
    micros = {kind: whole_micros(int(nanos[kind])) for kind in shown}
    return Finding(
        f"For {format_nanos(wasted)} of {step.title}, only ops of at most "
        f"{whole_micros(_TINY_NANOS)} microseconds ran ({int(is_tiny.sum()):,} runs), or none. "
        "Fused cells or XLA reduce the number of ops to dispatch.",
        Evidence.of(
            {"kind": None, "tiny runs": Unit.COUNT, "their time": Unit.MICROS},
            [(kinds.values[kind], int(runs[kind]), micros[kind]) for kind in shown],
        ),
        ops=tuple(kinds.values[kind] for kind in shown),
        gain=gain(step, wasted),
        command=(
            *("op", "-select", "occurrence,micros", "-order_by", "occurrence"),
            *("-max_depth", "9", *step.option),
        ),
    )
