"""Log softmax, and cross entropies, which also compute their gradients."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, flops


@flops("LogSoftmax")
def log_softmax(op: OpFacts) -> int:
    """5 · N(input 0) + rows: shift (2), exponential, sum, subtract (3); a logarithm per row."""
    shape = op.input(0)
    return 5 * prod(shape) + prod(shape[:-1])


@flops("SoftmaxCrossEntropyWithLogits")
def cross_entropy(op: OpFacts) -> int:
    """9 · N(output 1) + rows: shift (2), exponential, sum (2), loss (3), gradient (2).

    Each row also takes the logarithm of its sum. The gradient is output 1.
    """
    shape = op.output(1)
    return 9 * prod(shape) + prod(shape[:-1])


@flops("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(op: OpFacts) -> int:
    """5 · N(input 0) + 3 · rows: shift (2), exponential, sum (2), division (1).

    Each row also takes the logarithm of its sum and a subtraction each for loss and gradient.
    """
    shape = op.input(0)
    return 5 * prod(shape) + 3 * prod(shape[:-1])
