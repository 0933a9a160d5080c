"""Einstein sums, whose equation says over which letters they run."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TypeAlias

from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape, flops

Label: TypeAlias = str | int  # a letter, or the place from the end among the dims of `...`

_ELLIPSIS = "..."


@flops("Einsum", "XlaEinsum", "_MklEinsum")
def einsum(op: OpFacts) -> int:
    """Points · operands, or points · (operands - 1) if no letter is summed.

    Points are all combinations of the equation's letters; each has a multiply for every operand
    after the first, and an add where letters are summed. Of one operand it is the adds of a sum:
    points - N(output).
    """
    terms, arrow, result = op.word("equation", default="").replace(" ", "").partition("->")
    operands = terms.split(",")
    if not arrow or len(operands) != op.input_count:
        raise UnknownShape
    sides: dict[Label, int] = {}
    for position, operand in enumerate(operands):
        for label, side in _labelled(operand, op.input(position)):
            _agree(sides, label, side)
    kept = [label for label in sides if (_ELLIPSIS if isinstance(label, int) else label) in result]
    points = prod(sides.values())
    if len(operands) == 1:
        return points - prod(sides[label] for label in kept) if points else 0
    is_summed = len(kept) < len(sides)
    return points * (len(operands) - 1 + is_summed)


def _labelled(operand: str, shape: Shape) -> Iterator[tuple[Label, int]]:
    """Each side of an operand with its letter; those under `...` are counted from their end."""
    before, dots, behind = operand.partition(_ELLIPSIS)
    spread = len(shape) - len(before) - len(behind)
    if spread < 0 or (spread and not dots):
        raise UnknownShape
    labels: list[Label] = [*before, *range(-spread, 0), *behind]
    return zip(labels, shape, strict=True)


def _agree(sides: dict[Label, int], label: Label, side: int) -> None:
    """Note the side of a letter; under `...` a side of 1 is repeated."""
    known = sides.setdefault(label, side)
    if known == side:
        return
    if isinstance(label, str) or 1 not in (known, side):
        raise UnknownShape
    sides[label] = side if known == 1 else known
