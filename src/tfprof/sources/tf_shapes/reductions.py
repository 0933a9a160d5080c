"""Shapes of reductions, of the positions of extremes, and of counts."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown, axis_in, dim_of
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("All Any EuclideanNorm Max Mean Min Prod Sum")
def reduced(op: Op) -> list[Shape]:
    """The dims that are not reduced; reduced ones are 1 with `keep_dims`."""
    shape, keeps = op.shape(0), bool(op.integer("keep_dims"))
    if op.maybe_value(1) is None and op.maybe_shape(1) == (0,):
        return [shape]
    if op.maybe_value(1) is None:
        return [(OPEN,) * len(shape) if keeps else None]
    axes = {axis_in(axis, len(shape)) for axis in op.numbers(1)}
    return [
        tuple(
            1 if axis in axes else size
            for axis, size in enumerate(shape)
            if keeps or axis not in axes
        )
    ]


@shapes("ArgMax ArgMin")
def position(op: Op) -> list[Shape]:
    """All dims except the one that is searched."""
    return [_without(op.shape(0), op.number(1))]


def _without(shape: Dims, axis: int) -> Dims:
    place = axis_in(axis, len(shape))
    return shape[:place] + shape[place + 1 :]


@shapes("L2Loss Rank Size")
def scalar(_op: Op) -> list[Shape]:
    """One number."""
    return [()]


@shapes("TopKV2 TopK")
def top(op: Op) -> list[Shape]:
    """The largest values and their positions along the last dim."""
    shape = op.shape(0)
    count = op.integer("k", OPEN) if op.kind == "TopK" else op.maybe_value(1)
    last = count if isinstance(count, int) else OPEN if count is None else dim_of(count.item())
    return [(*shape[:-1], last)] * 2


@shapes("ApproxTopK")
def approximate_top(op: Op) -> list[Shape]:
    """The largest values and their positions along a dim."""
    shape = op.shape(0)
    place = axis_in(op.integer("reduction_dimension", OPEN), len(shape))
    if not op.integer("aggregate_to_topk", 1):
        raise Unknown
    return [(*shape[:place], op.integer("k", OPEN), *shape[place + 1 :])] * 2


@shapes("InTopK InTopKV2")
def is_in_top(op: Op) -> list[Shape]:
    """One answer per target."""
    return [op.maybe_shape(1)]


@shapes("Bincount")
def counted(op: Op) -> list[Shape]:
    """One number per bin."""
    return [op.dims(1)[:1]]


@shapes("DenseBincount")
def counted_rows(op: Op) -> list[Shape]:
    """One number per bin, for each row."""
    rows = op.shape(0)[:-1]
    (bins,) = op.dims(1)
    return [(*rows, bins)]
