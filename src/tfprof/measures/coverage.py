"""How much of the recorded op time has a graph op, a scope, a code line and a float-op count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints
from tfprof.measures.numbers import float_ops_per_run
from tfprof.measures.run_sums import run_sums
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE
from tfprof.model.profile import ProfileColumns

_MOST_SCOPES = 5


@dataclass(frozen=True, slots=True)
class Places:
    """Where a time was spent, in nanoseconds."""

    nanos: int
    in_modules: int
    elsewhere: Mapping[str, int]  # outside of modules, by outermost scope, the longest first

    def shares(self) -> list[str]:
        """The shares of modules and of other scopes, except for tiny ones."""
        where = [(self.in_modules, "is in modules")]
        where += [(nanos, f"in `{scope}`") for scope, nanos in self.elsewhere.items()]
        return [
            f"{_percent(part, self.nanos)} {what}"
            for part, what in where
            if 1000 * part >= self.nanos
        ]


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
    places: Places | None  # of ops that modules call, and not a graph defines
    accelerator_places: Places | None  # of their kernels, copies and fills

    def sentence(self) -> str:
        """The coverage in one sentence, for a note."""
        scope = f"{_percent(self.with_scope, self.nanos)} is under a scope of the model"
        shares = (
            *(self.places.shares() if self.places else [scope]),
            f"{_percent(self.with_line, self.nanos)} has a code line",
            f"{_percent(self.with_float_ops, self.nanos)} has a float-op count",
        )
        ops = f"{self.in_graph:,} of {self.ops:,} ops that ran are in the graph; "
        return (
            f"coverage: {'' if self.places else ops}of {_micros(self.nanos)} of op time in all "
            f"steps, {', '.join(shares)}{self._of_accelerators()}."
        )

    def _of_accelerators(self) -> str:
        found = self.accelerator_places
        if found is None or not found.nanos:
            return ""
        return (
            f"; of {_micros(found.nanos)} of kernels, copies and fills, {', '.join(found.shares())}"
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
    is_traced = "pytorch" in profile.recordings.framework
    on_accelerators = runs.totals("accelerator_nanos", None) + runs.totals("transfer_nanos", None)
    return Coverage(
        ops=int(ran.sum()),
        in_graph=int((ran & ops.is_defined).sum()),
        nanos=int(nanos.sum()),
        with_scope=int(nanos[has_scope].sum()),
        with_line=int(nanos[ops.code >= 0].sum()),
        with_float_ops=int(nanos[float_ops.is_counted | float_ops.is_logged].sum()),
        places=_places(profile, nanos) if is_traced else None,
        accelerator_places=_places(profile, on_accelerators) if is_traced else None,
    )


def _places(profile: ProfileColumns, nanos: Ints) -> Places:
    """Where the time of each op was spent."""
    is_inside = profile.ops.layer >= 0
    elsewhere = _by_scope(profile, np.where(is_inside, 0, nanos))
    return Places(int(nanos.sum()), int(nanos[is_inside].sum()), elsewhere)


def _by_scope(profile: ProfileColumns, nanos: Ints) -> dict[str, int]:
    """The sums by outermost scope, or by kind for ops without a scope, the longest first."""
    ops = profile.ops
    found: Counter[str] = Counter()
    for row in np.flatnonzero(nanos).tolist():
        scope, slash, _ = ops.name[row].partition("/")
        # A slash in a kind is another character in a name.
        found[scope if slash else ops.kind[row].replace("/", "|")] += int(nanos[row])
    return dict(found.most_common(_MOST_SCOPES))


def _micros(nanos: int) -> str:
    return f"{round(nanos / NANOS_PER_MICRO):,} microseconds"


def _percent(part: int, whole: int) -> str:
    """A percentage, rounded down so that only a complete share reads 100.0 %."""
    return f"{int(1000 * part / whole) / 10 if whole else 0:.1f} %"
