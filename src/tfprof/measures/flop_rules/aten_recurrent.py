"""Recurrent layers and cells of PyTorch.

The operations of a cell are those of the recurrent kinds of TensorFlow: products, an add for each
bias, and for each element of the state those of an LSTM (18), a GRU (14) or a plain cell (1).
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tfprof.measures.flop_rules.aten import aten, first_tensors, maybe_input
from tfprof.measures.flop_rules.recurrent import MODES, Mode
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    Shape,
    UnknownShape,
    dim,
    flops,
    multiply_adds,
)

# The modes of cuDNN and oneDNN, by their numbers.
_MODES = {0: "rnn_relu", 1: "rnn_tanh", 2: "lstm", 3: "gru"}


class _Pass(NamedTuple):
    """The products per weight of a pass, and whether it is the forward pass."""

    products: int
    is_forward: bool


_FORWARD, _BACKWARD = _Pass(1, is_forward=True), _Pass(2, is_forward=False)


@flops(*aten("lstm gru rnn_tanh rnn_relu"))
def layers(op: OpFacts) -> FlopCount:
    """2 · rows · N(weights) + rows · N(biases) + rows · H · (18, 14 or 1) for each cell.

    A row is a time step of one sequence. Weights are those of all layers and directions.
    """
    mode = op.kind.removeprefix("aten::")
    states = 2 if mode == "lstm" else 1
    # A packed sequence has the number of sequences of each step as its second argument.
    second = op.input(1)
    is_packed = len(second) == 1 and len(op.input(2)) > 1
    weights = first_tensors(op, 1 + states + is_packed)
    return _cells(MODES[mode], prod(op.input(0)[:-1]), weights, _FORWARD)


@flops(*aten("_cudnn_rnn miopen_rnn"))
def fused_layers(op: OpFacts) -> FlopCount:
    """The same as `aten::lstm`, `aten::gru` or `aten::rnn_tanh`, by `mode`."""
    return _cells(_mode(op), prod(op.input(0)[:-1]), first_tensors(op, 1), _FORWARD)


@flops(*aten("_cudnn_rnn_backward miopen_rnn_backward"))
def fused_layers_gradient(op: OpFacts) -> FlopCount:
    """Twice the products of the layers, and the gradients of biases and of states.

    The gradients of the state of an LSTM are 22 operations, of a GRU 18, of a plain cell 3 or 1.
    """
    return _cells(_mode(op), prod(op.input(0)[:-1]), first_tensors(op, 1), _BACKWARD)


@flops(*aten("mkldnn_rnn_layer"))
def one_layer(op: OpFacts) -> FlopCount:
    """The same as `aten::lstm` of one layer and direction."""
    weights = [op.input(place) for place in range(1, 5)]
    return _cells(_mode(op), prod(op.input(0)[:-1]), weights, _FORWARD)


@flops(*aten("mkldnn_rnn_layer_backward"))
def one_layer_gradient(op: OpFacts) -> FlopCount:
    """The same as `aten::_cudnn_rnn_backward` of one layer and direction."""
    weights = [op.input(place) for place in range(1, 5)]
    return _cells(_mode(op), prod(op.input(0)[:-1]), weights, _BACKWARD)


@flops(*aten("lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"))
def cell(op: OpFacts) -> FlopCount:
    """2 · B · N(weights) + B · N(biases) + B · H · (18, 14 or 1): one step of a layer."""
    mode = op.kind.removeprefix("aten::").removesuffix("_cell")
    weights = first_tensors(op, 3 if mode == "lstm" else 2)
    return _cells(MODES[mode], prod(op.input(0)[:-1]), weights, _FORWARD)


@flops(*aten("_thnn_fused_lstm_cell"))
def lstm_gates(op: OpFacts) -> int:
    """22 · N(input 2), + 8 · N(input 2) with biases: a cell without its products.

    Adding the products of input and state (4), then the operations of a cell (18).
    """
    biases = 8 if maybe_input(op, 3) is not None else 0
    return (22 + biases) * prod(op.input(2))


@flops(*aten("_thnn_fused_gru_cell"))
def gru_gates(op: OpFacts) -> int:
    """17 · N(input 2), + 6 · N(input 2) with biases: a cell without its products."""
    biases = 6 if maybe_input(op, 3) is not None else 0
    return (17 + biases) * prod(op.input(2))


@flops(*aten("_thnn_fused_lstm_cell_backward _thnn_fused_lstm_cell_backward_impl"))
def lstm_gates_gradient(op: OpFacts) -> int:
    """22 · N(input 2): the gradients of gates and state, without products."""
    return 22 * prod(op.input(2))


@flops(*aten("_thnn_fused_gru_cell_backward"))
def gru_gates_gradient(op: OpFacts) -> int:
    """18 · N(input 0): the gradients of gates and state, without products."""
    return 18 * prod(op.input(0))


def _mode(op: OpFacts) -> Mode:
    name = _MODES.get(op.number("mode", default=-1))
    if name is None:
        raise UnknownShape
    return MODES[name]


def _cells(mode: Mode, rows: int, weights: list[Shape], which: _Pass) -> FlopCount:
    """The cells with these weights and biases; those of input and state have a row per gate."""
    matrices = [shape for shape in weights if len(shape) == 2]
    biases = [shape for shape in weights if len(shape) == 1]
    if not matrices:
        raise UnknownShape
    gates = dim(matrices[0], 0)
    cells = sum(dim(shape, 0) == gates for shape in matrices) // 2
    macs = which.products * sum(map(prod, matrices))
    each = mode.forward if which.is_forward else mode.backward
    others = sum(map(prod, biases)) + cells * (gates // mode.gates) * each
    return (multiply_adds(macs) + others) * rows
