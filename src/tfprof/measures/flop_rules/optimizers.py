"""Optimizer updates of variables: a fixed number of operations per element of the gradient.

A sparse gradient counts only the rows it contains. Work done once per op, such as computing the
step size of Adam, is not counted.
"""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, flops, per_element

_DENSE = "Apply{} ResourceApply{}"
_BOTH = "Apply{} ResourceApply{} SparseApply{} ResourceSparseApply{}"

# The optimizer, the patterns of its kinds, the input that is the gradient, the number of
# operations, and what they are.
_OPTIMIZERS = (
    ("GradientDescent", _DENSE, 2, 2, "a multiply and a subtraction"),
    ("ProximalGradientDescent", _BOTH, 4, 8, "the step (2), then shrinking (4) and scaling (2)"),
    ("AdagradV2", _BOTH, 4, 7, "the sum of squares (2), a root and an add, then the step (3)"),
    ("ProximalAdagrad", _BOTH, 5, 15, "the sum of squares (2), the rate (2), bounds (3), step (8)"),
    ("Adadelta", _BOTH, 6, 16, "two running averages (4 each), the update (6), the step (2)"),
    ("RMSProp", _BOTH, 7, 11, "the running average (4), the momentum (6), the step (1)"),
    ("CenteredRMSProp", _BOTH, 8, 16, "two averages (7), variance (3), momentum (5), step (1)"),
    ("AdaMax", _DENSE, 8, 10, "the average (3), the maximum (3), the step (4)"),
    ("AdamWithAmsgrad", "ResourceApply{}", 10, 13, "two averages (7), the maximum (1), step (5)"),
    ("AddSign", _DENSE, 6, 11, "the running average (3), the step from the signs (8)"),
    ("PowerSign", _DENSE, 6, 11, "the running average (3), the step from the signs (8)"),
    ("Ftrl", _BOTH, 3, 17, "the sum of squares (2), the linear term (7), the new value (8)"),
    ("FtrlV2", _BOTH, 3, 19, "the same as `Ftrl`, and shrinking the gradient (2)"),
)


def _kinds(optimizer: str, forms: str) -> list[str]:
    return forms.format(*[optimizer] * len(forms.split())).split()


for _optimizer, _forms, _position, _cost, _sentence in _OPTIMIZERS:
    flops(*_kinds(_optimizer, _forms))(per_element(_cost, f"input {_position}", _sentence))


@flops(*_kinds("Adagrad", _BOTH))
def adagrad(op: OpFacts) -> int:
    """6 · N(input 3), 4 without `update_slots`: the sum of squares (2), the step (4)."""
    return (6 if op.switch("update_slots", default=True) else 4) * prod(op.input(3))


@flops(*_kinds("Momentum", _BOTH), "ResourceApplyKerasMomentum", "ResourceSparseApplyKerasMomentum")
def momentum(op: OpFacts) -> int:
    """4 · N(input 3), 7 with `use_nesterov`: the momentum and the step."""
    return (7 if op.switch("use_nesterov") else 4) * prod(op.input(3))


@flops(*_kinds("Adam", _DENSE))
def adam(op: OpFacts) -> int:
    """12 · N(input 9), 15 with `use_nesterov`: two running averages (7), the step (5)."""
    return (15 if op.switch("use_nesterov") else 12) * prod(op.input(9))
