"""Convolutions, their gradients and bias adds; filters always have the same layout."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tfprof.measures.flop_rules.fused import fused_operations
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    Shape,
    UnknownShape,
    dim,
    flops,
    multiply_adds,
    native,
)

if TYPE_CHECKING:
    from tfprof.model.attributes import AttributeValue

# The axes of height, width and channels in each data format; the default is NHWC.
_AXES: dict[AttributeValue, tuple[int, int, int]] = {
    None: (1, 2, 3),
    "NHWC": (1, 2, 3),
    "NCHW": (2, 3, 1),
}


@flops("Conv", "QuantizedConv2D", *native("Conv2D", "Conv3D", "PadWithConv2D"))
@flops("Conv2D", "Conv3D", is_classic=True)
def convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window · filter depth: a multiply and an add for each weight used."""
    _require_image(op)
    window_and_depth = op.input(1)[:-1]
    return multiply_adds(prod(op.output(0)) * prod(window_and_depth))


@flops("QuantizedDepthwiseConv2D", *native("DepthwiseConv2dNative"))
@flops("DepthwiseConv2dNative", is_classic=True)
def depthwise_convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window: a multiply and an add for each weight."""
    _require_image(op)
    window = op.input(1)[:2]
    return multiply_adds(prod(op.output(0)) * prod(window))


@flops("Dilation2D", is_classic=True)
def dilation(op: OpFacts) -> int:
    """2 · N(output) · window: an add and a maximum for each weight."""
    return depthwise_convolution(op).float_ops


@flops(*native("Conv2DBackpropInput"))
@flops("Conv2DBackpropInput", is_classic=True)
def convolution_input_gradient(op: OpFacts) -> FlopCount:
    """2 · N(output) · N(filter) / (channels · strides): a multiply and an add count as two."""
    return _gradient(op, image=op.output(0), weights=op.input(1))


@flops(*native("Conv2DBackpropFilter"))
@flops("Conv2DBackpropFilter", is_classic=True)
def convolution_filter_gradient(op: OpFacts) -> FlopCount:
    """2 · N(image) · N(output) / (channels · strides): a multiply and an add count as two."""
    return _gradient(op, image=op.input(0), weights=op.output(0))


@flops(
    "Conv2DBackpropInputV2",
    "Conv3DBackpropInput",
    "Conv3DBackpropInputV2",
    *native("Conv3DBackpropInputV2"),
)
def exact_input_gradient(op: OpFacts) -> FlopCount:
    """2 · N(input 2, the gradient) · window · filter depth: the same as the convolution itself."""
    return multiply_adds(prod(op.input(2)) * prod(op.input(1)[:-1]))


@flops(
    "Conv2DBackpropFilterV2",
    "Conv3DBackpropFilter",
    "Conv3DBackpropFilterV2",
    *native("Conv3DBackpropFilterV2"),
)
def exact_filter_gradient(op: OpFacts) -> FlopCount:
    """2 · N(input 2, the gradient) · window · filter depth: the same as the convolution itself."""
    return multiply_adds(prod(op.input(2)) * prod(op.output(0)[:-1]))


@flops(
    "DepthwiseConv2dNativeBackpropInput",
    *native("DepthwiseConv2dNativeBackpropInput"),
)
def depthwise_input_gradient(op: OpFacts) -> FlopCount:
    """2 · N(input 2, the gradient) · window: the same as the convolution itself."""
    return multiply_adds(prod(op.input(2)) * prod(op.input(1)[:2]))


@flops(
    "DepthwiseConv2dNativeBackpropFilter",
    *native("DepthwiseConv2dNativeBackpropFilter"),
)
def depthwise_filter_gradient(op: OpFacts) -> FlopCount:
    """2 · N(input 2, the gradient) · window: the same as the convolution itself."""
    return multiply_adds(prod(op.input(2)) * prod(op.output(0)[:2]))


@flops("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
def dilation_gradient(op: OpFacts) -> int:
    """(2 · window + 1) · N(input 2, the gradient): find each maximum again, then one add."""
    return (2 * prod(op.input(1)[:2]) + 1) * prod(op.input(2))


@flops("_FusedConv2D", "_FusedConv3D", *native("_FusedConv2D", "_FusedConv3D"))
@flops(*native("PadWithFusedConv2D"))
def fused_convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window · filter depth + fused ops: such as a bias and an activation."""
    if op.word("filter_format", default="HWIO") not in ("HWIO", "DHWIO"):
        raise UnknownShape
    return convolution(op) + fused_operations(op, op.output(0))


@flops("_FusedDepthwiseConv2dNative", *native("_FusedDepthwiseConv2dNative"))
def fused_depthwise_convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window + fused ops: such as a bias and an activation."""
    return depthwise_convolution(op) + fused_operations(op, op.output(0))


@flops(*native("Conv2DWithBias"))
def biased_convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window · filter depth + N(output): one more add for each element."""
    return convolution(op) + prod(op.output(0))


@flops("BiasAddV1")
@flops("BiasAdd", is_classic=True)
def bias_add(op: OpFacts) -> int:
    """N(input 0): one add for each element, in any data format."""
    return prod(op.input(0))


def _require_image(op: OpFacts) -> None:
    """Raise `UnknownShape` if the image's shape is unknown, as TensorFlow's profiler does."""
    op.input(0)


def _gradient(op: OpFacts, image: Shape, weights: Shape) -> FlopCount:
    products = prod(image) * prod(weights)
    if products == 0:
        return multiply_adds(0)
    axes = _AXES.get(op.attr("data_format"))
    if axes is None:
        raise UnknownShape
    height, width, channels = axes
    strides = op.sizes("strides")
    shared = dim(image, channels) * dim(strides, height) * dim(strides, width)
    if shared == 0:
        raise UnknownShape
    # TensorFlow's profiler divides in floating point and truncates; `//` differs from 2**53 on.
    return FlopCount(int(2 * products / shared), products // shared)
