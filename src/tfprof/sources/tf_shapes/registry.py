"""Registry of the rules that infer shapes, values and the contents of handles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.op import Held, Op, Value

ShapeRule: TypeAlias = Callable[[Op], Sequence[Shape]]  # the shapes of all outputs
ValueRule: TypeAlias = Callable[[Op], Sequence[Value | None]]  # the values of all outputs
HeldRule: TypeAlias = Callable[[Op], Held]  # what the first output refers to

Rule = TypeVar("Rule")

SHAPES: dict[str, ShapeRule] = {}
VALUES: dict[str, ValueRule] = {}
HELD: dict[str, HeldRule] = {}


def shapes(*kinds: str) -> Callable[[ShapeRule], ShapeRule]:
    """Register the decorated function as the shape rule of these kinds, separated by spaces."""
    return _registered(SHAPES, kinds)


def values(*kinds: str) -> Callable[[ValueRule], ValueRule]:
    """Register the decorated function as the value rule of these kinds."""
    return _registered(VALUES, kinds)


def held(*kinds: str) -> Callable[[HeldRule], HeldRule]:
    """Register the decorated function as the rule for what handles of these kinds refer to."""
    return _registered(HELD, kinds)


def _registered(table: dict[str, Rule], kinds: Sequence[str]) -> Callable[[Rule], Rule]:
    def remember(rule: Rule) -> Rule:
        table.update((kind, rule) for kind in " ".join(kinds).split())
        return rule

    return remember
