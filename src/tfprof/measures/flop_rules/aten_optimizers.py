"""Updates of parameters of PyTorch, for lists of tensors; a list is as many inputs.

Work done once per op, such as computing the step size of Adam, is not counted.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tfprof.measures.flop_rules.aten import aten, first_tensors
from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape, flops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.measures.flop_rules.registry import Rule

_ADAM, _ADAM_MAXIMUM = 12, 13


@flops(*aten("_fused_adam(_) _fused_adamw(_)"))
def adam(op: OpFacts) -> int:
    """12 · N(parameters), 13 with `amsgrad`, and 2 with `weight_decay`: averages (7), step (5)."""
    has_maximum = op.switch("amsgrad")
    parameters = _repeated(first_tensors(op), 5 if has_maximum else 4)
    each = _ADAM_MAXIMUM if has_maximum else _ADAM
    return (each + 2 * op.switch("weight_decay")) * _elements(parameters)


@flops(*aten("_fused_sgd(_)"))
def gradient_descent(op: OpFacts) -> int:
    """2 · N(parameters), 4 with `momentum`, 7 with `nesterov`, and 2 with `weight_decay`."""
    has_momentum = op.switch("momentum")
    tensors = first_tensors(op)
    parameters = tensors[: len(tensors) // (3 if has_momentum else 2)]
    each = (7 if op.switch("nesterov") else 4) if has_momentum else 2
    return (each + 2 * op.switch("weight_decay")) * _elements(parameters)


@flops(*aten("_fused_adagrad(_)"))
def adagrad(op: OpFacts) -> int:
    """7 · N(parameters), and 2 with `weight_decay`: the sum of squares (2), the rate, the step."""
    parameters = _repeated(first_tensors(op), 3)
    return (7 + 2 * op.switch("weight_decay")) * _elements(parameters)


@flops(*aten("_amp_foreach_non_finite_check_and_unscale_"))
def unscale(op: OpFacts) -> int:
    """2 · N(gradients): a multiply and a comparison for each element."""
    return 2 * _elements(first_tensors(op)[:-2])


def _repeated(tensors: Sequence[Shape], times: int) -> Sequence[Shape]:
    """The longest list that `tensors` starts with `times` times."""
    for count in range(len(tensors) // times, 0, -1):
        lists = [tensors[count * place : count * (place + 1)] for place in range(times)]
        if all(one == lists[0] for one in lists):
            return lists[0]
    raise UnknownShape


def _elements(tensors: Sequence[Shape]) -> int:
    return sum(map(prod, tensors))


def _of_one_list(cost: int, sentence: str) -> Rule:
    def rule(op: OpFacts) -> int:
        return cost * _elements(first_tensors(op))

    rule.__doc__ = f"{'' if cost == 1 else f'{cost} · '}N(tensors): {sentence} for each element."
    return rule


def _of_lists(cost: int, lists: int, sentence: str, scalar: str = "") -> Rule:
    """A rule for `lists` lists of tensors, one less if the attribute `scalar` has a value."""

    def rule(op: OpFacts) -> int:
        count = lists - (bool(scalar) and op.attr(scalar) is not None)
        return cost * _elements(_first_list(first_tensors(op), count))

    rule.__doc__ = f"{'' if cost == 1 else f'{cost} · '}N(tensors): {sentence} for each element."
    return rule


def _first_list(tensors: Sequence[Shape], lists: int) -> Sequence[Shape]:
    """The first of `lists` lists; the last may be a single number for all tensors."""
    count, rest = divmod(len(tensors), lists)
    if not rest and all(
        tensors[:count] == tensors[count * place : count * (place + 1)] for place in range(lists)
    ):
        return tensors[:count]
    if lists > 1 and tensors[-1] == ():
        return _first_list(tensors[:-1], lists - 1)
    raise UnknownShape


_ALONE = """
    _foreach_abs(_) _foreach_neg(_) _foreach_sqrt(_) _foreach_exp(_) _foreach_expm1(_)
    _foreach_log(_) _foreach_log1p(_) _foreach_log2(_) _foreach_log10(_) _foreach_sin(_)
    _foreach_cos(_) _foreach_tan(_) _foreach_tanh(_) _foreach_erf(_) _foreach_reciprocal(_)
    _foreach_floor(_) _foreach_ceil(_) _foreach_round(_) _foreach_trunc(_) _foreach_frac(_)
    _foreach_sign(_) _foreach_max
"""
_PAIRS = """
    _foreach_add(_) _foreach_sub(_) _foreach_mul(_) _foreach_div(_)
    _foreach_maximum(_) _foreach_minimum(_) _foreach_clamp_min(_) _foreach_clamp_max(_)
"""

flops(*aten(_ALONE))(_of_one_list(1, "one operation"))
flops(*aten("_foreach_rsqrt(_)"))(_of_one_list(2, "a root and a division"))
flops(*aten("_foreach_sigmoid(_)"))(_of_one_list(4, "a sigmoid"))
flops(*aten("_foreach_norm _foreach_powsum"))(_of_one_list(2, "a square and an add"))
flops(*aten(_PAIRS))(_of_lists(1, 2, "one operation or comparison", "scalar"))
flops(*aten("_foreach_pow(_)"))(_of_lists(1, 2, "a power", "exponent"))
flops(*aten("_foreach_lerp(_)"))(_of_lists(3, 3, "a subtraction, a multiply and an add", "weight"))
flops(*aten("_foreach_addcmul(_)"))(_of_lists(3, 3, "two multiplies and an add"))
flops(*aten("_foreach_addcdiv(_)"))(_of_lists(3, 3, "a division, a multiply and an add"))
