"""Recurrent cells, and whole recurrent layers in one op.

B is the batch size, I the input size, H the state size, and T the number of time steps that the
input has room for. A sigmoid is four operations, a hyperbolic tangent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    UnknownShape,
    dim,
    flops,
    multiply_adds,
)

_LSTM_GATES = 4


@flops("LSTMBlockCell")
def lstm_cell(op: OpFacts) -> FlopCount:
    """8 · B · (I + H) · H + 23 · B · H, + 2 · B · H if clipped, + 6 · B · H with peepholes.

    Input and state are multiplied by the weights; then follow biases (5), three sigmoids (12), two
    tangents (2), the new state (3) and the output (1).
    """
    return _lstm(op, first=0, own=23, clips=True)


@flops("BlockLSTM")
def lstm(op: OpFacts) -> FlopCount:
    """T times the operations of `LSTMBlockCell`."""
    return _lstm(op, first=1, own=23, clips=True) * dim(op.input(1), 0)


@flops("BlockLSTMV2")
def lstm_v2(op: OpFacts) -> FlopCount:
    """T times the operations of `LSTMBlockCell` without the forget bias: 22 · B · H, not 23."""
    return _lstm(op, first=1, own=22, clips=False) * dim(op.input(1), 0)


@flops("LSTMBlockCellGrad")
def lstm_cell_gradient(op: OpFacts) -> int:
    """22 · B · H, + 12 · B · H with peepholes: the gradients of gates and state, no product."""
    return (22 + 12 * op.switch("use_peephole")) * prod(op.input(1))


@flops("BlockLSTMGrad", "BlockLSTMGradV2")
def lstm_gradient(op: OpFacts) -> FlopCount:
    """T · (16 · B · (I + H) · H + 28 · B · H), + 12 · T · B · H with peepholes.

    Two products give the gradients of the inputs and of the weights; then follow the gradients of
    gates and state (22) and of biases (4), and the adds of gradients from later steps (2).
    """
    cell = 28 + 12 * op.switch("use_peephole")
    each = _lstm_product(op, first=1) * 2 + cell * prod(op.input(2))
    return each * dim(op.input(1), 0)


def _lstm(op: OpFacts, *, first: int, own: int, clips: bool) -> FlopCount:
    """One step of a cell whose input, states and weights start at input `first`."""
    clip = op.attr("cell_clip")
    is_clipped = clips if clip is None else isinstance(clip, int | float) and clip > 0
    each = own + 2 * is_clipped + 6 * op.switch("use_peephole")
    return _lstm_product(op, first=first) + each * prod(op.input(first + 1))


def _lstm_product(op: OpFacts, *, first: int) -> FlopCount:
    inner, outer = _matrix_dims(op.input(first + 3))
    return multiply_adds(dim(op.input(first), -2) * inner * outer)


def _matrix_dims(weights: tuple[int, ...]) -> tuple[int, int]:
    return dim(weights, 0), dim(weights, 1)


@flops("GRUBlockCell")
def gru_cell(op: OpFacts) -> FlopCount:
    """6 · B · (I + H) · H + 17 · B · H: products, then biases (3) and two sigmoids (8).

    The rest are the reset state (1), a tangent (1) and the new state (4).
    """
    return _gru_products(op) + 17 * prod(op.input(1))


@flops("GRUBlockCellGrad")
def gru_cell_gradient(op: OpFacts) -> FlopCount:
    """6 · B · (I + H) · H + 18 · B · H + B · I: the products that propagate gradients.

    The rest are the gradients of gates (14) and state (4), and adding two gradients of the input.
    """
    return _gru_products(op) + 18 * prod(op.input(1)) + prod(op.input(0))


def _gru_products(op: OpFacts) -> FlopCount:
    rows = dim(op.input(0), 0)
    weights = prod(_matrix_dims(op.input(2))) + prod(_matrix_dims(op.input(3)))
    return multiply_adds(rows * weights)


@dataclass(frozen=True, slots=True)
class Mode:
    """A type of layer: its gates, and its operations per element of the state."""

    gates: int
    forward: int
    backward: int


MODES = {
    "lstm": Mode(_LSTM_GATES, forward=18, backward=22),
    "gru": Mode(3, forward=14, backward=18),
    "rnn_tanh": Mode(1, forward=1, backward=3),
    "rnn_relu": Mode(1, forward=1, backward=1),
}
_DIRECTIONS = {"unidirectional": 1, "bidirectional": 2}


@flops("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
def cudnn_layers(op: OpFacts) -> FlopCount:
    """T · B · H · (2 · gates · (I + H + 1) + 18, 14 or 1) for each layer and direction.

    Products, two biases per gate, then the operations of an `lstm` (18), a `gru` (14) or a plain
    cell (1) on each element of its state. Later layers take the states of all directions as input.
    """
    return _cudnn(op, products=1, is_forward=True)


@flops("CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3")
def cudnn_gradient(op: OpFacts) -> FlopCount:
    """T · B · H · (2 · gates · (2 · (I + H) + 1) + 22, 18, 3 or 1) for each layer and direction.

    Two products give the gradients of the inputs and of the weights; then follow the adds of two
    biases per gate and the gradients of an `lstm` (22), a `gru` (18), a `tanh` cell (3) or a
    `relu` cell (1).
    """
    return _cudnn(op, products=2, is_forward=False)


def _cudnn(op: OpFacts, *, products: int, is_forward: bool) -> FlopCount:
    mode = MODES.get(op.word("rnn_mode", default="lstm"))
    directions = _DIRECTIONS.get(op.word("direction", default="unidirectional"))
    # With a projection, the size of the LSTM's states cannot be derived from the inputs.
    if mode is None or directions is None or op.number("num_proj", default=0):
        raise UnknownShape
    image, state = op.input(0), op.input(1)
    size, units = dim(image, 2), dim(state, 2)
    cells = dim(state, 0 if op.switch("time_major", default=True) else 1)
    rows = image[0] * image[1]
    # The first layer of each direction takes the input, the others the output of the layer below.
    inner = (
        directions * _first_layer_dim(op, size, units) + (cells - directions) * directions * units
    )
    macs = mode.gates * products * (inner + cells * units)
    others = 2 * mode.gates * cells + cells * (mode.forward if is_forward else mode.backward)
    return (multiply_adds(macs) + others) * (rows * units)


def _first_layer_dim(op: OpFacts, size: int, units: int) -> int:
    """The input dim of the first layer's product; 0 if the layer skips the product."""
    match op.word("input_mode", default="linear_input"):
        case "linear_input":
            return size
        case "skip_input":
            return 0
        case "auto_select":
            return 0 if size == units else size
        case _:
            raise UnknownShape
