"""Convolutions of PyTorch; weights are (outputs, inputs / groups, window), for transposed ones with
inputs and outputs exchanged.

A bias starts each sum, and the adds that its gradient takes are not counted, as in
`torch.utils.flop_counter`.
"""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten, maybe_output
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    Shape,
    UnknownShape,
    dim,
    flops,
    multiply_adds,
)


@flops(*aten("conv1d conv2d conv3d mkldnn_convolution cudnn_convolution miopen_convolution"))
@flops(*aten("thnn_conv2d _slow_conv2d_forward slow_conv3d slow_conv3d_forward"))
@flops(*aten("_conv_depthwise2d conv_depthwise3d slow_conv_dilated2d slow_conv_dilated3d"))
@flops(*aten("miopen_depthwise_convolution"))
def convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window · inputs / groups: a multiply and an add for each weight used."""
    return multiply_adds(_forward(op.input(0), op.input(1), _output(op)))


@flops(*aten("conv_transpose1d conv_transpose2d conv_transpose3d cudnn_convolution_transpose"))
@flops(*aten("miopen_convolution_transpose slow_conv_transpose2d slow_conv_transpose3d"))
def transposed_convolution(op: OpFacts) -> FlopCount:
    """2 · N(input 0) · window · outputs / groups: a multiply and an add for each weight used."""
    return multiply_adds(prod(op.input(0)) * prod(op.input(1)[1:]))


@flops(*aten("convolution _convolution convolution_overrideable"))
def any_convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window · inputs / groups, or as transposed with `transposed`."""
    return transposed_convolution(op) if _is_transposed(op) else convolution(op)


@flops(*aten("cudnn_convolution_relu"))
def rectified_convolution(op: OpFacts) -> FlopCount:
    """2 · N(output) · window · inputs / groups + N(output): a convolution and a comparison."""
    output = _output(op)
    return multiply_adds(_forward(op.input(0), op.input(1), output)) + prod(
        _whole(op.input(0), op.input(1), output)
    )


@flops(*aten("convolution_backward convolution_backward_overrideable"))
def convolution_gradient(op: OpFacts) -> FlopCount:
    """As many operations as the convolution, for the input, the weight or both.

    The gradient of the weight of a grouped convolution is that of each group.
    """
    mask = op.attr("output_mask")
    if not isinstance(mask, tuple):
        raise UnknownShape
    side = op.input(1) if _is_transposed(op) else op.input(0)
    return multiply_adds(prod(side) * prod(op.input(2)[1:]) * sum(map(bool, mask[:2])))


@flops(*aten("_slow_conv2d_backward"))
def slow_convolution_gradient(op: OpFacts) -> FlopCount:
    """As many operations as the convolution, for the input, the weight or both."""
    mask = op.attr("output_mask")
    if not isinstance(mask, tuple):
        raise UnknownShape
    return multiply_adds(prod(op.input(0)) * prod(op.input(2)[1:]) * sum(map(bool, mask[:2])))


def _is_transposed(op: OpFacts) -> bool:
    transposed = op.attr("transposed")
    if transposed is None:
        raise UnknownShape
    return bool(transposed)


def _forward(image: Shape, weight: Shape, output: Shape) -> int:
    return prod(_whole(image, weight, output)) * prod(weight[1:])


def _whole(image: Shape, weight: Shape, output: Shape) -> Shape:
    """The batch, if there is one, the channels and the sides of the result."""
    batch = image[: len(image) - len(output) - 1]
    return (*batch, dim(weight, 0), *output)


def _output(op: OpFacts) -> Shape:
    """The sides of the result, without batch and channels."""
    image, window = op.input(0), op.input(1)[2:]
    rank = len(window)
    if len(image) not in (rank + 1, rank + 2):
        raise UnknownShape
    known = maybe_output(op)
    if known is not None:
        return known[len(known) - rank :]
    padding, stride, dilation = (_sides(op, name, rank) for name in _NAMES)
    sides = zip(image[-rank:], window, padding, stride, dilation, strict=True)
    return tuple(_side(*each) for each in sides)


_NAMES = ("padding", "stride", "dilation")


def _side(image: int, window: int, padding: int, stride: int, dilation: int) -> int:
    if stride < 1:
        raise UnknownShape
    return max((image + 2 * padding - dilation * (window - 1) - 1) // stride + 1, 0)


def _sides(op: OpFacts, name: str, rank: int) -> Shape:
    """An attribute with a number for each side, or one for all of them."""
    if name == "dilation" and op.kind in _UNDILATED:
        return (1,) * rank
    value = op.attr(name)
    sizes = (value,) if isinstance(value, int) else op.sizes(name)
    if len(sizes) not in (1, rank):
        raise UnknownShape
    return sizes * (rank // len(sizes))


_UNDILATED = aten("thnn_conv2d _slow_conv2d_forward slow_conv3d slow_conv3d_forward")
