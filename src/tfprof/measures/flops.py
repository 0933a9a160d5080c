"""The float operations of each op: what a log says, and else what its shapes tell."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints
from tfprof.errors import RuleError, TfprofError
from tfprof.measures import flop_rules  # noqa: F401 -- fills the table of rules
from tfprof.measures.flop_rules.registry import (
    OpFacts,
    Question,
    Rule,
    UnknownShape,
    no_arithmetic,
    rule_of,
)
from tfprof.measures.tensors import Tensors
from tfprof.model.ops import WALKED_CALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.model.ops import Ops, Origins
    from tfprof.model.profile import ProfileColumns

_LARGEST = np.iinfo(np.int64).max
_UNKNOWN = -1
_FEW = 8  # so many ops are counted one by one in the time it takes to part them


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


def count(profile: ProfileColumns) -> FloatOps:
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
    walked = ops.types.any(np.array([name == WALKED_CALL for name in ops.types.names], np.bool_))
    without_rule = is_open & ~_is_of(kind, rules) & ~walked
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


def _apply(rules: Mapping[int, Rule], ops: Ops, rows: Ints) -> Ints:
    """What the rules, by code of kind, make of `rows`; `_UNKNOWN` where a shape is missing."""
    numbers = np.full(len(rows), _UNKNOWN)
    tensors = Tensors(ops)
    # Numbers of two bytes are ordered by counting them, which is quicker and keeps rows in order.
    codes = ops.kind.codes[rows].astype(np.min_scalar_type(len(ops.kind.values)))
    for places in _parts(codes):
        code = int(ops.kind.codes[rows[places[0]]])
        alike = _Kind(rules[code], ops.kind.values[code], rows[places], tensors, ops)
        numbers[places] = alike.count()
    return numbers


class _Kind:
    """Ops of one kind, to be counted by one rule.

    A rule tells ops apart by nothing but what it asks, so ops that would answer all its questions
    alike get one number, and it need count but one of them. What it asks may depend on what it
    was answered, so the ops are parted question by question, in the order it asks the first of
    them; whoever answers otherwise than that first one makes a part of its own. Each question is
    put to those ops alone to which the rule would have put it.
    """

    def __init__(self, rule: Rule, kind: str, rows: Ints, tensors: Tensors, ops: Ops) -> None:
        self._rule = rule
        self._kind = kind
        self._rows = rows
        self._tensors = tensors
        self._origins = ops.origins
        self._op_names = ops.name
        self._names: dict[str, None] = {}  # of the attributes that were asked for
        self._values: dict[str, Ints] = {}

    def count(self) -> Ints:
        """The number of each op; `_UNKNOWN` where a shape is missing."""
        numbers = np.full(len(self._rows), _UNKNOWN)
        parts = [(np.arange(len(self._rows)), 0)]
        while parts:
            places, settled = parts.pop()
            if len(places) < _FEW:
                numbers[places] = [self._ask(place)[0] for place in places.tolist()]
                continue
            number, questions = self._ask(int(places[0]))
            for asked, question in enumerate(questions[settled:], settled + 1):
                found = self._answers(question, places)
                is_same = found == found[0]
                if not is_same.all():
                    others = places[~is_same]
                    parts += [(others[part], asked) for part in _parts(found[~is_same])]
                    places = places[is_same]
            numbers[places] = number
        return numbers

    def _ask(self, place: int) -> tuple[int, list[Question]]:
        """The number of one op, and what the rule asked about it."""
        facts = OpFacts(self._kind, int(self._rows[place]), self._tensors, self._origins)
        try:
            number = index(self._rule(facts))
        except (UnknownShape, OverflowError):
            number = _UNKNOWN
        except TfprofError:
            raise
        except Exception as error:
            # Whoever wrote the rule is told which op it fails on, not where in here.
            name, trouble = self._op_names[facts.row], f"{type(error).__name__}: {error}"
            raise RuleError(
                f"the float-op rule of `{self._kind}` fails on op `{name}`: {trouble}."
            ) from error
        self._names |= {str(name): None for about, name in facts.asked if about == "attribute"}
        # Nothing computes so much: the shape was read from a damaged file.
        return number if 0 <= number <= _LARGEST else _UNKNOWN, list(facts.asked)

    def _answers(self, question: Question, places: Ints) -> Ints:
        """A number for the answer of each op; equal ones stand for equal answers."""
        rows = self._rows[places]
        match question:
            case "attribute", str(name):
                return self._attribute(name)[places]
            case "input", int(position):
                return self._tensors.inputs(rows, position)
            case "output", int(slot):
                return self._tensors.outputs(rows, slot)
            case _:
                return self._tensors.input_counts(rows)

    def _attribute(self, name: str) -> Ints:
        """A number for the value of one attribute of each op."""
        # Reading has a high price for each call and for each op but a low one for each name, so
        # all names that were asked for are read together; that parts no ops that are alike.
        if name not in self._values:
            names = [known for known in self._names if known not in self._values]
            found = _attribute_numbers(self._origins, self._rows, names)
            self._values |= dict.fromkeys(names, found)
        return self._values[name]


def _parts(column: Ints) -> list[Ints]:
    """The places of each value of `column`, value by value."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    return np.split(order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1) if len(order) else []


def _attribute_numbers(origins: Origins, rows: Ints, names: Sequence[str]) -> Ints:
    """A number for the attributes `names` of each of `rows`; equal values have equal numbers."""
    found = np.full(len(rows), _UNKNOWN)
    numbers: dict[tuple[bytes | None, ...], int] = {}
    for code, origin in enumerate(origins.inputs):
        if origin.attributes is not None:
            places = np.flatnonzero(origins.input[rows] == code)
            positions = origins.position[rows[places]]
            values = origin.attributes.encoded_values(positions, names)
            found[places] = [numbers.setdefault(value, len(numbers)) for value in values]
    return found
