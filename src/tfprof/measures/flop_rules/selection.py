"""Sorting, searching and counting."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, dim, flops, per_element


@flops("TopK", "TopKV2", "ApproxTopK")
def top(op: OpFacts) -> int:
    """N(input 0) · ⌈log2(k + 1)⌉: comparisons of each value with those found so far.

    The largest k values are kept in order, so selecting all of them is a sort.
    """
    return prod(op.input(0)) * dim(op.output(0), -1).bit_length()


@flops("LowerBound", "UpperBound")
def bound(op: OpFacts) -> int:
    """N(input 1) · ⌈log2(n + 1)⌉: the comparisons of a binary search in n values."""
    return prod(op.input(1)) * dim(op.input(0), -1).bit_length()


@flops("Bucketize")
def bucketize(op: OpFacts) -> int:
    """N(input 0) · ⌈log2(n + 1)⌉: the comparisons of a binary search in n boundaries."""
    boundaries = op.attr("boundaries")
    count = len(boundaries) if isinstance(boundaries, tuple) else 0
    return prod(op.input(0)) * count.bit_length()


flops("Bincount", "DenseBincount")(per_element(1, "input 0", "one add for each element"))
