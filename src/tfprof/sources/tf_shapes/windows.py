"""Shapes of convolutions, pooling and patches."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("Conv2D Conv3D _FusedConv2D _MklNativeConv2D _MklNativeFusedConv2D")
def convolution(op: Op) -> list[Shape]:
    """One window per stride, and the channels of the filter."""
    return [_convolution(op, op.shape(1)[-1])]


@shapes("DepthwiseConv2dNative _FusedDepthwiseConv2dNative")
def depthwise_convolution(op: Op) -> list[Shape]:
    """The channels are those of the image times the multiplier of the filter."""
    *_, channels, multiplier = op.shape(1, 4)
    return [_convolution(op, channels * multiplier if min(channels, multiplier) >= 0 else OPEN)]


def _convolution(op: Op, channels: int) -> Dims:
    image, window = op.shape(0), op.shape(1)
    if len(image) != len(window):
        raise Unknown
    spatial = _spatial(op, len(image))
    return _windowed(op, image, spatial, window[: len(spatial)], channels, _dilations(op, spatial))


@shapes("Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput")
def transposed_convolution(op: Op) -> list[Shape]:
    """The shape in the first input; it may have only spatial dims."""
    given, gradient = op.dims(0), op.maybe_shape(2)
    if gradient is None or len(given) == len(gradient):
        return [_first_from(given, gradient)]
    spatial = _spatial(op, len(gradient))
    found = list(gradient)
    found[_channel(op, len(gradient))] = op.shape(1)[-2]
    for axis, size in zip(spatial, given, strict=True):
        found[axis] = size
    return [tuple(found)]


def _first_from(dims: Dims, gradient: Shape) -> Dims:
    """Both tensors have the same number of examples."""
    return (gradient[0], *dims[1:]) if gradient and dims[:1] == (OPEN,) else dims


@shapes("Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter")
def filter_gradient(op: Op) -> list[Shape]:
    """The shape in the second input."""
    return [op.dims(1)]


@shapes("AvgPoolGrad AvgPool3DGrad")
def average_gradient(op: Op) -> list[Shape]:
    """The shape in the first input."""
    return [_first_from(op.dims(0), op.maybe_shape(1))]


@shapes("MaxPoolGrad MaxPool3DGrad MaxPoolGradV2 MaxPoolGradWithArgmax Conv3DBackpropInput")
def like_image(op: Op) -> list[Shape]:
    """The shape of the first input."""
    return [op.maybe_shape(0)]


@shapes("MaxPoolGradGrad MaxPoolGradGradV2 MaxPool3DGradGrad Conv3DBackpropFilter")
def like_output(op: Op) -> list[Shape]:
    """The shape of the second input."""
    return [op.maybe_shape(1)]


@shapes("AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolWithArgmax MaxPoolV2")
def pooling(op: Op) -> list[Shape]:
    """One window per stride; channels may be pooled as well."""
    image = op.shape(0)
    is_given = op.kind == "MaxPoolV2"
    window = tuple(op.numbers(1)) if is_given else op.integers("ksize")
    strides = tuple(op.numbers(2)) if is_given else op.integers("strides")
    if not len(image) == len(window) == len(strides):
        raise Unknown
    explicit = _explicit(op, len(image))
    found = tuple(
        _extent(op, *sizes) for sizes in zip(image, window, strides, explicit, strict=True)
    )
    return [found] * (2 if op.kind == "MaxPoolWithArgmax" else 1)


@shapes("Dilation2D")
def dilation(op: Op) -> list[Shape]:
    """One window per stride; the channels stay."""
    image, window, rates = op.shape(0, 4), op.shape(1, 3), op.integers("rates")
    return [_windowed(op, image, (1, 2), window[:2], image[3], rates[1:3])]


@shapes("ExtractImagePatches ExtractVolumePatches")
def patches(op: Op) -> list[Shape]:
    """One patch per stride, flattened into channels."""
    image, window = op.shape(0), op.integers("ksizes")
    if len(window) != len(image):
        raise Unknown
    spatial = tuple(range(1, len(image) - 1))
    depth = image[-1] * prod(window[1:-1]) if image[-1] >= 0 else OPEN
    rates = op.integers("rates")[1:-1] or (1,) * len(spatial)
    return [_windowed(op, image, spatial, window[1:-1], depth, rates)]


def _windowed(  # noqa: PLR0917 -- the parts of a convolution
    op: Op,
    image: Dims,
    spatial: Sequence[int],
    window: Sequence[int],
    channels: int,
    dilations: Sequence[int],
) -> Dims:
    strides, explicit = op.integers("strides"), _explicit(op, len(image))
    found = list(image)
    found[_channel(op, len(image))] = channels
    for axis, size, dilation_ in zip(spatial, window, dilations, strict=True):
        extent = (size - 1) * dilation_ + 1 if size >= 0 else OPEN
        found[axis] = _extent(op, image[axis], extent, strides[axis], explicit[axis])
    return tuple(found)


def _extent(op: Op, size: int, window: int, stride: int, padded: int) -> int:
    """The number of windows along one dim."""
    padding = op.text("padding", "VALID")
    if size < 0 or stride < 1:
        return OPEN
    if padding == "SAME":
        return -(-size // stride)
    if window < 0:
        return OPEN
    whole = size + (padded if padding == "EXPLICIT" else 0)
    return max(-(-(whole - window + 1) // stride), 0)


def _explicit(op: Op, rank: int) -> list[int]:
    """The explicit padding along each dim, both sides together."""
    given = op.integers("explicit_paddings")
    if len(given) != 2 * rank:
        return [0] * rank
    return [before + after for before, after in zip(given[::2], given[1::2], strict=True)]


def _is_channels_first(op: Op) -> bool:
    return op.text("data_format").startswith("NC")


def _channel(op: Op, rank: int) -> int:
    return 1 if _is_channels_first(op) else rank - 1


def _spatial(op: Op, rank: int) -> tuple[int, ...]:
    first = 2 if _is_channels_first(op) else 1
    return tuple(range(first, first + rank - 2))


def _dilations(op: Op, spatial: Sequence[int]) -> list[int]:
    given = op.integers("dilations")
    return [given[axis] if axis < len(given) else 1 for axis in spatial]
