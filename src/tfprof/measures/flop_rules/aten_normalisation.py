"""Normalisation and softmax of PyTorch; the operations are those of TensorFlow's kinds."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten, maybe_input, per_input
from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape, dim, flops

_ALWAYS_TRAINING = aten("_batch_norm_with_update _batch_norm_with_update_functional")
_NEVER_TRAINING = aten("_native_batch_norm_legit_no_training _batch_norm_no_update")


@flops(*aten("batch_norm native_batch_norm cudnn_batch_norm miopen_batch_norm"))
@flops(*aten("_batch_norm_impl_index _native_batch_norm_legit _native_batch_norm_legit_functional"))
@flops(*_ALWAYS_TRAINING, *_NEVER_TRAINING)
def batch_norm(op: OpFacts) -> int:
    """7 · N(input 0) + 4 · channels, or 3 · N(input 0) + 4 · channels unless `training`.

    The same as `FusedBatchNorm`.
    """
    return (7 if _is_training(op, "training") else 3) * prod(op.input(0)) + 4 * _channels(op, 0)


@flops(*aten("native_batch_norm_backward"))
def batch_norm_gradient(op: OpFacts) -> int:
    """9 · N(input 1) + 6 · channels, or 6 · N(input 1) + 4 · channels unless `train`.

    The same as `FusedBatchNormGrad`.
    """
    each, channel = (9, 6) if _is_training(op, "train") else (6, 4)
    return each * prod(op.input(1)) + channel * _channels(op, 1)


@flops(*aten("cudnn_batch_norm_backward miopen_batch_norm_backward"))
def training_gradient(op: OpFacts) -> int:
    """9 · N(input 0) + 6 · channels: the same as `FusedBatchNormGrad` when training."""
    return 9 * prod(op.input(0)) + 6 * _channels(op, 0)


@flops(*aten("batch_norm_backward"))
def updated_gradient(op: OpFacts) -> int:
    """9 · N(input 1) + 6 · channels, or 6 · N(input 1) + 4 · channels unless `update`."""
    each, channel = (9, 6) if _is_training(op, "update") else (6, 4)
    return each * prod(op.input(1)) + channel * _channels(op, 1)


@flops(*aten("instance_norm"))
def instance_norm(op: OpFacts) -> int:
    """7 · N(input 0) + 4 · batch · channels: a batch norm of each channel of each example."""
    shape = op.input(0)
    return 7 * prod(shape) + 4 * dim(shape, 0) * dim(shape, 1)


@flops(*aten("layer_norm native_layer_norm"))
def layer_norm(op: OpFacts) -> int:
    """8 · N(input 0) + 3 · rows, 6 · N(input 0) + 3 · rows without a weight.

    Mean (1), variance (3), normalise (2), scale and offset (2). The factor of each row is the
    reciprocal root of its variance plus epsilon (3).
    """
    shape = op.input(0)
    each = 6 if maybe_input(op, 2) is None else 8
    return each * prod(shape) + 3 * _rows(op, shape)


@flops(*aten("rms_norm _fused_rms_norm"))
def rms_norm(op: OpFacts) -> int:
    """4 · N(input 0) + 3 · rows, 3 · N(input 0) + 3 · rows without a weight.

    Square and sum (2), normalise (1), scale (1). The factor of each row is the reciprocal root of
    its mean plus epsilon (3).
    """
    shape = op.input(0)
    each = 3 if maybe_input(op, 2) is None else 4
    return each * prod(shape) + 3 * _rows(op, shape)


@flops(*aten("native_group_norm"))
def group_norm(op: OpFacts) -> int:
    """8 · N(input 0) + 3 · batch · groups: mean, variance, normalise, scale and offset."""
    return 8 * prod(op.input(0)) + 3 * dim(op.input(0), 0) * _groups(op, "group")


@flops(*aten("group_norm"))
def composed_group_norm(op: OpFacts) -> int:
    """8 · N(input 0) + 3 · batch · groups: the same as `aten::native_group_norm`."""
    return 8 * prod(op.input(0)) + 3 * dim(op.input(0), 0) * _groups(op, "num_groups")


flops(*aten("native_layer_norm_backward native_group_norm_backward"))(
    per_input(
        13,
        1,
        "the normalised input again (2), gradients of scale and offset (4), two sums (3) and the "
        "gradient of the input (4)",
    )
)
flops(*aten("_fused_rms_norm_backward"))(
    per_input(
        9,
        1,
        "the normalised input again (1), the gradient of the scale (3), a sum (2) and the gradient "
        "of the input (3)",
    )
)
flops(*aten("softmax _softmax _safe_softmax"))(
    per_input(5, 0, "subtract the maximum (2), exponential (1), sum and divide (2)")
)
flops(*aten("_softmax_backward_data"))(per_input(4, 0, "two multiplies, an add and a subtraction"))
flops(*aten("_log_softmax_backward_data"))(
    per_input(4, 0, "an exponential, an add, a multiply and a subtraction")
)


@flops(*aten("log_softmax _log_softmax"))
def log_softmax(op: OpFacts) -> int:
    """5 · N(input 0) + rows: shift (2), exponential, sum, subtract (3); a logarithm per row."""
    shape = op.input(0)
    axis = op.attr("dim")
    if not isinstance(axis, int):
        raise UnknownShape
    return 5 * prod(shape) + prod(shape) // max(dim(shape or (1,), axis), 1)


@flops(*aten("_weight_norm _weight_norm_interface"))
def weight_norm(op: OpFacts) -> int:
    """3 · N(input 0) + 2 · N(input 1): the norm of each row (2), its factor, and the product."""
    return 3 * prod(op.input(0)) + 2 * prod(op.input(1))


@flops(*aten("_weight_norm_interface_backward _weight_norm_differentiable_backward"))
def weight_norm_gradient(op: OpFacts) -> int:
    """5 · N(input 1) + 4 · N(input 2): a dot product for each row, and the gradient of the rows."""
    return 5 * prod(op.input(1)) + 4 * prod(op.input(2))


def _is_training(op: OpFacts, name: str) -> bool:
    if op.kind in _ALWAYS_TRAINING or op.kind in _NEVER_TRAINING:
        return op.kind in _ALWAYS_TRAINING
    is_training = op.attr(name)
    if is_training is None:
        raise UnknownShape
    return bool(is_training)


def _channels(op: OpFacts, position: int) -> int:
    return dim(op.input(position), 1)


def _groups(op: OpFacts, name: str) -> int:
    groups = op.number(name, default=0)
    if groups < 1:
        raise UnknownShape
    return groups


def _rows(op: OpFacts, shape: Shape) -> int:
    """The number of rows that are normalised; the last dims of `shape` are one row."""
    row = op.sizes("normalized_shape")
    return prod(shape[: len(shape) - len(row)])
