"""What makes few values of many; of no values it makes its result without computing."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, flops


@flops("Sum", "ArgMax", "ArgMin", "BiasAddGrad")
def reduction(op: OpFacts) -> int:
    """N(input 0) - N(output): one add or comparison for each element after a result's first."""
    return max(prod(op.input(0)) - prod(op.output(0)), 0)


@flops("Mean")
def mean(op: OpFacts) -> int:
    """N(input 0) - N(output) + N(output): the adds of a sum, and a division for each result."""
    divisions = prod(op.output(0))
    adds = prod(op.input(0)) - divisions
    return adds + divisions


@flops("L2Loss")
def l2_loss(op: OpFacts) -> int:
    """3 · N(input 0) - 1: each element squared, halved and added to those before."""
    return max(3 * prod(op.input(0)) - 1, 0)
