"""Convolutions, their gradients, and what is added after them; a filter's layout never varies."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape, dim, flops

if TYPE_CHECKING:
    from tfprof.model.ops import AttributeValue

# Where height, width and channels stand in each data format; an op that names none has the first.
_AXES: dict[AttributeValue, tuple[int, int, int]] = {
    None: (1, 2, 3),
    "NHWC": (1, 2, 3),
    "NCHW": (2, 3, 1),
}


@flops("Conv2D", "Conv3D")
def convolution(op: OpFacts) -> int:
    """2 · N(output) · window · filter depth: a multiply and an add for each weight used."""
    _require_image(op)
    window_and_depth = op.input(1)[:-1]
    return 2 * prod(op.output(0)) * prod(window_and_depth)


@flops("DepthwiseConv2dNative", "Dilation2D")
def depthwise_convolution(op: OpFacts) -> int:
    """2 · N(output) · window: a multiply (or a maximum) and an add for each weight."""
    _require_image(op)
    window = op.input(1)[:2]
    return 2 * prod(op.output(0)) * prod(window)


@flops("Conv2DBackpropInput")
def convolution_input_gradient(op: OpFacts) -> int:
    """2 · N(output) · N(filter) / (channels · strides): a multiply and an add are two."""
    return _gradient(op, image=op.output(0), weights=op.input(1))


@flops("Conv2DBackpropFilter")
def convolution_filter_gradient(op: OpFacts) -> int:
    """2 · N(image) · N(output) / (channels · strides): a multiply and an add are two."""
    return _gradient(op, image=op.input(0), weights=op.output(0))


@flops("BiasAdd")
def bias_add(op: OpFacts) -> int:
    """N(input 0): one add for each element, wherever the channels stand."""
    return prod(op.input(0))


def _require_image(op: OpFacts) -> None:
    """End the rule where the image is unknown, as TensorFlow's profiler does, needed or not."""
    op.input(0)


def _gradient(op: OpFacts, image: Shape, weights: Shape) -> int:
    total = 2 * prod(image) * prod(weights)
    if total == 0:
        return 0
    axes = _AXES.get(op.attr("data_format"))
    if axes is None:
        raise UnknownShape
    height, width, channels = axes
    strides = op.sizes("strides")
    shared = dim(image, channels) * dim(strides, height) * dim(strides, width)
    if shared == 0:
        raise UnknownShape
    # TensorFlow's profiler divides in floating point and cuts; `//` differs from 2**53 on.
    return int(total / shared)
