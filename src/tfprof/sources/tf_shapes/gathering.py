"""Shapes of lookups, scatters and segments."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown, axis_in, dim_of, refined
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("Gather")
def rows(op: Op) -> list[Shape]:
    """A row per index."""
    return [_gathered(op.shape(0), op.shape(1), 0, 0)]


@shapes("GatherV2")
def gathered(op: Op) -> list[Shape]:
    """An entry along the axis per index; leading batch dims are shared."""
    table, indices = op.shape(0), op.shape(1)
    axis = axis_in(op.number(2), len(table))
    return [_gathered(table, indices, axis, op.integer("batch_dims"))]


@shapes("ResourceGather")
def variable_rows(op: Op) -> list[Shape]:
    """A row of a variable per index."""
    table = op.held().shape
    if table is None:
        raise Unknown
    shared = op.integer("batch_dims")
    return [_gathered(table, op.shape(1), shared, shared)]


def _gathered(table: Dims, indices: Dims, axis: int, shared: int) -> Dims:
    shared = shared + len(indices) if shared < 0 else shared
    return (*table[:axis], *indices[shared:], *table[axis + 1 :])


@shapes("GatherNd")
def entries(op: Op) -> list[Shape]:
    """An entry, or part of the tensor, per index."""
    return [_entries(op.shape(0), op.shape(1))]


@shapes("ResourceGatherNd")
def variable_entries(op: Op) -> list[Shape]:
    """An entry, or part of the variable, per index."""
    table = op.held().shape
    if table is None:
        raise Unknown
    return [_entries(table, op.shape(1))]


def _entries(table: Dims, indices: Dims) -> Dims:
    depth = indices[-1]
    if depth < 0:
        raise Unknown
    return (*indices[:-1], *table[depth:])


@shapes("ScatterNd")
def scattered(op: Op) -> list[Shape]:
    """The shape in the last input."""
    return [op.dims(2)]


@shapes("OneHot")
def one_hot(op: Op) -> list[Shape]:
    """A new dim with the given depth; by default the last one."""
    indices = op.shape(0)
    axis = op.integer("axis", OPEN)
    place = len(indices) if axis < 0 else axis_in(axis, len(indices) + 1)
    value = op.maybe_value(1)
    depth = OPEN if value is None else dim_of(value.item())
    return [(*indices[:place], depth, *indices[place:])]


@shapes("UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum")
def segments(op: Op) -> list[Shape]:
    """A result per segment, whose number is the last input."""
    data, ids = op.shape(0), op.shape(1)
    value = op.maybe_value(2)
    return [(OPEN if value is None else dim_of(value.item()), *data[len(ids) :])]


@shapes("SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean")
@shapes("SparseSegmentSqrtN SparseSegmentSum")
def counted_segments(op: Op) -> list[Shape]:
    """A result per segment; their number depends on the data."""
    return [(OPEN, *op.shape(0)[1:])]


@shapes("SparseSegmentMeanGrad SparseSegmentSqrtNGrad SparseSegmentSumGrad")
@shapes("SparseSegmentMeanWithNumSegments SparseSegmentSumWithNumSegments")
@shapes("SparseSegmentSqrtNWithNumSegments")
def sized_segments(op: Op) -> list[Shape]:
    """A result per segment, whose number is the last input."""
    value = op.maybe_value(3)
    return [(OPEN if value is None else dim_of(value.item()), *op.shape(0)[1:])]


@shapes("Where")
def positions(op: Op) -> list[Shape]:
    """The positions of true values; their number depends on the data."""
    return [(OPEN, len(op.shape(0)))]


@shapes("Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2")
def unique(op: Op) -> list[Shape]:
    """The distinct values, whose number depends on the data, and the place of each value."""
    found: list[Shape] = [(OPEN,), op.shape(0)[:1]]
    return [*found, (OPEN,)] if "Counts" in op.kind else found


@shapes("RaggedTensorToTensor SparseToDense")
def dense(op: Op) -> list[Shape]:
    """The shape in an input."""
    return [op.dims(0 if op.kind.startswith("Ragged") else 1)]


@shapes("DynamicStitch ParallelDynamicStitch")
def stitched(op: Op) -> list[Shape]:
    """An entry for each index up to the largest one; the other dims are those of the data."""
    count = len(op.inputs) // 2
    found: Shape = None
    for position in range(count):
        indices, data = op.maybe_shape(position), op.maybe_shape(count + position)
        if indices is not None and data is not None:
            found = refined(found, data[len(indices) :])
    if found is None:
        raise Unknown
    try:
        largest = max(number for position in range(count) for number in op.numbers(position))
    except Unknown:
        largest = OPEN - 1
    return [(dim_of(largest + 1), *found)]
