"""The table of flop rules, and what a rule is told about the op it counts.

A rule is a function from `OpFacts` to the float operations of one run. It asks for the shapes it
needs and need not check them: where one is unknown, asking ends the rule and the op is reported
as one whose shape is unknown. By convention a multiply and an add are two.

A rule always makes the same of the same answers, and learns of an op by the methods of `OpFacts`
alone: ops that answer alike are counted once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.model.attributes import AttributeValue
    from tfprof.model.ops import Origins

Shape: TypeAlias = tuple[int, ...]
Rule: TypeAlias = "Callable[[OpFacts], int]"
Question: TypeAlias = tuple[Literal["input_count", "input", "output", "attribute"], int | str]


class UnknownShape(Exception):  # noqa: N818 -- an answer to the counter, which never leaves it
    """A rule needs a shape or a size that the profile does not tell."""


class Tensors(Protocol):
    """The shapes of the tensors that ops take and make, None where any part is unknown."""

    def input_count(self, op: int) -> int:
        """How many tensors `op` takes; control edges carry none."""

    def input(self, op: int, position: int) -> Shape | None:
        """The shape of one tensor that `op` takes."""

    def output(self, op: int, slot: int) -> Shape | None:
        """The shape of one tensor that `op` makes."""


@dataclass(frozen=True, slots=True, eq=False)
class OpFacts:
    """An op as a float-op rule sees it; only what the rule asks for is looked up."""

    kind: str
    row: int
    tensors: Tensors
    origins: Origins
    asked: dict[Question, None] = field(default_factory=dict)  # so far, in that order

    @property
    def input_count(self) -> int:
        """How many tensors the op takes."""
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
        """The value of an attribute, None where the op has none of that name.

        Each call decodes the op's attributes anew, so a rule asks only for what it needs.
        """
        self.asked["attribute", name] = None
        return self.origins.attribute(self.row, name)

    def switch(self, name: str, *, default: bool = False) -> bool:
        """Whether an attribute is set; graphs leave out attributes that are as by default."""
        value = self.attr(name)
        return default if value is None else bool(value)

    def number(self, name: str, *, default: int) -> int:
        """A whole number; raises `UnknownShape` where the attribute is something else."""
        value = self.attr(name)
        if value is None:
            return default
        if not isinstance(value, int):
            raise UnknownShape
        return value

    def word(self, name: str, *, default: str) -> str:
        """A text; raises `UnknownShape` where the attribute is something else."""
        value = self.attr(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise UnknownShape
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """The texts of a list attribute, none where there is no such attribute."""
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
        """The whole numbers of a list attribute; raises `UnknownShape` where it is no such list."""
        sizes = self.attr(name)
        if not isinstance(sizes, tuple):
            raise UnknownShape
        whole = tuple(size for size in sizes if isinstance(size, int))
        if len(whole) != len(sizes):
            raise UnknownShape
        return whole


def dim(shape: Shape, axis: int) -> int:
    """One dim of a shape, from its end where `axis` is negative; raises `UnknownShape`."""
    if not -len(shape) <= axis < len(shape):
        raise UnknownShape
    return shape[axis]


def no_arithmetic(_op: OpFacts) -> int:
    """0: a kind with this rule moves, stores or names values and computes none."""
    return 0


def register(kind: str, rule: Rule) -> None:
    """Count ops of `kind` by `rule` from now on, in place of the rule it had."""
    _rules[kind] = rule


def flops(*kinds: str, is_classic: bool = False) -> Callable[[Rule], Rule]:
    """Make the function below the rule of these kinds.

    What is classic has the number that TensorFlow's own profiler gives it.
    """

    def remember(rule: Rule) -> Rule:
        for kind in kinds:
            register(kind, rule)
        if is_classic:
            _classic.update(kinds)
        return rule

    return remember


def per_element(cost: int, where: str, sentence: str) -> Rule:
    """A rule of so many operations for each element of `where`: `input 0`, `output`, …"""
    side, _, place = where.partition(" ")
    position = int(place or 0)

    def rule(op: OpFacts) -> int:
        return cost * prod(op.input(position) if side == "input" else op.output(position))

    times = "" if cost == 1 else f"{cost} · "
    rule.__doc__ = f"{times}N({where}): {sentence}."
    return rule


def native(*kinds: str) -> tuple[str, ...]:
    """What oneDNN's twins of these kinds are called; they take and make the same tensors."""
    return tuple(f"_MklNative{kind.removeprefix('_')}" for kind in kinds)


def rule_of(kind: str) -> Rule | None:
    """The rule that counts ops of `kind`, None where there is none."""
    return _rules.get(kind)


def formula_of(rule: Rule) -> str:
    """What a rule says of itself: its formula, a colon, and the reason."""
    return " ".join((rule.__doc__ or "").split())


def kinds() -> list[str]:
    """The kinds that have a rule, by name."""
    return sorted(_rules)


def classic_kinds() -> list[str]:
    """The kinds that TensorFlow's own profiler counts too, by name."""
    return sorted(_classic)


_rules: dict[str, Rule] = {}
_classic: set[str] = set()
