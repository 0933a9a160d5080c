"""Registry of float-op rules, and the facts about an op that a rule can query.

A rule is a function from `OpFacts` to the float operations of one run: a number, or a `FlopCount`
for kinds with products and convolutions, which also states their multiply-accumulates. It queries
the shapes it needs without checking them: the query raises `UnknownShape` for an unknown shape, and
the op is then reported as not counted. By convention a multiply and an add count as two.

A rule must be deterministic and must query an op only through the methods of `OpFacts`, because
the rule is called only once for all ops that give the same answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

from tfprof.model.ops import ITERATOR_KIND

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.model.attributes import AttributeValue
    from tfprof.model.ops import Origins

Shape: TypeAlias = tuple[int, ...]
Rule: TypeAlias = "Callable[[OpFacts], int | FlopCount]"
_AnyRule = TypeVar("_AnyRule", bound=Rule)
Query: TypeAlias = tuple[Literal["input_count", "input", "output", "attribute"], int | str]


@dataclass(frozen=True, slots=True)
class FlopCount:
    """The float operations of one run of an op, and the multiply-accumulates among them.

    Adding a number adds float operations that are not part of a multiply-accumulate.
    """

    float_ops: int
    macs: int

    def __add__(self, others: int) -> FlopCount:
        return FlopCount(self.float_ops + others, self.macs)

    def __mul__(self, times: int) -> FlopCount:
        return FlopCount(self.float_ops * times, self.macs * times)


def multiply_adds(macs: int) -> FlopCount:
    """The count of `macs` multiply-accumulates, which are two float operations each."""
    return FlopCount(2 * macs, macs)


class UnknownShape(Exception):  # noqa: N818 -- a signal to the counter, which always catches it
    """A rule needs a shape or a size that the profile does not contain."""


class Tensors(Protocol):
    """The shapes of the inputs and outputs of ops; None if any part of a shape is unknown."""

    def input_count(self, op: int) -> int:
        """The number of input tensors of `op`, without control inputs."""

    def input(self, op: int, position: int) -> Shape | None:
        """The shape of one input of `op`."""

    def output(self, op: int, slot: int) -> Shape | None:
        """The shape of one output of `op`."""


@dataclass(frozen=True, slots=True, eq=False)
class OpFacts:
    """An op as a float-op rule sees it; facts are looked up only when the rule asks for them."""

    kind: str
    row: int
    tensors: Tensors
    origins: Origins
    asked: dict[Query, None] = field(default_factory=dict)  # queries so far, in order

    @property
    def input_count(self) -> int:
        """The number of input tensors, without control inputs."""
        self.asked["input_count", 0] = None
        return self.tensors.input_count(self.row)

    def input(self, position: int) -> Shape:
        """The shape of one input; raises `UnknownShape`."""
        self.asked["input", position] = None
        shape = self.tensors.input(self.row, position)
        if shape is None:
            raise UnknownShape
        return shape

    def output(self, slot: int) -> Shape:
        """The shape of one output; raises `UnknownShape`."""
        self.asked["output", slot] = None
        shape = self.tensors.output(self.row, slot)
        if shape is None:
            raise UnknownShape
        return shape

    def attr(self, name: str) -> AttributeValue:
        """The value of an attribute, or None if the op does not have it.

        Each call decodes the op's attributes again, so query only what you need.
        """
        self.asked["attribute", name] = None
        return self.origins.attribute(self.row, name)

    def switch(self, name: str, *, default: bool = False) -> bool:
        """Whether an attribute is true; graphs omit attributes that have their default value."""
        value = self.attr(name)
        return default if value is None else bool(value)

    def number(self, name: str, *, default: int) -> int:
        """An integer attribute; raises `UnknownShape` if it has another type."""
        value = self.attr(name)
        if value is None:
            return default
        if not isinstance(value, int):
            raise UnknownShape
        return value

    def word(self, name: str, *, default: str) -> str:
        """A string attribute; raises `UnknownShape` if it has another type."""
        value = self.attr(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise UnknownShape
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """A list of strings, empty if missing; raises `UnknownShape` if it has another type."""
        found = self.attr(name)
        if found is None:
            return ()
        if not isinstance(found, tuple):
            raise UnknownShape
        texts = tuple(text for text in found if isinstance(text, str))
        if len(texts) != len(found):
            raise UnknownShape
        return texts

    def sizes(self, name: str) -> Shape:
        """A list of integers; raises `UnknownShape` if it is missing or has another type."""
        sizes = self.attr(name)
        if not isinstance(sizes, tuple):
            raise UnknownShape
        whole = tuple(size for size in sizes if isinstance(size, int))
        if len(whole) != len(sizes):
            raise UnknownShape
        return whole


def dim(shape: Shape, axis: int) -> int:
    """One dim of a shape; raises `UnknownShape` if the shape has no such axis."""
    if not -len(shape) <= axis < len(shape):
        raise UnknownShape
    return shape[axis]


def no_arithmetic(_op: OpFacts) -> int:
    """0: the op moves, stores or names values without computing any."""
    return 0


def register(kind: str, rule: Rule, *, always_states_macs: bool = True) -> None:
    """Count ops of `kind` by `rule` from now on, replacing any earlier rule.

    A rule that returns a plain number does no multiply-accumulates, unless `always_states_macs` is
    False: then they are unknown.
    """
    _rules[kind] = rule
    if always_states_macs:
        _may_omit_macs.discard(kind)
    else:
        _may_omit_macs.add(kind)


def may_omit_macs(kind: str) -> bool:
    """Whether the MACs of `kind` are unknown, not 0, if its rule returns a plain number."""
    return kind in _may_omit_macs


def composite(*kinds: str) -> None:
    """State that ops of these kinds call other ops, which count instead if they are known."""
    _composites.update(kinds)


def is_composite(kind: str) -> bool:
    """Whether ops of a kind call other ops, which count instead if they are known."""
    return kind in _composites


def plain_product(*kinds: str) -> None:
    """State that ops of these kinds are single products, which normally call no others."""
    _plain_products.update(kinds)


def is_plain_product(kind: str) -> bool:
    """Whether an op of a kind is a single product, which normally calls no others."""
    return kind in _plain_products


def flops(*kinds: str, is_classic: bool = False) -> Callable[[_AnyRule], _AnyRule]:
    """Register the decorated function as the rule of these kinds.

    Classic rules give the same numbers as TensorFlow's own profiler.
    """

    def remember(rule: _AnyRule) -> _AnyRule:
        for kind in kinds:
            register(kind, rule)
        if is_classic:
            _classic.update(kinds)
        return rule

    return remember


def per_element(cost: int, where: str, sentence: str) -> Rule:
    """A rule that counts `cost` operations per element of `where`: `input 0`, `output`, …"""
    side, _, place = where.partition(" ")
    position = int(place or 0)

    def rule(op: OpFacts) -> int:
        return cost * prod(op.input(position) if side == "input" else op.output(position))

    times = "" if cost == 1 else f"{cost} · "
    rule.__doc__ = f"{times}N({where}): {sentence}."
    return rule


def native(*kinds: str) -> tuple[str, ...]:
    """The oneDNN variants of these kinds, which have the same inputs and outputs."""
    return tuple(f"_MklNative{kind.removeprefix('_')}" for kind in kinds)


def rule_of(kind: str) -> Rule | None:
    """The rule that counts ops of `kind`, or None."""
    return _rules.get(kind) or (no_arithmetic if _only_calls(kind) else None)


def _only_calls(kind: str) -> bool:
    """Whether ops of `kind` do nothing but wait for others or call them.

    PyTorch numbers the nodes of its own autograd functions; those of users have no number.
    """
    return kind.startswith(_CALLING) or _AUTOGRAD_NODE.fullmatch(kind) is not None


def formula_of(rule: Rule) -> str:
    """The docstring of a rule on one line: its formula, a colon, and the reason."""
    return " ".join((rule.__doc__ or "").split())


def kinds() -> list[str]:
    """The kinds that have a rule, sorted by name."""
    return sorted(_rules)


def classic_kinds() -> list[str]:
    """The kinds that TensorFlow's own profiler also counts, sorted by name."""
    return sorted(_classic)


_CALLING = (ITERATOR_KIND, "autograd::engine::", "torch::autograd::", "Optimizer.", "ProfilerStep")
_AUTOGRAD_NODE = re.compile(r"\w+Backward[0-9]+(?:_copy)?")
_rules: dict[str, Rule] = {}
_classic: set[str] = set()
_composites: set[str] = set()
_plain_products: set[str] = set()
_may_omit_macs: set[str] = set()
