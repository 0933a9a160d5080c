"""The call stacks of an imaginary Python program that creates the ops of `towers`."""

from __future__ import annotations

import re
from typing import NamedTuple

from towers import Call


class Frame(NamedTuple):
    """One frame of a call stack."""

    file: str
    line: int
    function: str
    function_line: int


def stack(call: Call, kind: str) -> list[Frame]:
    """The call stack, outermost first, that created an op of this kind."""
    return [*_PROGRAM, *_PHASES[call.phase](call), *_library(call, kind)]


_PROGRAM = (
    Frame("trainer/train.py", 212, "<module>", 1),
    Frame("trainer/train.py", 187, "main", 150),
)

_TENSORFLOW = "site-packages/tensorflow/python"
_LAYERS = ("program", "stem", "conv", "pool", "dense", "loss")
_CREATION = (
    Frame(f"{_TENSORFLOW}/framework/op_def_library.py", 796, "_apply_op_helper", 715),
    Frame(f"{_TENSORFLOW}/framework/ops.py", 2726, "_create_op_internal", 2652),
)


def _forward(call: Call) -> list[Frame]:
    start = 40 + 60 * _LAYERS.index(call.layer)
    return [
        Frame("trainer/train.py", 96, "build", 88),
        Frame("trainer/models/towers.py", 41, "towers", 30),
        Frame("trainer/models/towers.py", 60 + 7 * call.stage, "tower", 52),
        Frame("trainer/models/layers.py", start + call.line + 3, f"{call.layer}_unit", start),
        Frame(f"{_TENSORFLOW}/util/traceback_utils.py", 150, "error_handler", 139),
        Frame(f"{_TENSORFLOW}/util/dispatch.py", 1260, "op_dispatch_handler", 1243),
    ]


def _backward(call: Call) -> list[Frame]:
    rule = 100 * _LAYERS.index(call.layer)
    gradients = f"{_TENSORFLOW}/ops/gradients_util.py"
    return [
        Frame("trainer/train.py", 104, "build", 88),
        Frame(f"{_TENSORFLOW}/training/optimizer.py", 478, "minimize", 424),
        Frame(f"{_TENSORFLOW}/training/optimizer.py", 604, "compute_gradients", 518),
        Frame(gradients, 682, "_GradientsHelper", 488),
        Frame(gradients, 342, "_MaybeCompile", 313),
        Frame(gradients, 683, "<lambda>", 683),
        Frame(f"{_TENSORFLOW}/ops/nn_grad.py", rule + call.line + 9, f"_{call.layer}_grad", rule),
    ]


def _update(_call: Call) -> list[Frame]:
    optimizer = f"{_TENSORFLOW}/training/optimizer.py"
    return [
        Frame("trainer/train.py", 104, "build", 88),
        Frame(optimizer, 491, "minimize", 424),
        Frame(optimizer, 695, "apply_gradients", 614),
        Frame(optimizer, 150, "update_op", 140),
        Frame(f"{_TENSORFLOW}/training/momentum.py", 117, "_apply_dense", 113),
        Frame(f"{_TENSORFLOW}/util/traceback_utils.py", 150, "error_handler", 139),
    ]


def _program(call: Call) -> list[Frame]:
    return [Frame("trainer/train.py", 90 + 2 * call.line, "build", 88)]


_PHASES = {
    "forward": _forward,
    "backward": _backward,
    "update": _update,
    "program": _program,
}


def _library(call: Call, kind: str) -> list[Frame]:
    """TensorFlow's own frames, from the function named after the op kind to its creation."""
    function = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
    start = 200 + sum(map(ord, kind)) % 3000
    return [
        Frame(f"{_TENSORFLOW}/ops/gen_{call.phase}_ops.py", start + 40, function, start),
        *_CREATION,
    ]
