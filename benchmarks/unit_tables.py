"""The ops of each kind of layer: forward, backward, and the updates of its weights.

In names and inputs `{s}` is the scope of the layer, `{d}` the scope of its gradients, `{x}` its
input and `{g}` the incoming gradient. `towers.Unit` defines the names of shapes and work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Row(NamedTuple):
    """One op of a layer."""

    name: str
    kind: str
    inputs: str = ""  # separated by spaces
    shape: str = "image"
    work: str = ""  # its float operations in the op log
    home: str = ""  # the op it is placed with
    is_trainable: bool = False


class Weight(NamedTuple):
    """A trainable variable: its name, its shape, and the op that computes its gradient."""

    name: str
    shape: str
    gradient: str

    @property
    def rows(self) -> tuple[Row, Row]:
        """The variable and the op that reads it."""
        own = Row(self.name, "VariableV2", "", self.shape, home=self.name, is_trainable=True)
        read = Row(f"{self.name}/read", "Identity", self.name, self.shape, home=self.name)
        return own, read

    @property
    def update_rows(self) -> tuple[Row, Row]:
        """The variable's momentum, and the op that updates both."""
        slot = f"{self.name}/Momentum"
        inputs = f"{self.name} {slot} train/learning_rate {self.gradient} train/momentum"
        update = f"train/update_{self.name}/ApplyMomentum"
        return (
            Row(slot, "VariableV2", "", self.shape, home=self.name),
            Row(update, "ApplyMomentum", inputs, self.shape, home=self.name),
        )


@dataclass(frozen=True)
class UnitKind:
    """One kind of layer, with the ops that produce its output and its input's gradient."""

    name: str
    weights: tuple[Weight, ...]
    body: tuple[Row, ...]
    backward: tuple[Row, ...]
    output: str
    gradient: str

    @cached_property
    def forward(self) -> tuple[Row, ...]:
        return (*(row for weight in self.weights for row in weight.rows), *self.body)

    @cached_property
    def updates(self) -> tuple[Row, ...]:
        return tuple(row for weight in self.weights for row in weight.update_rows)

    @property
    def size(self) -> int:
        return len(self.forward) + len(self.backward) + len(self.updates)


def _pair_tuple(scope: str, first: str, second: str, shapes: tuple[str, str]) -> tuple[Row, ...]:
    """Two gradients that are passed on only when both are computed."""
    group = f"{scope}/tuple/group_deps"
    one, other = f"{scope}/tuple/control_dependency", f"{scope}/tuple/control_dependency_1"
    return (
        Row(group, "NoOp", f"^{first} ^{second}", "nothing"),
        Row(one, "Identity", f"{first} ^{group}", shapes[0]),
        Row(other, "Identity", f"{second} ^{group}", shapes[1]),
    )


_CONV_GRADIENT = "{d}/Conv2D_grad"

_NORMALISATION = (
    Row("{s}/bn/mean/reduction_indices", "Const", "", "axes"),
    Row("{s}/bn/mean", "Mean", "{s}/Conv2D {s}/bn/mean/reduction_indices", "channel"),
    Row("{s}/bn/SquaredDifference", "SquaredDifference", "{s}/Conv2D {s}/bn/mean"),
    Row("{s}/bn/variance/reduction_indices", "Const", "", "axes"),
    Row(
        "{s}/bn/variance",
        "Mean",
        "{s}/bn/SquaredDifference {s}/bn/variance/reduction_indices",
        "channel",
    ),
    Row("{s}/bn/add/y", "Const", "", "scalar"),
    Row("{s}/bn/add", "AddV2", "{s}/bn/variance {s}/bn/add/y", "channel", "channel"),
    Row("{s}/bn/Rsqrt", "Rsqrt", "{s}/bn/add", "channel", "channel"),
    Row("{s}/bn/mul", "Mul", "{s}/bn/Rsqrt {s}/bn/gamma/read", "channel", "channel"),
    Row("{s}/bn/mul_1", "Mul", "{s}/Conv2D {s}/bn/mul", "image", "image"),
    Row("{s}/bn/mul_2", "Mul", "{s}/bn/mean {s}/bn/mul", "channel", "channel"),
    Row("{s}/bn/sub", "Sub", "{s}/bn/beta/read {s}/bn/mul_2", "channel", "channel"),
    Row("{s}/bn/add_1", "AddV2", "{s}/bn/mul_1 {s}/bn/sub", "image", "image"),
)

_NORMALISATION_BACKWARD = (
    Row("{d}/bn/add_1_grad/reduction_indices", "Const", "", "axes"),
    Row(
        "{d}/bn/add_1_grad/Sum",
        "Sum",
        "{d}/Relu_grad/ReluGrad {d}/bn/add_1_grad/reduction_indices",
        "channel",
    ),
    Row("{d}/bn/mul_1_grad/Mul", "Mul", "{d}/Relu_grad/ReluGrad {s}/bn/mul", "image", "image"),
    Row("{d}/bn/mul_1_grad/Mul_1", "Mul", "{s}/Conv2D {d}/Relu_grad/ReluGrad", "image", "image"),
    Row("{d}/bn/mul_1_grad/reduction_indices", "Const", "", "axes"),
    Row(
        "{d}/bn/mul_1_grad/Sum",
        "Sum",
        "{d}/bn/mul_1_grad/Mul_1 {d}/bn/mul_1_grad/reduction_indices",
        "channel",
    ),
    Row("{d}/bn/sub_grad/Neg", "Neg", "{d}/bn/add_1_grad/Sum", "channel", "channel"),
    Row("{d}/bn/mul_2_grad/Mul", "Mul", "{d}/bn/sub_grad/Neg {s}/bn/mul", "channel", "channel"),
    Row("{d}/bn/mul_2_grad/Mul_1", "Mul", "{s}/bn/mean {d}/bn/sub_grad/Neg", "channel", "channel"),
    Row("{d}/bn/AddN", "AddN", "{d}/bn/mul_1_grad/Sum {d}/bn/mul_2_grad/Mul_1", "channel"),
    Row("{d}/bn/mul_grad/Mul", "Mul", "{d}/bn/AddN {s}/bn/gamma/read", "channel", "channel"),
    Row("{d}/bn/mul_grad/Mul_1", "Mul", "{s}/bn/Rsqrt {d}/bn/AddN", "channel", "channel"),
    Row("{d}/bn/Rsqrt_grad/RsqrtGrad", "RsqrtGrad", "{s}/bn/Rsqrt {d}/bn/mul_grad/Mul", "channel"),
    Row("{d}/bn/variance_grad/multiples", "Const", "", "sizes"),
    Row(
        "{d}/bn/variance_grad/Tile",
        "Tile",
        "{d}/bn/Rsqrt_grad/RsqrtGrad {d}/bn/variance_grad/multiples",
    ),
    Row("{d}/bn/variance_grad/Const", "Const", "", "scalar"),
    Row(
        "{d}/bn/variance_grad/truediv",
        "RealDiv",
        "{d}/bn/variance_grad/Tile {d}/bn/variance_grad/Const",
    ),
    Row("{d}/bn/SquaredDifference_grad/sub", "Sub", "{s}/Conv2D {s}/bn/mean", "image", "image"),
    Row(
        "{d}/bn/SquaredDifference_grad/mul",
        "Mul",
        "{d}/bn/variance_grad/truediv {d}/bn/SquaredDifference_grad/sub",
        "image",
        "image",
    ),
    Row("{d}/bn/mean_grad/multiples", "Const", "", "sizes"),
    Row("{d}/bn/mean_grad/Tile", "Tile", "{d}/bn/mul_2_grad/Mul {d}/bn/mean_grad/multiples"),
    Row("{d}/bn/mean_grad/Const", "Const", "", "scalar"),
    Row("{d}/bn/mean_grad/truediv", "RealDiv", "{d}/bn/mean_grad/Tile {d}/bn/mean_grad/Const"),
    Row(
        "{d}/AddN",
        "AddN",
        "{d}/bn/mul_1_grad/Mul {d}/bn/SquaredDifference_grad/mul {d}/bn/mean_grad/truediv",
    ),
)

_CONV = UnitKind(
    name="conv",
    weights=(
        Weight("{s}/weights", "filter", f"{_CONV_GRADIENT}/tuple/control_dependency_1"),
        Weight("{s}/bn/gamma", "channel", "{d}/bn/mul_grad/Mul_1"),
        Weight("{s}/bn/beta", "channel", "{d}/bn/add_1_grad/Sum"),
    ),
    body=(
        Row("{s}/Conv2D", "Conv2D", "{x} {s}/weights/read", "image", "convolution"),
        *_NORMALISATION,
        Row("{s}/Relu", "Relu", "{s}/bn/add_1", "image", "image"),
        Row("{s}/add", "AddV2", "{x} {s}/Relu", "image", "image"),
    ),
    backward=(
        Row("{d}/Relu_grad/ReluGrad", "ReluGrad", "{g} {s}/Relu"),
        *_NORMALISATION_BACKWARD,
        Row(f"{_CONV_GRADIENT}/ShapeN", "ShapeN", "{x} {s}/weights/read", "two sizes"),
        Row(
            f"{_CONV_GRADIENT}/Conv2DBackpropInput",
            "Conv2DBackpropInput",
            f"{_CONV_GRADIENT}/ShapeN {{s}}/weights/read {{d}}/AddN",
            "image",
            "convolution",
        ),
        Row(
            f"{_CONV_GRADIENT}/Conv2DBackpropFilter",
            "Conv2DBackpropFilter",
            f"{{x}} {_CONV_GRADIENT}/ShapeN:1 {{d}}/AddN",
            "filter",
            "convolution",
        ),
        *_pair_tuple(
            _CONV_GRADIENT,
            f"{_CONV_GRADIENT}/Conv2DBackpropInput",
            f"{_CONV_GRADIENT}/Conv2DBackpropFilter",
            ("image", "filter"),
        ),
        Row("{d}/AddN_1", "AddN", f"{{g}} {_CONV_GRADIENT}/tuple/control_dependency"),
    ),
    output="{s}/add",
    gradient="{d}/AddN_1",
)

_DENSE = UnitKind(
    name="dense",
    weights=(
        Weight("{s}/weights", "matrix", "{d}/MatMul_grad/tuple/control_dependency_1"),
        Weight("{s}/biases", "channel", "{d}/BiasAdd_grad/tuple/control_dependency_1"),
    ),
    body=(
        Row("{s}/MatMul", "MatMul", "{x} {s}/weights/read", "flat", "product"),
        Row("{s}/BiasAdd", "BiasAdd", "{s}/MatMul {s}/biases/read", "flat", "flat"),
        Row("{s}/Relu", "Relu", "{s}/BiasAdd", "flat", "flat"),
    ),
    backward=(
        Row("{d}/Relu_grad/ReluGrad", "ReluGrad", "{g} {s}/Relu", "flat"),
        Row("{d}/BiasAdd_grad/BiasAddGrad", "BiasAddGrad", "{d}/Relu_grad/ReluGrad", "channel"),
        *_pair_tuple(
            "{d}/BiasAdd_grad",
            "{d}/Relu_grad/ReluGrad",
            "{d}/BiasAdd_grad/BiasAddGrad",
            ("flat", "channel"),
        ),
        Row(
            "{d}/MatMul_grad/MatMul",
            "MatMul",
            "{d}/BiasAdd_grad/tuple/control_dependency {s}/weights/read",
            "flat",
            "product",
        ),
        Row(
            "{d}/MatMul_grad/MatMul_1",
            "MatMul",
            "{x} {d}/BiasAdd_grad/tuple/control_dependency",
            "matrix",
            "product",
        ),
        *_pair_tuple(
            "{d}/MatMul_grad",
            "{d}/MatMul_grad/MatMul",
            "{d}/MatMul_grad/MatMul_1",
            ("flat", "matrix"),
        ),
    ),
    output="{s}/Relu",
    gradient="{d}/MatMul_grad/tuple/control_dependency",
)

_STEM = UnitKind(
    name="stem",
    weights=(Weight("{s}/weights", "stem filter", f"{_CONV_GRADIENT}/Conv2DBackpropFilter"),),
    body=(Row("{s}/Conv2D", "Conv2D", "{x} {s}/weights/read", "image", "convolution"),),
    backward=(
        Row(f"{_CONV_GRADIENT}/ShapeN", "ShapeN", "{x} {s}/weights/read", "two sizes"),
        Row(
            f"{_CONV_GRADIENT}/Conv2DBackpropFilter",
            "Conv2DBackpropFilter",
            f"{{x}} {_CONV_GRADIENT}/ShapeN:1 {{g}}",
            "stem filter",
            "convolution",
        ),
    ),
    output="{s}/Conv2D",
    gradient="",
)

_POOL = UnitKind(
    name="pool",
    weights=(),
    body=(
        Row("{s}/reduction_indices", "Const", "", "two axes"),
        Row("{s}/Mean", "Mean", "{x} {s}/reduction_indices", "flat"),
    ),
    backward=(
        Row("{d}/Mean_grad/shape", "Const", "", "sizes"),
        Row("{d}/Mean_grad/Reshape", "Reshape", "{g} {d}/Mean_grad/shape", "flat"),
        Row("{d}/Mean_grad/multiples", "Const", "", "sizes"),
        Row("{d}/Mean_grad/Tile", "Tile", "{d}/Mean_grad/Reshape {d}/Mean_grad/multiples"),
    ),
    output="{s}/Mean",
    gradient="{d}/Mean_grad/Tile",
)

_LOSS = UnitKind(
    name="loss",
    weights=(),
    body=(
        Row(
            "{s}/xentropy",
            "SparseSoftmaxCrossEntropyWithLogits",
            "{x} input/queue_Dequeue:1",
            "losses",
            "flat",
        ),
        Row("{s}/Const", "Const", "", "scalar"),
        Row("{s}/mean", "Mean", "{s}/xentropy {s}/Const", "scalar"),
    ),
    backward=(Row("{d}/xentropy_grad/mul", "Mul", "{g} {s}/xentropy:1", "flat", "flat"),),
    output="{s}/mean",
    gradient="{d}/xentropy_grad/mul",
)

KINDS: dict[str, UnitKind] = {kind.name: kind for kind in (_STEM, _CONV, _POOL, _DENSE, _LOSS)}
