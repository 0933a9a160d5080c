"""Reductions; reducing an empty tensor counts as 0."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, dim, flops, per_element


@flops("Max", "Min", "Prod", "TileGrad", "MirrorPadGrad")
@flops("Sum", "ArgMax", "ArgMin", "BiasAddGrad", is_classic=True)
def reduction(op: OpFacts) -> int:
    """N(input 0) - N(output): one add or comparison per element after the first of each result."""
    return max(prod(op.input(0)) - prod(op.output(0)), 0)


@flops("Mean", is_classic=True)
def mean(op: OpFacts) -> int:
    """N(input 0) - N(output) + N(output): the adds of a sum, then a division for each result."""
    divisions = prod(op.output(0))
    adds = prod(op.input(0)) - divisions
    return adds + divisions


@flops("L2Loss", is_classic=True)
def l2_loss(op: OpFacts) -> int:
    """3 · N(input 0) - 1: each element is squared, halved and added to the sum."""
    return max(3 * prod(op.input(0)) - 1, 0)


@flops("EuclideanNorm")
def euclidean_norm(op: OpFacts) -> int:
    """2 · N(input 0): a square for each element, the adds of a sum, and a root for each result."""
    return 2 * prod(op.input(0))


flops("Cumsum", "Cumprod")(per_element(1, "input 0", "one add or multiply for each element"))
flops("CumulativeLogsumexp")(
    per_element(
        5, "input 0", "comparison, subtraction, exponential, logarithm and add for each element"
    )
)
flops("InTopK", "InTopKV2")(
    per_element(1, "input 0", "one comparison of each prediction with that of the target")
)
flops(
    *("SegmentSum", "SegmentProd", "SegmentMax", "SegmentMin", "SegmentSumV2", "SegmentProdV2"),
    *("SegmentMaxV2", "SegmentMinV2", "UnsortedSegmentSum", "UnsortedSegmentProd"),
    *("UnsortedSegmentMax", "UnsortedSegmentMin"),
)(per_element(1, "input 0", "one operation for each element, with the running segment value"))


@flops("SegmentMean")
def segment_mean(op: OpFacts) -> int:
    """N(input 0) + N(output): an add for each element, and a division for each result."""
    return prod(op.input(0)) + prod(op.output(0))


@flops("SparseSegmentSum", "SparseSegmentSumWithNumSegments")
def sparse_segment_sum(op: OpFacts) -> int:
    """N(input 1, the indices) · N(row): an add for each element of a looked-up row."""
    return dim(op.input(1), 0) * prod(op.input(0)[1:])


@flops(
    *("SparseSegmentMean", "SparseSegmentMeanWithNumSegments"),
    *("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"),
)
def sparse_segment_mean(op: OpFacts) -> int:
    """N(input 1, the indices) · N(row) + N(output): the adds, and a division for each result."""
    return sparse_segment_sum(op) + prod(op.output(0))


flops("ScatterNd")(per_element(1, "input 1", "one add of each value to the existing one"))
flops(
    *("ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax"),
    *("ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul", "ResourceScatterDiv"),
    *("ResourceScatterMin", "ResourceScatterMax", "ScatterNdAdd", "ScatterNdSub", "ScatterNdMin"),
    *("ScatterNdMax", "ResourceScatterNdAdd", "ResourceScatterNdSub", "ResourceScatterNdMin"),
    *("ResourceScatterNdMax", "ScatterNdNonAliasingAdd", "TensorScatterAdd", "TensorScatterSub"),
    *("TensorScatterMin", "TensorScatterMax", "InplaceAdd", "InplaceSub"),
)(per_element(1, "input 2", "one operation for each value, with the existing one"))
