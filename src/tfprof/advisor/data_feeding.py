"""Steps that wait for their data: queues, iterators, readers, data loaders, Python in the graph.

Counts how long such ops ran, or the step waited for the next element of a tf.data pipeline or a
PyTorch `DataLoader`, while nothing else ran, in a typical recorded step. Data that is fed from
Python in another way is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.advisor.frameworks import is_of_pytorch
from tfprof.advisor.steps import gain, took, whole_micros
from tfprof.columns import Bools, Ints
from tfprof.measures.steps import Step, covered_together, op_flags, op_nanos, typical_step
from tfprof.model.ops import DATA_SCOPE, ITERATOR_KIND, Phase
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_nanos

SUMMARY = "Time in which a step only waited for data: queues, iterators, data loaders, Python."

# Every step fetches its data at some time; with less than this the input pipeline keeps up.
_LEAST_SHARE = 0.05
_LEAST_NANOS = 100_000

_NEXT = "(waiting for the next element)"
_MORE_WORKERS = (
    "Load it with more workers (`DataLoader(…, num_workers=…, persistent_workers=True)`), or do "
    "less work for each sample."
)
# The input pipeline, and what to do.
_OF_TENSORFLOW = ("tf.data", "Prefetch the data or read it in parallel.")
_OF_PYTORCH = ("DataLoader", _MORE_WORKERS)


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if the step waits for data."""
    step = typical_step(profile)
    runs = op_flags(step, _feeds(profile))
    everything = covered_together((step.start, step.end), (step.wait_start, step.wait_end))
    alone = everything - step.covered(~runs)
    has_input = runs.any() or len(step.wait_start)
    if has_input and alone >= max(_LEAST_SHARE * took(profile, step), _LEAST_NANOS):
        yield _finding(profile, step, runs, alone)


def _feeds(profile: ProfileColumns) -> Bools:
    """Which ops feed data to the model; the background threads of the pipeline do not count."""
    in_background = profile.ops.name.starts_with(f"{DATA_SCOPE}/")
    feeds: Bools = (profile.phase == Phase.INPUT) & ~in_background
    return feeds


def _finding(profile: ProfileColumns, step: Step, runs: Bools, alone: int) -> Finding:
    ops = profile.ops
    nanos = op_nanos(step, runs)
    shown = _slowest(nanos)
    waits = step.wait_start, step.wait_end
    pipeline, advice = _OF_PYTORCH if is_of_pytorch(profile) else _OF_TENSORFLOW
    waited = [(_NEXT, pipeline, whole_micros(covered_together(waits)))] * bool(len(waits[0]))
    return Finding(
        f"Only data feeding ran for {format_nanos(alone)} of {step.title}: the model waits for "
        f"its data. {advice}",
        Evidence.of(
            {"op": None, "kind": None, "time": Unit.MICROS},
            [
                *waited,
                *((ops.name[op], ops.kind[op], whole_micros(int(nanos[op]))) for op in shown),
            ],
        ),
        ops=tuple(ops.name[op] for op in shown),
        gain=gain(profile, step, covered_together(waits, (step.start[runs], step.end[runs]))),
        command=("steps", *step.option)
        if is_of_pytorch(profile)
        else _command(profile, step, shown),
    )


def _command(profile: ProfileColumns, step: Step, shown: list[int]) -> tuple[str, ...]:
    """The question that shows these ops, and the iterators behind them."""
    kinds = [re.escape(kind) for kind in sorted({profile.ops.kind[op] for op in shown})]
    if len(step.wait_start):
        kinds.append(f"{ITERATOR_KIND}.*")
    return (
        *("op", "-show_name_regexes", "|".join(kinds)),
        *("-select", "micros,occurrence", "-order_by", "micros", *step.option),
    )


def _slowest(nanos: Ints) -> list[int]:
    """The ops that took the most time, at most `MOST_ROWS`."""
    order = np.argsort(-nanos, kind="stable")[:MOST_ROWS]
    return [int(op) for op in order if nanos[op]]
