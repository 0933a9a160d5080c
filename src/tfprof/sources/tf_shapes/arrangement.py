"""Shapes of ops that move values: reshaping, joining, splitting, padding and repeating."""

from __future__ import annotations

from math import prod

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import (
    OPEN,
    Dims,
    Unknown,
    axis_in,
    dim_of,
    is_whole,
    refined,
    size,
    total,
)
from tfprof.sources.tf_shapes.op import MOST_NUMBERS, Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("Reshape")
def reshaped(op: Op) -> list[Shape]:
    """The shape in the second input; one open dim follows from the number of elements."""
    value = op.maybe_value(1)
    found = refined(op.stated[0] if op.stated else None, None if value is None else op.dims(1))
    if value is not None and (found is None or len(found) != value.size):
        found = op.dims(1)
    given = op.maybe_shape(0)
    if found is None or is_whole(found) or given is None:
        return [found]
    return [_completed(found, given)]


def _completed(dims: Dims, given: Dims) -> Dims:
    """The dims with the only open one derived from the size of `given`."""
    if dims.count(OPEN) != 1 or not is_whole(given):
        return dims
    others = prod(dim for dim in dims if dim != OPEN)
    if not others or size(given) % others:
        return dims
    return tuple(size(given) // others if dim == OPEN else dim for dim in dims)


@shapes("Transpose ConjugateTranspose")
def transposed(op: Op) -> list[Shape]:
    """The dims in the order of the second input."""
    shape = op.shape(0)
    order = op.maybe_value(1)
    if order is None:
        return [(OPEN,) * len(shape)]
    if order.size != len(shape):
        raise Unknown
    found = tuple(OPEN if at is None else shape[axis_in(at, len(shape))] for at in order.flat)
    return [found]


@shapes("ExpandDims")
def expanded(op: Op) -> list[Shape]:
    """A new dim of size 1."""
    shape = op.shape(0)
    place = axis_in(op.number(1), len(shape) + 1)
    return [(*shape[:place], 1, *shape[place:])]


@shapes("Squeeze")
def squeezed(op: Op) -> list[Shape]:
    """Without the given dims, or without all dims of size 1."""
    shape = op.shape(0)
    axes = {axis_in(axis, len(shape)) for axis in op.integers("squeeze_dims")}
    if axes:
        return [tuple(dim for axis, dim in enumerate(shape) if axis not in axes)]
    if OPEN in shape:
        raise Unknown
    return [tuple(dim for dim in shape if dim != 1)]


@shapes("ConcatV2")
def joined(op: Op) -> list[Shape]:
    """The inputs one after the other; the last input is the axis."""
    return [_joined(op.shapes(-1), op.number(-1))]


@shapes("Concat")
def joined_after_axis(op: Op) -> list[Shape]:
    """The inputs one after the other; the first input is the axis."""
    return [_joined(op.shapes(start=1), op.number(0))]


def _joined(parts: list[Dims], axis: int) -> Dims:
    parts = [part for part in parts if len(part) == len(parts[0])]
    place = axis_in(axis, len(parts[0]))
    found: Shape = None
    for part in parts:
        found = refined(found, (*part[:place], OPEN, *part[place + 1 :]))
    if found is None:
        raise Unknown
    return (*found[:place], total(*(part[place] for part in parts)), *found[place + 1 :])


@shapes("ConcatOffset")
def offsets(op: Op) -> list[Shape]:
    """A start per dim, for each part."""
    return [op.maybe_shape(position) for position in range(1, len(op.inputs))]


@shapes("Split")
def split(op: Op) -> list[Shape]:
    """Equal parts."""
    shape, count = op.shape(1), op.integer("num_split")
    place = axis_in(op.number(0), len(shape))
    if not 0 < count <= MOST_NUMBERS:
        raise Unknown
    part = shape[place] // count if shape[place] >= 0 else OPEN
    return [(*shape[:place], part, *shape[place + 1 :])] * count


@shapes("SplitV")
def split_by_sizes(op: Op) -> list[Shape]:
    """Parts of given sizes; a size of -1 is the remainder."""
    shape = op.shape(0)
    place = axis_in(op.number(2), len(shape))
    sizes = [OPEN if part is None else int(part) for part in op.value(1).flat]
    if sizes.count(OPEN) == 1 and shape[place] >= 0:
        rest = shape[place] - sum(part for part in sizes if part != OPEN)
        sizes = [dim_of(rest) if part == OPEN else part for part in sizes]
    return [(*shape[:place], part, *shape[place + 1 :]) for part in sizes]


@shapes("Pack")
def packed(op: Op) -> list[Shape]:
    """A new dim with one entry per input."""
    found: Shape = None
    for position in range(len(op.inputs)):
        found = refined(found, op.maybe_shape(position))
    if found is None:
        raise Unknown
    place = axis_in(op.integer("axis"), len(found) + 1)
    return [(*found[:place], len(op.inputs), *found[place:])]


@shapes("Unpack")
def unpacked(op: Op) -> list[Shape]:
    """One output per entry of a dim."""
    shape, count = op.shape(0), op.integer("num")
    place = axis_in(op.integer("axis"), len(shape))
    if not 0 <= count <= MOST_NUMBERS:
        raise Unknown
    return [shape[:place] + shape[place + 1 :]] * count


@shapes("Tile")
def tiled(op: Op) -> list[Shape]:
    """Each dim repeated."""
    shape, times = op.shape(0), op.dims(1)
    pairs = zip(shape, times, strict=True)
    return [tuple(one * two if min(one, two) >= 0 else OPEN for one, two in pairs)]


@shapes("Pad PadV2 MirrorPad")
def padded(op: Op) -> list[Shape]:
    """Each dim with the padding before and after."""
    shape = op.shape(0)
    margins = op.maybe_value(1)
    if margins is None:
        return [(OPEN,) * len(shape)]
    pairs = zip(shape, margins, strict=True)
    return [tuple(total(dim, dim_of(before), dim_of(after)) for dim, (before, after) in pairs)]


@shapes("MirrorPadGrad")
def pad_gradient(op: Op) -> list[Shape]:
    """Each dim without the padding before and after."""
    pairs = zip(op.shape(0), op.whole(1), strict=True)
    return [
        tuple(dim_of(dim - before - after) if dim >= 0 else OPEN for dim, (before, after) in pairs)
    ]


@shapes("BroadcastTo")
def stretched(op: Op) -> list[Shape]:
    """The shape in the second input."""
    return [op.dims(1)]


@shapes("Shape")
def rank(op: Op) -> list[Shape]:
    """One number per dim."""
    shape = op.maybe_shape(0)
    return [(OPEN if shape is None else len(shape),)]


@shapes("ShapeN")
def ranks(op: Op) -> list[Shape]:
    """One number per dim, for each input."""
    found = [op.maybe_shape(position) for position in range(len(op.inputs))]
    return [(OPEN if shape is None else len(shape),) for shape in found]


@shapes("BroadcastArgs")
def broadcast_rank(op: Op) -> list[Shape]:
    """The larger of two ranks."""
    return [(max(op.shape(0, 1)[0], op.shape(1, 1)[0]),)]


@shapes("BroadcastGradientArgs")
def reduced_axes(_op: Op) -> list[Shape]:
    """Two lists of axes; their lengths follow from their values."""
    return [(OPEN,), (OPEN,)]


@shapes("EnsureShape")
def ensured(op: Op) -> list[Shape]:
    """The shape of the input, with open dims taken from the declared shape."""
    return [refined(op.maybe_shape(0), op.declared)]
