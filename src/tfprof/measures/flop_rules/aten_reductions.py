"""Reductions, pooling, interpolation and selection of PyTorch.

Sums start from nothing, so a sum of N elements is N operations.
"""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import (
    aten,
    broadcast,
    maybe_input,
    maybe_output,
    per_input,
    per_result,
)
from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape, dim, flops

flops(
    *aten(
        "sum nansum mean nanmean prod amax amin aminmax argmax argmin cumsum(_) cumprod(_) cummax "
        "cummin trace count_nonzero median nanmedian mode"
    )
)(per_input(1, 0, "one add or comparison"))
flops(*aten("max min"))(per_result(1, 2, "one comparison"))
flops(*aten("var var_mean std std_mean"))(
    per_input(4, 0, "the mean (1), then a subtraction, a square and an add")
)
flops(*aten("norm linalg_vector_norm linalg_norm linalg_matrix_norm frobenius_norm"))(
    per_input(2, 0, "a square and an add")
)
flops(*aten("dist"))(per_result(3, 2, "a subtraction, a square and an add"))


@flops(*aten("_cdist_forward"))
def distances(op: OpFacts) -> int:
    """3 · batch · rows(input 0) · N(input 1): a subtraction, a square and an add for each pair."""
    return 3 * _pairs(op.input(0), op.input(1))


@flops(*aten("_cdist_backward"))
def distances_gradient(op: OpFacts) -> int:
    """4 · batch · rows(input 1) · N(input 2): a subtraction, two multiplies and an add."""
    return 4 * _pairs(op.input(1), op.input(2))


def _pairs(left: Shape, right: Shape) -> int:
    """The elements of all pairs of rows."""
    rows = dim(left, -2) * dim(right, -2)
    return prod(broadcast([left[:-2], right[:-2]])) * rows * dim(right, -1)


flops(*aten("logsumexp"))(per_input(4, 0, "subtract the maximum (2), an exponential and an add"))
flops(*aten("logcumsumexp"))(
    per_input(5, 0, "comparison, subtraction, exponential, logarithm and add")
)
flops(*aten("index_add(_) scatter_add(_) scatter_reduce(_) index_reduce(_)"))(
    per_input(1, 3, "one add of each given value")
)
flops(*aten("embedding_dense_backward embedding_backward bincount histc"))(
    per_input(1, 0, "one add")
)
flops(*aten("segment_reduce"))(per_input(1, 0, "one add"))


@flops(*aten("index_put(_) _index_put_impl_ _unsafe_index_put"))
def index_put(op: OpFacts) -> int:
    """N(values) with `accumulate`, 0 otherwise: one add for each given value."""
    if not op.switch("accumulate"):
        return 0
    places = range(op.input_count - 1, 0, -1)
    for place in places:
        if (shape := maybe_input(op, place)) is not None:
            return prod(shape)
    raise UnknownShape


@flops(*aten("embedding_bag _embedding_bag _embedding_bag_forward_only"))
def embedding_bag(op: OpFacts) -> int:
    """N(indices) · width: one add for each element of a row that is looked up."""
    return prod(op.input(1)) * dim(op.input(0), -1)


@flops(*aten("_embedding_bag_backward _embedding_bag_dense_backward"))
def embedding_bag_backward(op: OpFacts) -> int:
    """N(indices) · width: one add to each element of a row that was looked up."""
    return prod(op.input(1)) * dim(op.input(0), -1)


@flops(*aten("sort argsort"))
def sort(op: OpFacts) -> int:
    """N(input 0) · ⌈log2(n + 1)⌉: comparisons, for rows of n elements."""
    shape, axis = op.input(0), op.attr("dim")
    if axis is None and maybe_output(op) is not None:
        axis = -1  # exported programs omit defaults
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise UnknownShape
    return prod(shape) * dim(shape or (1,), axis).bit_length()


@flops(*aten("topk kthvalue"))
def top(op: OpFacts) -> int:
    """N(input 0) · ⌈log2(k + 1)⌉: comparisons of each value with those found so far."""
    return prod(op.input(0)) * max(op.number("k", default=1), 0).bit_length()


@flops(*aten("searchsorted"))
def search(op: OpFacts) -> int:
    """N(input 1) · ⌈log2(n + 1)⌉: the comparisons of a binary search in n values."""
    return prod(op.input(1)) * dim(op.input(0), -1).bit_length()


@flops(*aten("bucketize"))
def bucketize(op: OpFacts) -> int:
    """N(input 0) · ⌈log2(n + 1)⌉: the comparisons of a binary search in n boundaries."""
    return prod(op.input(0)) * dim(op.input(1), -1).bit_length()


# Pooling.


@flops(*aten("max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices"))
@flops(*aten("max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d mkldnn_max_pool2d"))
def pool(op: OpFacts) -> int:
    """Window · N(output): one add or comparison for each value in an output's window."""
    window = _numbers(op, "kernel_size", _rank(op))
    return prod(window) * prod(_pooled(op, window))


@flops(*aten("avg_pool2d_backward avg_pool3d_backward"))
def average_pool_gradient(op: OpFacts) -> int:
    """2 · window · N(input 0, the gradient): a multiply and an add for each value in a window."""
    window = _numbers(op, "kernel_size", _rank(op))
    return 2 * prod(window) * prod(op.input(0))


flops(*aten("max_pool2d_with_indices_backward max_pool3d_with_indices_backward"))(
    per_input(1, 0, "one add, to the element it came from,")
)
flops(*aten("adaptive_max_pool2d_backward adaptive_max_pool3d_backward"))(
    per_input(1, 0, "one add, to the element it came from,")
)
flops(
    *aten(
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
        "_adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d"
    )
)(per_input(1, 0, "one add or comparison"))
flops(*aten("_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward"))(
    per_input(2, 1, "a division and an add")
)


def _rank(op: OpFacts) -> int:
    """The number of sides of a window, as the kind says."""
    return int(next(letter for letter in op.kind if letter.isdigit()))


def _numbers(op: OpFacts, name: str, rank: int) -> Shape:
    """An attribute with a number for each side, or one for all of them."""
    value = op.attr(name)
    sizes = (value,) if isinstance(value, int) else op.sizes(name)
    if len(sizes) not in (1, rank):
        raise UnknownShape
    return sizes * (rank // len(sizes))


def _pooled(op: OpFacts, window: Shape) -> Shape:
    """The shape of the result."""
    if (known := maybe_output(op)) is not None:
        return known
    rank, image = len(window), op.input(0)
    if len(image) < rank:
        raise UnknownShape
    stride = window if op.attr("stride") in (None, ()) else _numbers(op, "stride", rank)
    padding = _numbers(op, "padding", rank)
    dilation = _numbers(op, "dilation", rank) if "max" in op.kind else (1,) * rank
    is_up = op.switch("ceil_mode")
    sides = zip(image[-rank:], window, stride, padding, dilation, strict=True)
    return (*image[:-rank], *(_side(*each, is_up=is_up) for each in sides))


def _side(image: int, window: int, stride: int, padding: int, dilation: int, *, is_up: bool) -> int:
    if stride < 1:
        raise UnknownShape
    room = image + 2 * padding - dilation * (window - 1) - 1
    steps = -(-room // stride) if is_up else room // stride
    # A window that is rounded up must start inside of the image or its left padding.
    if is_up and steps * stride >= image + padding:
        steps -= 1
    return max(steps + 1, 0)


# Interpolation.


@flops(*aten("upsample_bilinear2d _upsample_bilinear2d_aa"))
def bilinear(op: OpFacts) -> int:
    """9 · N(output): three interpolations, each a subtraction, a multiply and an add."""
    return 9 * prod(_resized(op, 2))


@flops(*aten("upsample_linear1d"))
def linear(op: OpFacts) -> int:
    """3 · N(output): a subtraction, a multiply and an add for each element."""
    return 3 * prod(_resized(op, 1))


@flops(*aten("upsample_trilinear3d"))
def trilinear(op: OpFacts) -> int:
    """21 · N(output): seven interpolations, each a subtraction, a multiply and an add."""
    return 21 * prod(_resized(op, 3))


@flops(*aten("upsample_bicubic2d"))
def bicubic(op: OpFacts) -> int:
    """35 · N(output): five sums of four elements, each four multiplies and three adds."""
    return 35 * prod(_resized(op, 2))


flops(*aten("upsample_linear1d_backward"))(
    per_input(4, 0, "a multiply and an add for each of two neighbours")
)
flops(*aten("upsample_bilinear2d_backward"))(
    per_input(12, 0, "two multiplies and an add for each of four neighbours")
)
flops(*aten("upsample_trilinear3d_backward"))(
    per_input(32, 0, "three multiplies and an add for each of eight neighbours")
)
flops(*aten("upsample_bicubic2d_backward"))(
    per_input(48, 0, "two multiplies and an add for each of sixteen neighbours")
)
flops(
    *aten(
        "upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward "
        "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward "
        "_upsample_nearest_exact3d_backward reflection_pad1d_backward reflection_pad2d_backward "
        "reflection_pad3d_backward replication_pad1d_backward replication_pad2d_backward "
        "replication_pad3d_backward"
    )
)(per_input(1, 0, "one add, to the element it was copied from,"))


def _resized(op: OpFacts, rank: int) -> Shape:
    if (known := maybe_output(op)) is not None:
        return known
    sides = op.sizes("output_size")
    if len(sides) != rank or len(op.input(0)) < rank:
        raise UnknownShape
    return (*op.input(0)[:-rank], *sides)
