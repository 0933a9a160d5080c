"""The float operations of each op: what a log says, and else what its shapes tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints, offsets_of
from tfprof.measures import flop_rules  # noqa: F401 -- fills the table of rules
from tfprof.measures.flop_rules.registry import (
    OpFacts,
    Rule,
    Shape,
    UnknownShape,
    no_arithmetic,
    rule_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfprof.model.ops import Ops, OutputShapes
    from tfprof.model.profile import Profile

_LARGEST = np.iinfo(np.int64).max
_UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class FloatOps:
    """The float operations of one run of each op, and where the numbers come from.

    Where the profile lets tfprof count, exactly one of the four flags is set for each op; where
    it does not, `is_logged` alone is ever set.
    """

    per_run: Ints
    is_logged: Bools  # a log gave the number
    is_counted: Bools  # tfprof counted it, be it to 0
    without_rule: Bools  # nobody says how to count its kind
    without_shape: Bools  # a rule is there, but a shape it needs is unknown
    kind: Coded

    def uncounted_kinds(self, rows: Bools | None = None) -> list[tuple[str, int]]:
        """The kinds without a rule and how many ops they have, most first; of `rows` alone."""
        return self._tally(self.without_rule, rows)

    def shapeless_kinds(self, rows: Bools | None = None) -> list[tuple[str, int]]:
        """The kinds of ops whose shapes are unknown, and how many, most first; of `rows` alone."""
        return self._tally(self.without_shape, rows)

    def _tally(self, flags: Bools, rows: Bools | None) -> list[tuple[str, int]]:
        chosen = flags if rows is None else flags & rows
        codes, counts = np.unique(self.kind.codes[chosen], return_counts=True)
        found = zip(self.kind.values.take(codes), counts.tolist(), strict=True)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def count(profile: Profile) -> FloatOps:
    """The float operations of every op of `profile`, in one run of it."""
    ops = profile.ops
    kind = ops.kind
    is_logged = ops.logged_float_ops != 0
    is_open = ~is_logged & profile.counts_float_ops
    found = ((code, rule_of(name)) for code, name in enumerate(kind.values))
    rules = {code: rule for code, rule in found if rule is not None}
    computing = {code: rule for code, rule in rules.items() if rule is not no_arithmetic}
    rows = np.flatnonzero(is_open & _is_of(kind, computing))
    per_run = ops.logged_float_ops.copy()
    per_run[rows] = _apply(computing, ops, rows)
    without_rule = is_open & ~_is_of(kind, rules)
    without_shape = is_open & (per_run == _UNKNOWN)
    per_run[without_shape] = 0
    return FloatOps(
        per_run=ints(per_run),
        is_logged=is_logged,
        is_counted=is_open & ~without_rule & ~without_shape,
        without_rule=without_rule,
        without_shape=without_shape,
        kind=kind,
    )


def _is_of(kind: Coded, codes: Iterable[int]) -> Bools:
    """For each op, whether its kind has one of these codes."""
    is_wanted = np.zeros(len(kind.values), np.bool_)
    is_wanted[list(codes)] = True
    return is_wanted[kind.codes]


def _apply(rules: Mapping[int, Rule], ops: Ops, rows: Ints) -> list[int]:
    """What the rules, by code of kind, make of `rows`; `_UNKNOWN` where a shape is missing."""
    tensors = _Tensors(ops)
    kinds, attributes = ops.kind.values, ops.attributes
    codes = ops.kind.codes[rows].tolist()
    return [
        _number(rules[code], OpFacts(kinds[code], row, tensors, attributes))
        for row, code in zip(rows.tolist(), codes, strict=True)
    ]


def _number(rule: Rule, facts: OpFacts) -> int:
    try:
        number = rule(facts)
    except (UnknownShape, OverflowError):
        return _UNKNOWN
    # Nothing computes so much: the shape was read from a damaged file.
    return number if 0 <= number <= _LARGEST else _UNKNOWN


class _Tensors:
    """The shapes of the tensors between ops, as the graph states them or a run saw them."""

    def __init__(self, ops: Ops) -> None:
        self._stated_parts = ops.outputs
        self._stated = _WholeShapes(ops.outputs)
        self._seen = _WholeShapes(ops.seen_outputs)
        carries_tensor = ops.inputs.slot >= 0
        self._first = offsets_of(carries_tensor.astype(np.int64))[ops.inputs.offsets].tolist()
        self._source = ops.inputs.source[carries_tensor].tolist()
        self._slot = ops.inputs.slot[carries_tensor].tolist()

    def input_count(self, op: int) -> int:
        return int(self._first[op + 1] - self._first[op])

    def input(self, op: int, position: int) -> Shape | None:
        edge = self._first[op] + position
        if not self._first[op] <= edge < self._first[op + 1] or self._source[edge] < 0:
            return None
        return self.output(self._source[edge], self._slot[edge])

    def output(self, op: int, slot: int) -> Shape | None:
        stated = self._stated.shape(op, slot)
        return self._fill(op, slot) if stated is None else stated

    def _fill(self, op: int, slot: int) -> Shape | None:
        """What a run saw, unless it contradicts what the graph states."""
        seen = self._seen.shape(op, slot)
        # A run records only the outputs that came to life, so their places may have shifted.
        if seen is None or self._stated.count(op) not in (0, self._seen.count(op)):
            return None
        stated = self._stated_parts.of(op, slot)
        return seen if stated is None or _agree(stated, seen) else None


def _agree(stated: Shape, seen: Shape) -> bool:
    """Whether `seen` is `stated` with its unknown dims filled in."""
    return len(stated) == len(seen) and all(
        dim in (there, _UNKNOWN) for dim, there in zip(stated, seen, strict=True)
    )


class _WholeShapes:
    """The shapes of outputs that are known in every dim, in lists: numpy is slow one by one."""

    def __init__(self, outputs: OutputShapes) -> None:
        dims = outputs.shape.dims
        is_whole = outputs.shape.is_known & ~dims.any(dims.values < 0)
        self._first = outputs.offsets.tolist()
        self._is_whole = is_whole.tolist()
        self._offsets = dims.offsets.tolist()
        self._dims = dims.values.tolist()

    def count(self, op: int) -> int:
        """How many outputs are told of `op`, known or not."""
        return int(self._first[op + 1] - self._first[op])

    def shape(self, op: int, slot: int) -> Shape | None:
        """The shape of one output, None where any part is unknown."""
        place = self._first[op] + slot
        if not self._first[op] <= place < self._first[op + 1] or not self._is_whole[place]:
            return None
        return tuple(self._dims[self._offsets[place] : self._offsets[place + 1]])
