"""Shapes with open dims: merging, broadcasting and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeAlias, TypeGuard

from tfprof.columns import Shape

OPEN = -1
MOST = 1 << 62  # larger dims come from damaged files

Dims: TypeAlias = tuple[int, ...]


class Unknown(Exception):  # noqa: N818 -- a signal to the engine, which always catches it
    """A rule needs a shape or a value that is not known."""


def is_whole(shape: Shape) -> TypeGuard[Dims]:
    """Whether the rank and all dims of a shape are known."""
    return shape is not None and min(shape, default=0) >= 0


def refined(shape: Shape, other: Shape) -> Shape:
    """A shape with its open parts taken from `other`; unchanged if the two contradict."""
    if shape is None or other is None:
        return other if shape is None else shape
    if len(shape) != len(other):
        return shape
    pairs = list(zip(shape, other, strict=True))
    if any(one != two and OPEN not in (one, two) for one, two in pairs):
        return shape
    return tuple(two if one == OPEN else one for one, two in pairs)


def common(shape: Shape, other: Shape) -> Shape:
    """What two shapes have in common; dims that differ are open."""
    if shape is None or other is None or len(shape) != len(other):
        return None
    return tuple(one if one == two else OPEN for one, two in zip(shape, other, strict=True))


def broadcast(shapes: Iterable[Dims]) -> Dims:
    """The broadcast shape."""
    result: list[int] = []
    for shape in shapes:
        result = [1] * (len(shape) - len(result)) + result
        for place in range(1, len(shape) + 1):
            result[-place] = _broadcast_dim(result[-place], shape[-place])
    return tuple(result)


def _broadcast_dim(one: int, two: int) -> int:
    if one == 1:
        return two
    # An open dim next to a dim above 1 is either 1 or the same.
    return one if two in (1, OPEN) and one != OPEN else two if two > 1 else OPEN


def size(dims: Sequence[int]) -> int:
    """The number of elements; raises `Unknown` if a dim is open."""
    if min(dims, default=0) < 0:
        raise Unknown
    return prod(dims)


def total(*numbers: int | None) -> int:
    """The sum, or `OPEN` if a number is open."""
    return sum(n for n in numbers if n is not None) if all(map(is_known, numbers)) else OPEN


def is_known(number: int | None) -> bool:
    return number is not None and number >= 0


def dim_of(number: int | None) -> int:
    """A value as a dim; unknown and negative values are open dims."""
    return number if number is not None and 0 <= number <= MOST else OPEN


def axis_in(axis: int | None, rank: int) -> int:
    """An axis counted from 0; raises `Unknown` if it is unknown or out of range."""
    if axis is None or not -rank <= axis < rank:
        raise Unknown
    return axis % rank
