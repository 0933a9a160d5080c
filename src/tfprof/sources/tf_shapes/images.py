"""Shapes of image ops, and of moving blocks between space, batch and channels."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown, dim_of, total
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor ScaleAndTranslate")
@shapes("ResizeNearestNeighborGrad QuantizedResizeBilinear")
def resized(op: Op) -> list[Shape]:
    """The height and width in the second input."""
    return [_with_size(op, 1)]


@shapes("ImageProjectiveTransformV2 ImageProjectiveTransformV3")
def transformed(op: Op) -> list[Shape]:
    """The height and width in the third input."""
    return [_with_size(op, 2)]


def _with_size(op: Op, position: int) -> Dims:
    count, _, _, channels = op.shape(0, 4)
    height, width = op.dims(position)
    return (count, height, width, channels)


@shapes("ResizeBilinearGrad ResizeBicubicGrad ScaleAndTranslateGrad")
def resize_gradient(op: Op) -> list[Shape]:
    """The shape of the original image."""
    return [op.maybe_shape(1)]


@shapes("CropAndResize")
def cropped(op: Op) -> list[Shape]:
    """One image per box."""
    height, width = op.dims(3)
    return [(op.shape(1)[0], height, width, op.shape(0, 4)[3])]


@shapes("CropAndResizeGradImage")
def crop_gradient(op: Op) -> list[Shape]:
    """The shape in the last input."""
    return [op.dims(3)]


@shapes("DepthToSpace")
def depth_to_space(op: Op) -> list[Shape]:
    """Blocks of channels become blocks of pixels."""
    block = op.integer("block_size")
    count, height, width, depth = _image(op)
    sizes = (_times(height, block), _times(width, block), _over(depth, block**2))
    return [_arranged(op, count, *sizes)]


@shapes("SpaceToDepth")
def space_to_depth(op: Op) -> list[Shape]:
    """Blocks of pixels become blocks of channels."""
    block = op.integer("block_size")
    count, height, width, depth = _image(op)
    sizes = (_over(height, block), _over(width, block), _times(depth, block**2))
    return [_arranged(op, count, *sizes)]


def _image(op: Op) -> Dims:
    """Examples, height, width and channels."""
    count, *others = op.shape(0, 4)
    return (count, *others[1:], others[0]) if _is_channels_first(op) else (count, *others)


def _arranged(op: Op, count: int, height: int, width: int, depth: int) -> Dims:
    found = (count, height, width, depth)
    return (count, depth, height, width) if _is_channels_first(op) else found


def _is_channels_first(op: Op) -> bool:
    return op.text("data_format") == "NCHW"


@shapes("SpaceToBatchND")
def space_to_batch(op: Op) -> list[Shape]:
    """Blocks of padded pixels become further examples."""
    count, *others = op.shape(0)
    for place, (block, padding) in enumerate(_blocks(op)):
        padded = total(others[place], *(dim_of(part) for part in padding))
        others[place] = _over(padded, block)
        count = _times(count, block)
    return [(count, *others)]


@shapes("BatchToSpaceND")
def batch_to_space(op: Op) -> list[Shape]:
    """Groups of examples become blocks of pixels, which are then cropped."""
    count, *others = op.shape(0)
    for place, (block, (before, after)) in enumerate(_blocks(op)):
        whole = _times(others[place], block)
        margin = total(before, after)
        others[place] = dim_of(whole - margin) if whole >= 0 <= margin else OPEN
        count = _over(count, block)
    return [(count, *others)]


def _blocks(op: Op) -> list[tuple[int, tuple[int | None, int | None]]]:
    """The block size along each dim, and the padding or cropping before and after."""
    blocks = op.numbers(1)
    margins = op.maybe_value(2)
    if margins is None:
        return [(block, (None, None)) for block in blocks]
    return list(zip(blocks, (tuple(pair) for pair in margins), strict=True))


def _times(size: int, factor: int) -> int:
    return OPEN if size < 0 else size * factor


def _over(size: int, factor: int) -> int:
    """A quotient without remainder."""
    if size < 0:
        return OPEN
    if factor < 1 or size % factor:
        raise Unknown
    return size // factor
