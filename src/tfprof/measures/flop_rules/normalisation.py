"""Normalisation over a batch, a layer or neighbouring channels, and its gradients."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, UnknownShape, flops, native

_BATCH_NORM = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_BATCH_NORM_GRADIENT = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")


@flops(*_BATCH_NORM, *native(*_BATCH_NORM))
def batch_norm(op: OpFacts) -> int:
    """7 · N(input 0) + 4 · channels, or 3 · N(input 0) + 4 · channels unless `is_training`.

    Training computes the mean (1) and variance (3). Normalising subtracts the mean, multiplies by
    a factor and adds the offset (3). The factor of each channel is its scale times the reciprocal
    root of variance plus epsilon (4).
    """
    per_element = 7 if op.switch("is_training", default=True) else 3
    return per_element * prod(op.input(0)) + 4 * prod(op.input(1))


@flops("_FusedBatchNormEx", *native("_FusedBatchNormEx"))
def extended_batch_norm(op: OpFacts) -> int:
    """Like `FusedBatchNormV3`, + N(input 0) with a side input, + N(input 0) with an activation."""
    return batch_norm(op) + _extensions(op) * prod(op.input(0))


@flops(*_BATCH_NORM_GRADIENT, *native(*_BATCH_NORM_GRADIENT))
def batch_norm_gradient(op: OpFacts) -> int:
    """9 · N(input 1) + 6 · channels, or 6 · N(input 1) + 4 · channels unless `is_training`.

    The gradient of the offset (1), the normalised input again (2) and the gradient of the scale
    (2); then the gradient of the input, from all three when training (4), else from the factor
    alone (1).
    """
    is_training = op.switch("is_training", default=True)
    per_element, per_channel = (9, 6) if is_training else (6, 4)
    return per_element * prod(op.input(1)) + per_channel * prod(op.input(2))


@flops("_FusedBatchNormGradEx")
def extended_batch_norm_gradient(op: OpFacts) -> int:
    """Like `FusedBatchNormGradV3`, + N(input 1) with an activation: one comparison."""
    has_activation = op.word("activation_mode", default="Identity") != "Identity"
    return batch_norm_gradient(op) + has_activation * prod(op.input(1))


@flops("BatchNormWithGlobalNormalization")
def inference_batch_norm(op: OpFacts) -> int:
    """3 · N(input 0) + 4 · channels: the same as `FusedBatchNorm` without training."""
    return 3 * prod(op.input(0)) + 4 * prod(op.input(1))


@flops("_MklLayerNorm")
def layer_norm(op: OpFacts) -> int:
    """8 · N(input 0) + 3 · rows: mean (1), variance (3), normalise (2), scale and offset (2).

    The factor of each row is the reciprocal root of its variance plus epsilon (3).
    """
    shape = op.input(0)
    return 8 * prod(shape) + 3 * prod(shape[:-1])


@flops("LRN")
def local_response(op: OpFacts) -> int:
    """(Window + 4) · N(input 0), where the window is 2 · depth_radius + 1.

    Each element takes a square, the adds of its window, a multiply, an add, a power and a division.
    """
    return (_window(op) + 4) * prod(op.input(0))


@flops("LRNGrad")
def local_response_gradient(op: OpFacts) -> int:
    """(6 · window + 4) · N(input 1): the sums again, then five per element of a window."""
    return (6 * _window(op) + 4) * prod(op.input(1))


def _window(op: OpFacts) -> int:
    radius = op.number("depth_radius", default=5)
    if radius < 0:
        raise UnknownShape
    return 2 * radius + 1


def _extensions(op: OpFacts) -> int:
    has_side_input = op.number("num_side_inputs", default=0) > 0
    has_activation = op.word("activation_mode", default="Identity") != "Identity"
    return has_side_input + has_activation
