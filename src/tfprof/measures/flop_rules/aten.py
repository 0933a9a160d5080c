"""What the rules of PyTorch's ops share.

Inputs are numbered by the arguments of an op's schema, so that the second argument is input 1 even
if the first is not a tensor; a list of tensors is as many inputs. Other arguments are attributes.
Traces do not contain the shapes of results, so rules derive them from the inputs.
"""

from __future__ import annotations

from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING

from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.measures.flop_rules.registry import Rule


def aten(words: str) -> tuple[str, ...]:
    """The kinds of these ops; `add(_)` stands for `add` and its in-place variant `add_`."""
    names = (word.removesuffix("(_)") for word in words.split())
    in_place = (word.replace("(_)", "_") for word in words.split() if word.endswith("(_)"))
    return tuple(f"aten::{name}" for name in (*names, *in_place))


def maybe_input(op: OpFacts, position: int) -> Shape | None:
    """The shape of an input, or None if it is unknown or not a tensor."""
    try:
        return op.input(position)
    except UnknownShape:
        return None


def maybe_output(op: OpFacts) -> Shape | None:
    """The shape of the first output, or None if it is unknown, as in traces."""
    try:
        return op.output(0)
    except UnknownShape:
        return None


def first_tensors(op: OpFacts, first: int = 0) -> list[Shape]:
    """The tensors from input `first` up to the first argument that is none."""
    found = []
    for position in range(first, op.input_count):
        shape = maybe_input(op, position)
        if shape is None:
            break
        found.append(shape)
    if not found:
        raise UnknownShape
    return found


def result(op: OpFacts, inputs: Iterable[int]) -> Shape:
    """The shape to which those of `inputs` that are tensors are broadcast."""
    shapes = [shape for place in inputs if (shape := maybe_input(op, place)) is not None]
    return broadcast(shapes) if shapes else op.output(0)


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """The common shape; raises `UnknownShape` if there is none."""
    return tuple(_dims(shapes))[::-1]


def _dims(shapes: Iterable[Shape]) -> Iterator[int]:
    for dims in zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1):
        sides = {dim for dim in dims if dim != 1}
        if len(sides) > 1:
            raise UnknownShape
        yield sides.pop() if sides else 1


def per_result(cost: int, inputs: int, sentence: str) -> Rule:
    """A rule that counts `cost` operations per element of the first `inputs`, broadcast."""

    def rule(op: OpFacts) -> int:
        return cost * prod(result(op, range(inputs)))

    times = "" if cost == 1 else f"{cost} · "
    where = "input 0" if inputs == 1 else "output"
    rule.__doc__ = f"{times}N({where}): {sentence} for each element."
    return rule


def per_input(cost: int, position: int, sentence: str) -> Rule:
    """A rule that counts `cost` operations per element of an input."""

    def rule(op: OpFacts) -> int:
        return cost * prod(op.input(position))

    times = "" if cost == 1 else f"{cost} · "
    rule.__doc__ = f"{times}N(input {position}): {sentence} for each element."
    return rule
