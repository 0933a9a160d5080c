"""The ledger of float operations: the count and rule of each kind, and the ops not counted.

Multiply-accumulates (MACs) are counted alongside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfprof.measures.flop_rules.registry import formula_of, rule_of
from tfprof.measures.numbers import (
    EVERYTHING,
    float_ops_per_run,
    in_parts,
    macs_per_run,
    per_op,
    seen_running,
)
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE, GENERATED_CODE, UNKNOWN_REPEATS, Phase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.columns import Bools, Ints
    from tfprof.measures.flops import FloatOps
    from tfprof.model.profile import ProfileColumns

NO_RULE = "no rule for this kind"
GENERATED = "generated code; only the ops that it calls are counted"
NO_SHAPE = "a shape is unknown"
NO_TRIP_COUNT = "counted for one iteration: the loop's trip count is unknown"
NOT_DEFINED = "not in the graph"
NO_RECORDED_SHAPE = "not in the graph, and its shapes are not recorded"
IN_PIPELINE = "in a function of tf.data: its shapes are not recorded"
RAN_EAGERLY = "ran outside functions: its shapes are not recorded"
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
    optimizer: int
    other: int  # the input pipeline, communication, and ops without a phase
    rule: str  # the formula, or `LOGGED` if all numbers were recorded
    forward_macs: int = 0
    backward_macs: int = 0
    optimizer_macs: int = 0
    other_macs: int = 0
    ops_without_macs: int = 0  # those whose MACs are unknown

    @property
    def float_ops(self) -> int:
        """The float operations of all phases."""
        return self.forward + self.backward + self.optimizer + self.other

    @property
    def macs(self) -> int:
        """The multiply-accumulates of all phases."""
        return self.forward_macs + self.backward_macs + self.optimizer_macs + self.other_macs


@dataclass(frozen=True, slots=True)
class UncountedKind:
    """The ops of one kind whose float operations are unknown, and why."""

    kind: str  # empty for ops whose kind is unknown: they ran but are not in the graph
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
    def optimizer(self) -> int:
        """The float operations of variable updates."""
        return sum(entry.optimizer for entry in self.entries)

    @property
    def other(self) -> int:
        """The float operations of the input pipeline, communication and ops without a phase."""
        return sum(entry.other for entry in self.entries)

    @property
    def float_ops(self) -> int:
        """The total of all known float operations."""
        return self.forward + self.backward + self.optimizer + self.other

    @property
    def forward_macs(self) -> int:
        """The multiply-accumulates of the forward pass."""
        return sum(entry.forward_macs for entry in self.entries)

    @property
    def backward_macs(self) -> int:
        """The multiply-accumulates of the gradients."""
        return sum(entry.backward_macs for entry in self.entries)

    @property
    def optimizer_macs(self) -> int:
        """The multiply-accumulates of variable updates."""
        return sum(entry.optimizer_macs for entry in self.entries)

    @property
    def other_macs(self) -> int:
        """The MACs of the input pipeline, communication and ops without a phase."""
        return sum(entry.other_macs for entry in self.entries)

    @property
    def macs(self) -> int:
        """The total of all known multiply-accumulates."""
        return sum(entry.macs for entry in self.entries)

    @property
    def ops_without_macs(self) -> int:
        """The ops whose float operations are known, but not their multiply-accumulates."""
        return sum(entry.ops_without_macs for entry in self.entries)

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
    micros = per_op(profile, EVERYTHING)["micros"]
    is_idle = found.is_idle
    is_known = (found.is_logged | found.is_counted) & ~is_idle
    idle = _tally(profile, is_idle, micros)
    return Ledger(
        entries=tuple(_entries(profile, is_known, found.is_logged)),
        idle_kinds=tuple(sorted(((kind, ops) for kind, ops, _ in idle), key=_most_first)),
        uncounted=tuple(sorted(_uncounted(profile, found, micros), key=_slowest_first)),
        ops=len(profile.ops),
        micros=int(micros.sum()),
        idle_micros=int(micros[is_idle].sum()),
    )


def _entries(profile: ProfileColumns, is_known: Bools, is_logged: Bools) -> Sequence[CountedKind]:
    kinds = profile.ops.kind
    rows = np.flatnonzero(is_known)
    float_ops, macs = (_by_phase(profile, key, rows) for key in ("float_ops", "macs"))

    def ops_of(flags: Bools) -> list[int]:
        found: list[int] = np.bincount(kinds.codes[flags], minlength=len(kinds.values)).tolist()
        return found

    ops, logged = ops_of(is_known), ops_of(is_logged)
    missing = ops_of(macs_per_run(profile).is_missing)
    found = [
        CountedKind(
            kind=kinds.values[code],
            ops=ops[code],
            logged_ops=logged[code],
            **float_ops[code],
            rule=_formula(kinds.values[code], is_logged=logged[code] == ops[code]),
            **{f"{phase}_macs": number for phase, number in macs[code].items()},
            ops_without_macs=missing[code],
        )
        for code in np.flatnonzero(ops).tolist()
    ]
    return sorted(found, key=lambda entry: (-entry.float_ops, entry.kind))


def _by_phase(profile: ProfileColumns, key: str, rows: Ints) -> list[dict[str, int]]:
    """For each kind, the sums of a number over its `rows`, by phase."""
    kinds, parts = profile.ops.kind, in_parts(profile, EVERYTHING, key)
    found = np.zeros((len(kinds.values), len(Phase)), np.int64)
    np.add.at(found, (kinds.codes[rows], profile.phase[rows]), parts.column[rows])
    return [_phases(*numbers) for numbers in parts.shown(found).tolist()]


def _phases(forward: int, backward: int, optimizer: int, *others: int) -> dict[str, int]:
    return {
        "forward": forward,
        "backward": backward,
        "optimizer": optimizer,
        "other": sum(others),
    }


def _formula(kind: str, *, is_logged: bool) -> str:
    """The rule of a kind; `LOGGED` if all numbers of its ops were recorded."""
    rule = rule_of(kind)
    if rule is None or is_logged:
        return LOGGED
    return formula_of(rule) or NO_FORMULA


def _uncounted(profile: ProfileColumns, found: FloatOps, micros: Ints) -> Iterator[UncountedKind]:
    if not profile.counts_float_ops:
        for kind, ops, time in _tally(profile, ~found.is_logged, micros):
            yield UncountedKind(kind, ops, time, NOT_LOGGED)
        return
    is_defined = profile.ops.is_defined
    unknown = found.without_rule & ~_has_kind(profile, found.without_rule)
    if unknown.any():
        yield UncountedKind("", int(unknown.sum()), int(micros[unknown].sum()), NOT_DEFINED)
    is_generated = found.without_rule & profile.ops.types.having(GENERATED_CODE)
    is_eager = ~is_defined & profile.ops.name.starts_with(f"{EAGER_SCOPE}/")
    is_data = ~is_defined & profile.ops.name.starts_with(f"{DATA_SCOPE}/")
    for flags, reason in (
        (is_generated, GENERATED),
        (found.without_rule & ~unknown & ~is_generated, NO_RULE),
        (found.without_shape & is_defined, NO_SHAPE),
        (found.without_shape & is_eager, RAN_EAGERLY),
        (found.without_shape & is_data, IN_PIPELINE),
        (found.without_shape & ~is_defined & ~is_eager & ~is_data, NO_RECORDED_SHAPE),
        (_once_of_many(profile, found), NO_TRIP_COUNT),
    ):
        for kind, ops, time in _tally(profile, flags, micros):
            yield UncountedKind(kind, ops, time, reason)


def _has_kind(profile: ProfileColumns, rows: Bools) -> Bools:
    """Which of `rows` are in the graph, or have the kind that a recording states.

    Other ops have their name as kind.
    """
    ops = profile.ops
    found = ops.is_defined.copy()
    for row in np.flatnonzero(rows & ~found).tolist():
        found[row] = ops.kind[row] != ops.name[row]
    return found


def _once_of_many(profile: ProfileColumns, found: FloatOps) -> Bools:
    """For each op, whether it computes in a loop whose trip count is unknown and not recorded."""
    is_unknown: Bools = profile.ops.repeats == UNKNOWN_REPEATS
    return is_unknown & (found.per_run > 0) & ~seen_running(profile)


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
