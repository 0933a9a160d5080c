"""What is computed element by element."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, flops


@flops("Reciprocal", "Square", "Log", "Neg", "AssignAdd", "AssignSub")
def unary(op: OpFacts) -> int:
    """N(input 0): one operation for each element."""
    return prod(op.input(0))


@flops("Rsqrt")
def reciprocal_root(op: OpFacts) -> int:
    """2 · N(input 0): a root and a division for each element."""
    return 2 * prod(op.input(0))


@flops("Softmax")
def softmax(op: OpFacts) -> int:
    """5 · N(input 0): shifting (2), the exponential (1), summing and dividing (2)."""
    return 5 * prod(op.input(0))


@flops(
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "RealDiv",
    "Maximum",
    "Minimum",
    "Pow",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "Equal",
    "NotEqual",
)
def binary(op: OpFacts) -> int:
    """N(output): one operation or comparison for each element, after broadcasting."""
    return prod(op.output(0))


@flops("SquaredDifference")
def squared_difference(op: OpFacts) -> int:
    """2 · N(output): a subtraction and a multiply for each element, after broadcasting."""
    return 2 * prod(op.output(0))


@flops("RsqrtGrad")
def reciprocal_root_gradient(op: OpFacts) -> int:
    """4 · N(output): four multiplies for each element."""
    return 4 * prod(op.output(0))


@flops("AddN")
def add_n(op: OpFacts) -> int:
    """N(input 0) · (inputs - 1): one add for each element and each input after the first."""
    return prod(op.input(0)) * (op.input_count - 1) if op.input_count else 0
