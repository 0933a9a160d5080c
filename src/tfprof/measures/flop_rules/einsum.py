"""Einstein sums: the `equation` attribute gives the dimensions that are summed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

from tfprof.measures.flop_rules.registry import FlopCount, OpFacts, Shape, UnknownShape, flops

Label: TypeAlias = str | int  # a letter, or a negative index into the dims that `...` covers

_ELLIPSIS = "..."


@flops("Einsum", "XlaEinsum", "_MklEinsum")
def einsum(op: OpFacts) -> FlopCount:
    """Points · operands, or points · (operands - 1) if no letter is summed.

    Points are all combinations of the equation's letters. Each point takes a multiply for every
    operand after the first, and an add if letters are summed. With a single operand only the adds
    of the sum count: points - N(output). A sum of products does one multiply-accumulate per point.
    """
    operands = [op.input(position) for position in range(op.input_count)]
    return contracted(op.word("equation", default=""), operands)


def contracted(equation: str, shapes: Sequence[Shape]) -> FlopCount:
    """The count of an equation with these operands; raises `UnknownShape` if they do not fit."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    operands = terms.split(",")
    if not arrow or len(operands) != len(shapes):
        raise UnknownShape
    dims: dict[Label, int] = {}
    for operand, shape in zip(operands, shapes, strict=True):
        for label, dim in _labelled(operand, shape):
            _agree(dims, label, dim)
    kept = [label for label in dims if (_ELLIPSIS if isinstance(label, int) else label) in result]
    points = prod(dims.values())
    if len(operands) == 1:
        adds = points - prod(dims[label] for label in kept) if points else 0
        return FlopCount(adds, macs=0)
    is_summed = len(kept) < len(dims)
    float_ops = points * (len(operands) - 1 + is_summed)
    return FlopCount(float_ops, macs=points if is_summed else 0)


def _labelled(operand: str, shape: Shape) -> Iterator[tuple[Label, int]]:
    """Each dim of an operand with its letter; dims under `...` are labelled from their end."""
    before, dots, after = operand.partition(_ELLIPSIS)
    spread = len(shape) - len(before) - len(after)
    if spread < 0 or (spread and not dots):
        raise UnknownShape
    labels: list[Label] = [*before, *range(-spread, 0), *after]
    return zip(labels, shape, strict=True)


def _agree(dims: dict[Label, int], label: Label, dim: int) -> None:
    """Record the dim of a letter; dims of 1 under `...` are broadcast."""
    known = dims.setdefault(label, dim)
    if known == dim:
        return
    if isinstance(label, str) or 1 not in (known, dim):
        raise UnknownShape
    dims[label] = dim if known == 1 else known
