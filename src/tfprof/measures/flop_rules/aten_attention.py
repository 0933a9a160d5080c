"""Attention of PyTorch: its products, as `torch.utils.flop_counter` counts them.

Softmax, masks and scales are not counted, and causal attention counts in full. L is the number of
queries, S the number of keys, E the width of both and V that of values.
"""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten, maybe_input
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    Shape,
    UnknownShape,
    dim,
    flops,
    multiply_adds,
)


@flops(*aten("scaled_dot_product_attention _scaled_dot_product_flash_attention"))
@flops(*aten("_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention"))
@flops(*aten("_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_attention_math"))
@flops(*aten("_scaled_dot_product_attention_math_for_mps"))
@flops(*aten("_scaled_dot_product_fused_attention_overrideable"))
def attention(op: OpFacts) -> FlopCount:
    """2 · batch · heads · L · S · (E + V): the scores of all keys, and the sums of values."""
    return _attention(op.input(0), op.input(1), op.input(2), (1, 1))


@flops(*aten("_scaled_dot_product_flash_attention_backward"))
@flops(*aten("_scaled_dot_product_efficient_attention_backward"))
@flops(*aten("_scaled_dot_product_cudnn_attention_backward"))
@flops(*aten("_scaled_dot_product_flash_attention_for_cpu_backward"))
@flops(*aten("_scaled_dot_product_fused_attention_overrideable_backward"))
def attention_gradient(op: OpFacts) -> FlopCount:
    """2 · batch · heads · L · S · (3 · E + 2 · V): the scores again, and four gradients."""
    return _attention(op.input(1), op.input(2), op.input(3), (3, 2))


@flops(*aten("_flash_attention_forward _efficient_attention_forward _cudnn_attention_forward"))
def attention_kernel(op: OpFacts) -> FlopCount:
    """2 · batch · heads · L · S · (E + V): inputs are batch, length, heads, width."""
    _require_equal_lengths(op, 4 if op.kind == "aten::_efficient_attention_forward" else 3)
    query, key, value = (_by_heads(op.input(place)) for place in (0, 1, 2))
    return _attention(query, key, value, (1, 1))


@flops(*aten("_flash_attention_backward _efficient_attention_backward _cudnn_attention_backward"))
def attention_kernel_gradient(op: OpFacts) -> FlopCount:
    """2 · batch · heads · L · S · (3 · E + 2 · V): inputs are batch, length, heads, width."""
    _require_equal_lengths(op, 6)
    query, key, value = (_by_heads(op.input(place)) for place in (1, 2, 3))
    return _attention(query, key, value, (3, 2))


@flops(*aten("_native_multi_head_attention"))
def multi_head_attention(op: OpFacts) -> FlopCount:
    """2 · rows · (N(input 5) + N(input 7)) + 4 · batch · L² · width: projections and attention."""
    return multiply_adds(_projected(op.input(0), op.input(5), op.input(7)))


@flops(*aten("_transformer_encoder_layer_fwd"))
def encoder_layer(op: OpFacts) -> FlopCount:
    """The products of a layer: projections, attention and two linear layers.

    2 · rows · (N(input 3) + N(input 5) + N(input 14) + N(input 16)) + 4 · batch · L² · width, and
    18 · N(input 0) + 6 · rows for two normalisations and two sums, and 5 for each activation.
    """
    source = op.input(0)
    rows, inner, outer = prod(source[:-1]), op.input(14), op.input(16)
    macs = _projected(source, op.input(3), op.input(5)) + rows * (prod(inner) + prod(outer))
    return multiply_adds(macs) + 18 * prod(source) + 6 * rows + 5 * rows * dim(inner, 0)


def _projected(source: Shape, *weights: Shape) -> int:
    """The multiply-accumulates of projections, and of attention between all rows of a batch."""
    rows, length, width = prod(source[:-1]), dim(source, -2), dim(source, -1)
    return rows * sum(map(prod, weights)) + 2 * rows * length * width


def _attention(query: Shape, key: Shape, value: Shape, products: tuple[int, int]) -> FlopCount:
    if min(len(query), len(key), len(value)) < 2:
        raise UnknownShape
    width = products[0] * query[-1] + products[1] * value[-1]
    return multiply_adds(prod(query[:-1]) * key[-2] * width)


def _by_heads(shape: Shape) -> Shape:
    if len(shape) != 4:
        raise UnknownShape
    return (shape[0], shape[2], shape[1], shape[3])


def _require_equal_lengths(op: OpFacts, position: int) -> None:
    """Raise `UnknownShape` if the input at `position` has the lengths of sequences."""
    if maybe_input(op, position) is not None:
        raise UnknownShape
