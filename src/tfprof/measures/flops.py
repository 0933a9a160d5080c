"""The float operations and multiply-accumulates (MACs) of each op.

Float operations come from an op log, or else are counted from shapes. MACs are always counted from
shapes, for all ops whose float operations are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints
from tfprof.errors import RuleError, TfprofError
from tfprof.kernels.nesting import inherited
from tfprof.measures import flop_rules  # noqa: F401 -- fills the table of rules
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    Query,
    Rule,
    UnknownShape,
    is_composite,
    is_plain_product,
    may_omit_macs,
    no_arithmetic,
    rule_of,
)
from tfprof.measures.tensors import Tensors
from tfprof.memo import remembered
from tfprof.model.ops import GENERATED_CODE, SHAPE_ARITHMETIC, WALKED_CALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.model.ops import Ops, Origins
    from tfprof.model.profile import ProfileColumns

_LARGEST = np.iinfo(np.int64).max
_UNKNOWN = -1
_NOT_COUNTED = (_UNKNOWN, _UNKNOWN)
_FEW = 8  # up to about this many ops, counting one by one is as fast as splitting them


@dataclass(frozen=True, slots=True, eq=False)
class FloatOps:
    """The float operations of one run of each op, and where the numbers come from.

    If the profile allows counting, exactly one of the four flags is set for each op; otherwise
    only `is_logged` can be set.
    """

    per_run: Ints
    counted_macs: Ints  # of one run; -1 if unknown or not counted
    is_logged: Bools  # the number comes from an op log
    is_counted: Bools  # tfprof counted it, possibly as 0
    without_rule: Bools  # its kind has no rule
    without_shape: Bools  # its kind has a rule, but a shape that the rule needs is unknown
    is_idle: Bools  # counted as 0: it does no arithmetic, or the ops of its function are counted
    kind: Coded

    def uncounted_kinds(self, rows: Bools | None = None) -> list[tuple[str, int]]:
        """The kinds without a rule and their number of ops in `rows`, most ops first."""
        return self._tally(self.without_rule, rows)

    def shapeless_kinds(self, rows: Bools | None = None) -> list[tuple[str, int]]:
        """The kinds with unknown shapes and their number of ops in `rows`, most ops first."""
        return self._tally(self.without_shape, rows)

    def _tally(self, flags: Bools, rows: Bools | None) -> list[tuple[str, int]]:
        chosen = flags if rows is None else flags & rows
        codes, counts = np.unique(self.kind.codes[chosen], return_counts=True)
        found = zip(self.kind.values.take(codes), counts.tolist(), strict=True)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Macs:
    """The multiply-accumulates of one run of each op."""

    per_run: Ints
    is_missing: Bools  # its float operations are known, but not its MACs


@remembered
def count(profile: ProfileColumns) -> FloatOps:
    """The float operations of one run of every op of `profile`."""
    ops = profile.ops
    kind = ops.kind
    is_logged = ops.logged_float_ops != 0
    is_open = ~is_logged & profile.counts_float_ops
    rules = _rules(kind)
    computing = _computing(rules)
    is_idle = ops.types.having(SHAPE_ARITHMETIC, WALKED_CALL)
    rows = np.flatnonzero(is_open & _is_of(kind, computing) & ~is_idle)
    per_run = ops.logged_float_ops.copy()
    macs = np.where(is_open, 0, _UNKNOWN)
    per_run[rows], macs[rows] = _apply(computing, ops, rows)
    is_counted = np.zeros(len(ops), np.bool_)
    is_counted[rows] = per_run[rows] != _UNKNOWN
    calls = _calling(ops, is_counted, is_counted & (macs > 0))
    is_generated = is_open & ops.types.having(GENERATED_CODE)
    is_elsewhere = is_open & ~is_generated
    is_elsewhere &= _counted_elsewhere(ops.part_of, is_counted & ~is_generated, calls)
    per_run[is_elsewhere], macs[is_elsewhere] = 0, 0
    is_idle |= is_elsewhere
    without_rule = is_generated | (is_open & ~_is_of(kind, rules) & ~is_idle)
    without_shape = is_open & (per_run == _UNKNOWN)
    per_run[without_shape] = 0
    return FloatOps(
        per_run=ints(per_run),
        counted_macs=ints(macs),
        is_logged=is_logged,
        is_counted=is_open & ~without_rule & ~without_shape,
        without_rule=without_rule,
        without_shape=without_shape,
        is_idle=is_open & (is_idle | _is_of(kind, rules.keys() - computing.keys())),
        kind=kind,
    )


def _calling(ops: Ops, counts: Bools, multiplies: Bools) -> Bools:
    """Which ops only call others.

    `counts` are the ops that a rule could count, `multiplies` those of them that are products.
    Under a transform, such as `torch.func.vmap`, an op has the shapes of a single example, and
    calls the same op, or other products, for all of them.
    """
    kind, part_of = ops.kind, ops.part_of
    calls = np.array([is_composite(name) for name in kind.values], np.bool_)[kind.codes]
    inner = np.flatnonzero((part_of >= 0) & counts)
    outer = part_of[inner]
    calls[outer[kind.codes[outer] == kind.codes[inner]]] = True
    is_product = np.array([is_plain_product(name) for name in kind.values], np.bool_)[kind.codes]
    return calls | (is_product & _contain(part_of, multiplies))


def _counted_elsewhere(part_of: Ints, counts: Bools, calls: Bools) -> Bools:
    """Which ops are counted as a whole: by an op around them, or by the ops inside them.

    `counts` are the ops that a rule could count, `calls` those that only call other ops. Of ops
    inside each other, the outermost counts that does not only call others; an op whose rule lacks
    an argument is counted by those inside. An op comes after the one that it is part of.
    """
    found = np.zeros(len(part_of), np.bool_)
    if not (part_of >= 0).any():
        return found
    rows = np.arange(len(part_of))
    counts = counts & ~(calls & _contain(part_of, counts))
    around = inherited(part_of, np.where(counts, rows, -1))
    found[part_of >= 0] = around[part_of[part_of >= 0]] >= 0
    return found | _contain(part_of, counts & ~found)


def _contain(part_of: Ints, flags: Bools) -> Bools:
    """Which ops have a flagged op inside them."""
    found = np.zeros(len(part_of), np.bool_)
    above = part_of[flags]
    while len(above := np.unique(above[above >= 0])):
        found[above] = True
        above = part_of[above]
    return found


def count_macs(profile: ProfileColumns, found: FloatOps) -> Macs:
    """The multiply-accumulates of one run of every op, also of those with logged float ops."""
    ops = profile.ops
    macs = found.counted_macs.copy()
    rules = _rules(ops.kind)
    computing = _computing(rules)
    macs[found.is_logged & _is_of(ops.kind, rules.keys() - computing.keys())] = 0
    rows = np.flatnonzero(found.is_logged & _is_of(ops.kind, computing))
    _, macs[rows] = _apply(computing, ops, rows)
    is_unknown = macs == _UNKNOWN
    macs[is_unknown] = 0
    return Macs(ints(macs), is_unknown & (found.is_logged | found.is_counted))


def _rules(kind: Coded) -> dict[int, Rule]:
    """The rules of the kinds that have one, by code."""
    found = ((code, rule_of(name)) for code, name in enumerate(kind.values))
    return {code: rule for code, rule in found if rule is not None}


def _computing(rules: Mapping[int, Rule]) -> dict[int, Rule]:
    """Those of `rules` that count something."""
    return {code: rule for code, rule in rules.items() if rule is not no_arithmetic}


def _is_of(kind: Coded, codes: Iterable[int]) -> Bools:
    """For each op, whether its kind has one of these codes."""
    is_wanted = np.zeros(len(kind.values), np.bool_)
    is_wanted[list(codes)] = True
    return is_wanted[kind.codes]


def _apply(rules: Mapping[int, Rule], ops: Ops, rows: Ints) -> Ints:
    """The float operations and MACs of `rows` by the rule of their kind's code, as two rows.

    `_UNKNOWN` if a shape is unknown; MACs are also `_UNKNOWN` if the rule does not state them.
    """
    numbers = np.full((2, len(rows)), _UNKNOWN)
    tensors = Tensors(ops)
    # numpy sorts integers of up to two bytes by a radix sort, which is faster and stable.
    codes = ops.kind.codes[rows].astype(np.min_scalar_type(len(ops.kind.values)))
    for places in _groups(codes):
        code = int(ops.kind.codes[rows[places[0]]])
        of_kind = _Kind(rules[code], ops.kind.values[code], rows[places], tensors, ops)
        numbers[:, places] = of_kind.count()
    return numbers


class _Kind:
    """Ops of one kind, to be counted by one rule.

    A rule sees an op only through its queries, so ops that give the same answers get the same
    number, and the rule is called for one op of each such group. What a rule queries may depend on
    earlier answers. So the rule is called for the first op, the other ops are compared with it
    query by query in the order of that call, and ops with a different answer are split off into
    groups of their own. Two ops are thus compared only by queries that the rule makes for both.
    """

    def __init__(self, rule: Rule, kind: str, rows: Ints, tensors: Tensors, ops: Ops) -> None:
        self._rule = rule
        self._kind = kind
        self._rows = rows
        self._tensors = tensors
        self._origins = ops.origins
        self._op_names = ops.name
        self._unstated_macs = _UNKNOWN if may_omit_macs(kind) else 0
        self._names: dict[str, None] = {}  # of the attributes queried so far
        self._values: dict[str, Ints] = {}

    def count(self) -> Ints:
        """The float operations and MACs of each op, as two rows; see `_apply`."""
        numbers = np.full((2, len(self._rows)), _UNKNOWN)
        groups = [(np.arange(len(self._rows)), 0)]
        while groups:
            places, settled = groups.pop()
            if len(places) < _FEW:
                for place in places.tolist():
                    numbers[:, place] = self._ask(place)[0]
                continue
            counted, queries = self._ask(int(places[0]))
            for asked, query in enumerate(queries[settled:], settled + 1):
                found = self._answers(query, places)
                is_same = found == found[0]
                if not is_same.all():
                    others = places[~is_same]
                    groups += [(others[group], asked) for group in _groups(found[~is_same])]
                    places = places[is_same]
            numbers[0, places], numbers[1, places] = counted
        return numbers

    def _ask(self, place: int) -> tuple[tuple[int, int], list[Query]]:
        """The float operations and MACs of one op, and the queries that the rule made."""
        facts = OpFacts(self._kind, int(self._rows[place]), self._tensors, self._origins)
        try:
            counted = self._numbers(self._rule(facts))
        except (UnknownShape, OverflowError):
            counted = _NOT_COUNTED
        except TfprofError:
            raise
        except Exception as error:
            # The author of the rule needs to know which op it failed on, not our traceback.
            name, trouble = self._op_names[facts.row], f"{type(error).__name__}: {error}"
            raise RuleError(
                f"the float-op rule of `{self._kind}` fails on op `{name}`: {trouble}."
            ) from error
        self._names |= {str(name): None for about, name in facts.asked if about == "attribute"}
        # No op computes more than that: the shape comes from a damaged file.
        is_sound = 0 <= counted[0] <= _LARGEST and counted[1] <= _LARGEST
        return counted if is_sound else _NOT_COUNTED, list(facts.asked)

    def _numbers(self, found: int | FlopCount) -> tuple[int, int]:
        """The float operations and MACs that a rule returned."""
        if isinstance(found, FlopCount):
            return index(found.float_ops), max(index(found.macs), _UNKNOWN)
        return index(found), self._unstated_macs

    def _answers(self, query: Query, places: Ints) -> Ints:
        """A code for each op's answer; equal codes mean equal answers."""
        rows = self._rows[places]
        match query:
            case "attribute", str(name):
                return self._attribute(name)[places]
            case "input", int(position):
                return self._tensors.inputs(rows, position)
            case "output", int(slot):
                return self._tensors.outputs(rows, slot)
            case _:
                return self._tensors.input_counts(rows)

    def _attribute(self, name: str) -> Ints:
        """A code for each op's value of one attribute."""
        # Reading is expensive per call and per op but cheap per name, so all names queried so far
        # are read together and share one code. Ops that differ only in another of these names may
        # be split, which is harmless.
        if name not in self._values:
            names = [known for known in self._names if known not in self._values]
            found = _attribute_codes(self._origins, self._rows, names)
            self._values |= dict.fromkeys(names, found)
        return self._values[name]


def _groups(column: Ints) -> list[Ints]:
    """The positions of each distinct value of `column`, in order of value."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    return np.split(order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1) if len(order) else []


def _attribute_codes(origins: Origins, rows: Ints, names: Sequence[str]) -> Ints:
    """A code for the values of the attributes `names` of each row; equal values, equal codes."""
    found = np.full(len(rows), _UNKNOWN)
    codes: dict[tuple[bytes | None, ...], int] = {}
    for code, origin in enumerate(origins.inputs):
        if origin.attributes is not None:
            places = np.flatnonzero(origins.input[rows] == code)
            positions = origins.position[rows[places]]
            values = origin.attributes.encoded_values(positions, names)
            found[places] = [codes.setdefault(value, len(codes)) for value in values]
    return found
