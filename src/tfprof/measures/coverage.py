"""How much of the recorded op time has a graph op, a scope, a code line and a float-op count."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.measures.numbers import float_ops_per_run
from tfprof.measures.run_sums import run_sums
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE
from tfprof.model.profile import ProfileColumns


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the ops that ran are in the graph, and how much of their time is attributed.

    All times are in nanoseconds.
    """

    ops: int
    in_graph: int
    nanos: int
    with_scope: int
    with_line: int
    with_float_ops: int

    def sentence(self) -> str:
        """The coverage in one sentence, for a note."""
        shares = (
            (self.with_scope, "is under a scope of the model"),
            (self.with_line, "has a code line"),
            (self.with_float_ops, "has a float-op count"),
        )
        percentages = ", ".join(f"{_percent(part, self.nanos)} {what}" for part, what in shares)
        return (
            f"coverage: {self.in_graph:,} of {self.ops:,} ops that ran are in the graph; of "
            f"{round(self.nanos / NANOS_PER_MICRO):,} microseconds of op time in all steps, "
            f"{percentages}."
        )


def coverage(profile: ProfileColumns) -> Coverage:
    """The coverage of the ops that ran, weighted by their time in all steps."""
    ops = profile.ops
    runs = run_sums(profile)
    nanos, ran = runs.totals("nanos", None).copy(), runs.seen(None) > 0
    # The iterators of the input pipeline are part of no graph, and their time includes waiting.
    ran &= ~ops.is_iterator()
    nanos[~ran] = 0
    has_scope = ops.name.find("/") >= 0
    for scope in (EAGER_SCOPE, DATA_SCOPE):
        has_scope &= ~ops.name.starts_with(f"{scope}/")
    float_ops = float_ops_per_run(profile)
    return Coverage(
        ops=int(ran.sum()),
        in_graph=int((ran & ops.is_defined).sum()),
        nanos=int(nanos.sum()),
        with_scope=int(nanos[has_scope].sum()),
        with_line=int(nanos[ops.code >= 0].sum()),
        with_float_ops=int(nanos[float_ops.is_counted | float_ops.is_logged].sum()),
    )


def _percent(part: int, whole: int) -> str:
    """A percentage, rounded down so that only a complete share reads 100.0 %."""
    return f"{int(1000 * part / whole) / 10 if whole else 0:.1f} %"
