"""The ledger of float operations: the count and rule of each kind, and the ops not counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfprof.measures.flop_rules.registry import formula_of, no_arithmetic, rule_of
from tfprof.measures.numbers import EVERYTHING, float_ops_per_run, per_op
from tfprof.model.ops import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.columns import Bools, Ints
    from tfprof.measures.flops import FloatOps
    from tfprof.model.profile import ProfileColumns

NO_RULE = "no rule for this kind"
NO_SHAPE = "a shape is unknown"
NOT_DEFINED = "not in the graph"
NOT_LOGGED = "not recorded"
NO_FORMULA = "a rule without a docstring"
LOGGED = "as recorded"


@dataclass(frozen=True, slots=True)
class CountedKind:
    """The ops of one kind whose float operations are known."""

    kind: str
    ops: int
    logged_ops: int  # those whose number comes from an op log or a saved profile
    forward: int
    backward: int
    optimiser: int
    other: int  # the input pipeline, and ops without a phase
    rule: str  # the formula, or `LOGGED` if all numbers were recorded

    @property
    def float_ops(self) -> int:
        """The total of all phases."""
        return self.forward + self.backward + self.optimiser + self.other


@dataclass(frozen=True, slots=True)
class UncountedKind:
    """The ops of one kind whose float operations are unknown, and why."""

    kind: str  # empty for ops that ran but are not in the graph
    ops: int
    micros: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All ops of a profile: those that compute, those that do not, and those not counted.

    Numbers are the same as in views without `-step`: an op's float operations in one run times its
    runs, averaged over the recorded steps.
    """

    entries: tuple[CountedKind, ...]  # most float operations first
    idle_kinds: tuple[tuple[str, int], ...]  # kinds that do no float arithmetic, and their ops
    uncounted: tuple[UncountedKind, ...]  # most time first, then most ops
    ops: int
    micros: int  # 0 if no run was recorded
    idle_micros: int

    @property
    def forward(self) -> int:
        """The float operations of the forward pass."""
        return sum(entry.forward for entry in self.entries)

    @property
    def backward(self) -> int:
        """The float operations of the gradients."""
        return sum(entry.backward for entry in self.entries)

    @property
    def optimiser(self) -> int:
        """The float operations of variable updates."""
        return sum(entry.optimiser for entry in self.entries)

    @property
    def other(self) -> int:
        """The float operations of the input pipeline and of ops without a phase."""
        return sum(entry.other for entry in self.entries)

    @property
    def float_ops(self) -> int:
        """The total of all known float operations."""
        return self.forward + self.backward + self.optimiser + self.other

    @property
    def uncounted_ops(self) -> int:
        """The number of ops that are not counted."""
        return sum(one.ops for one in self.uncounted)

    @property
    def uncounted_micros(self) -> int:
        """The time of the ops that are not counted."""
        return sum(one.micros for one in self.uncounted)


def build(profile: ProfileColumns) -> Ledger:
    """Build the ledger of `profile`."""
    found = float_ops_per_run(profile)
    numbers = per_op(profile, EVERYTHING)
    micros = numbers["micros"]
    is_idle = found.is_counted & _is_of_idle_kind(profile)
    is_known = (found.is_logged | found.is_counted) & ~is_idle
    idle = _tally(profile, is_idle, micros)
    return Ledger(
        entries=tuple(_entries(profile, is_known, found.is_logged, numbers["float_ops"])),
        idle_kinds=tuple(sorted(((kind, ops) for kind, ops, _ in idle), key=_most_first)),
        uncounted=tuple(sorted(_uncounted(profile, found, micros), key=_slowest_first)),
        ops=len(profile.ops),
        micros=int(micros.sum()),
        idle_micros=int(micros[is_idle].sum()),
    )


def _is_of_idle_kind(profile: ProfileColumns) -> Bools:
    """For each op, whether its kind does no float arithmetic."""
    kinds = profile.ops.kind
    is_idle = [rule_of(kind) is no_arithmetic for kind in kinds.values]
    return np.array(is_idle, np.bool_)[kinds.codes]


def _entries(
    profile: ProfileColumns, is_known: Bools, is_logged: Bools, float_ops: Ints
) -> Sequence[CountedKind]:
    kinds = profile.ops.kind
    count = len(kinds.values)
    rows = np.flatnonzero(is_known)
    by_phase = np.zeros((count, len(Phase)), np.int64)
    np.add.at(by_phase, (kinds.codes[rows], profile.phase[rows]), float_ops[rows])
    ops = np.bincount(kinds.codes[rows], minlength=count)
    logged = np.bincount(kinds.codes[is_logged], minlength=count)
    found = [
        _entry(kinds.values[code], int(ops[code]), int(logged[code]), by_phase[code].tolist())
        for code in np.flatnonzero(ops).tolist()
    ]
    return sorted(found, key=lambda entry: (-entry.float_ops, entry.kind))


def _entry(kind: str, ops: int, logged_ops: int, by_phase: Sequence[int]) -> CountedKind:
    rule = rule_of(kind)
    formula = LOGGED
    if rule is not None and logged_ops < ops:
        formula = formula_of(rule) or NO_FORMULA
    forward, backward, optimiser, *others = by_phase
    return CountedKind(kind, ops, logged_ops, forward, backward, optimiser, sum(others), formula)


def _uncounted(profile: ProfileColumns, found: FloatOps, micros: Ints) -> Iterator[UncountedKind]:
    if not profile.counts_float_ops:
        for kind, ops, time in _tally(profile, ~found.is_logged, micros):
            yield UncountedKind(kind, ops, time, NOT_LOGGED)
        return
    is_defined = profile.ops.is_defined
    undefined = found.without_rule & ~is_defined
    if undefined.any():
        yield UncountedKind("", int(undefined.sum()), int(micros[undefined].sum()), NOT_DEFINED)
    for flags, reason in (
        (found.without_rule & is_defined, NO_RULE),
        (found.without_shape, NO_SHAPE),
    ):
        for kind, ops, time in _tally(profile, flags, micros):
            yield UncountedKind(kind, ops, time, reason)


def _tally(profile: ProfileColumns, flags: Bools, micros: Ints) -> Iterator[tuple[str, int, int]]:
    """The kinds of the flagged ops, with their number of ops and their time."""
    kinds = profile.ops.kind
    codes = kinds.codes[flags]
    ops = np.bincount(codes, minlength=len(kinds.values))
    time = np.zeros(len(kinds.values), np.int64)
    np.add.at(time, codes, micros[flags])
    for code in np.flatnonzero(ops).tolist():
        yield kinds.values[code], int(ops[code]), int(time[code])


def _most_first(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _slowest_first(one: UncountedKind) -> tuple[int, int, str, str]:
    return -one.micros, -one.ops, one.kind, one.reason
