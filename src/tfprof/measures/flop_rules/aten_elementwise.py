"""Ops of PyTorch that compute element by element, activations and their gradients."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten, per_input, per_result, result
from tfprof.measures.flop_rules.registry import OpFacts, flops

_UNARY = """
    abs(_) absolute(_) neg(_) negative(_) sqrt(_) exp(_) exp2(_) expm1(_) log(_) log2(_) log10(_)
    log1p(_) sin(_) cos(_) tan(_) asin(_) acos(_) atan(_) arcsin(_) arccos(_) arctan(_) sinh(_)
    cosh(_) asinh(_) acosh(_) atanh(_) tanh(_) erf(_) erfc(_) erfinv(_) lgamma(_) digamma(_)
    floor(_) ceil(_) round(_) trunc(_) fix(_) frac(_) sign(_) sgn(_) reciprocal(_) square(_)
    isnan isinf isfinite isposinf isneginf signbit relu(_) deg2rad(_) rad2deg(_) sinc(_) i0(_)
    nan_to_num(_) special_erfcx special_i0e special_i1 special_i1e special_ndtri
    special_log_ndtr special_entr
"""
_BINARY = """
    add(_) sub(_) subtract(_) rsub mul(_) multiply(_) div(_) divide(_) true_divide(_)
    floor_divide(_) remainder(_) fmod(_) pow(_) float_power(_) maximum minimum fmax fmin atan2(_)
    arctan2(_) eq(_) ne(_) not_equal(_) lt(_) less(_) le(_) less_equal(_) gt(_) greater(_) ge(_)
    greater_equal(_) clamp_min(_) clamp_max(_) hypot(_) copysign(_) logaddexp logaddexp2
    nextafter(_) gcd(_) lcm(_) heaviside(_) igamma(_) igammac(_) polygamma
"""
# The kinds, the operations per element, the number of inputs that are broadcast, and what the
# operations are.
_OTHERS = (
    ("rsqrt(_)", 2, 1, "a root and a division"),
    ("xlogy(_) special_xlog1py", 2, 2, "a logarithm and a multiply"),
    ("addcmul(_)", 3, 3, "two multiplies and an add"),
    ("addcdiv(_)", 3, 3, "a division, a multiply and an add"),
    ("lerp(_)", 3, 3, "a subtraction, a multiply and an add"),
    ("clamp(_) clip(_) hardtanh(_) relu6(_)", 2, 1, "two comparisons"),
    ("isclose", 3, 2, "a subtraction, an absolute value and a comparison"),
    ("logit(_)", 3, 1, "a subtraction, a division and a logarithm"),
    ("cross linalg_cross", 3, 2, "two multiplies and a subtraction"),
    ("threshold(_)", 1, 1, "a comparison"),
    ("leaky_relu(_) prelu _prelu_kernel rrelu_with_noise", 2, 1, "a multiply and a comparison"),
    ("elu(_) celu(_)", 3, 1, "a comparison, an exponential and a subtraction"),
    ("selu(_)", 4, 1, "a comparison, an exponential, a subtraction and a multiply"),
    ("sigmoid(_) special_expit", 4, 1, "a negation, an exponential, an add and a division"),
    ("softplus", 3, 1, "an exponential, an add and a logarithm"),
    ("silu(_)", 5, 1, "a sigmoid (4) and a multiply"),
    ("mish(_)", 5, 1, "a softplus (3), a hyperbolic tangent and a multiply"),
    ("hardswish(_)", 5, 1, "an add, two comparisons, a multiply and a division"),
    ("hardsigmoid(_)", 4, 1, "an add, two comparisons and a division"),
    ("log_sigmoid log_sigmoid_forward", 4, 1, "a negation, an exponential, an add, a logarithm"),
    ("softshrink hardshrink", 2, 1, "two comparisons"),
)
_GRADIENTS = (
    ("threshold_backward", 1, "a comparison"),
    ("hardtanh_backward", 2, "two comparisons"),
    ("leaky_relu_backward rrelu_with_noise_backward", 2, "a comparison and a multiply"),
    ("elu_backward", 3, "a comparison, an add and a multiply"),
    ("sigmoid_backward", 3, "a subtraction and two multiplies"),
    ("tanh_backward", 3, "a square, a subtraction and a multiply"),
    ("softplus_backward", 4, "a multiply, an exponential, an add and a division"),
    ("silu_backward", 9, "a sigmoid (4), a subtraction, an add and three multiplies"),
    ("mish_backward", 12, "a sigmoid (4), a softplus (3), a tangent, and four more"),
    ("hardswish_backward", 4, "two comparisons, a division and a multiply"),
    ("hardsigmoid_backward", 3, "two comparisons and a multiply"),
    ("log_sigmoid_backward", 4, "an exponential, an add, a division and a multiply"),
    ("_prelu_kernel_backward", 4, "two multiplies, a comparison and an add"),
    ("logit_backward", 3, "a subtraction, a multiply and a division"),
    ("softshrink_backward hardshrink_backward", 2, "two comparisons"),
    ("native_dropout_backward", 2, "two multiplies"),
)
# Losses, with the sum or mean of their elements.
_LOSSES = (
    ("mse_loss", 3, "a subtraction, a square and an add"),
    ("l1_loss", 3, "a subtraction, an absolute value and an add"),
    ("smooth_l1_loss huber_loss", 6, "a subtraction, a comparison, and four more"),
    ("soft_margin_loss", 5, "a multiply, a negation, an exponential, a logarithm and an add"),
    ("binary_cross_entropy", 8, "two logarithms, two subtractions, two multiplies and two adds"),
    ("binary_cross_entropy_with_logits", 9, "an exponential, a logarithm, and seven more"),
    ("kl_div", 5, "a logarithm, two multiplies, a subtraction and an add"),
)
_LOSS_GRADIENTS = (
    ("mse_loss_backward", 3, "a subtraction and two multiplies"),
    ("smooth_l1_loss_backward huber_loss_backward", 4, "a subtraction, comparisons, a multiply"),
    ("binary_cross_entropy_backward", 6, "two subtractions, a division and three multiplies"),
    ("soft_margin_loss_backward", 6, "two multiplies, an exponential, an add, a division, a sign"),
)

flops(*aten(_UNARY))(per_result(1, 1, "one operation"))
flops(*aten(_BINARY))(per_result(1, 2, "one operation or comparison, after broadcasting,"))
for _kinds, _cost, _inputs, _sentence in _OTHERS:
    flops(*aten(_kinds))(per_result(_cost, _inputs, _sentence))
for _kinds, _cost, _sentence in (*_GRADIENTS, *_LOSSES):
    flops(*aten(_kinds))(per_result(_cost, 2, _sentence))
for _kinds, _cost, _sentence in _LOSS_GRADIENTS:
    flops(*aten(_kinds))(per_input(_cost, 1, _sentence))


@flops(*aten("gelu(_)"))
def gelu(op: OpFacts) -> int:
    """5 · N(input 0), 9 · N(input 0) if `approximate` is `tanh`, which traces do not record."""
    return (9 if op.attr("approximate") == "tanh" else 5) * prod(op.input(0))


@flops(*aten("gelu_backward"))
def gelu_gradient(op: OpFacts) -> int:
    """11 · N(input 0), 15 · N(input 0) if `approximate` is `tanh`, which traces do not record.

    The distribution (4), its density (4), a multiply and an add, and the product with the gradient.
    """
    return (15 if op.attr("approximate") == "tanh" else 11) * prod(op.input(0))


@flops(*aten("glu"))
def glu(op: OpFacts) -> int:
    """5/2 · N(input 0): a sigmoid of one half (4), and a multiply with the other."""
    return 5 * prod(op.input(0)) // 2


@flops(*aten("glu_backward"))
def glu_gradient(op: OpFacts) -> int:
    """9 · N(input 0): a sigmoid (4), a subtraction and four multiplies for each element."""
    return 9 * prod(op.input(0))


@flops(*aten("dropout(_) feature_dropout(_) alpha_dropout(_) native_dropout"))
def dropout(op: OpFacts) -> int:
    """2 · N(input 0), 0 unless `train` and `p`: a multiply and a division for each element."""
    does_nothing = not op.switch("train", default=True) or op.attr("p") == 0
    return 0 if does_nothing else 2 * prod(op.input(0))


@flops(*aten("_fused_dropout _masked_scale"))
def masked(op: OpFacts) -> int:
    """2 · N(input 0): two multiplies for each element."""
    return 2 * prod(op.input(0))


@flops(*aten("nll_loss nll_loss_nd nll_loss_forward nll_loss2d nll_loss2d_forward"))
def negative_log_likelihood(op: OpFacts) -> int:
    """2 · N(input 1): a multiply with the weight of the class and an add for each target."""
    return 2 * prod(op.input(1))


@flops(*aten("nll_loss_backward nll_loss2d_backward"))
def likelihood_gradient(op: OpFacts) -> int:
    """N(input 2): a multiply for each target."""
    return prod(op.input(2))


@flops(*aten("cross_entropy_loss"))
def cross_entropy(op: OpFacts) -> int:
    """5 · N(input 0) + 3 · rows, 7 · N(input 0) + rows for targets that are probabilities.

    A log softmax (5, and a logarithm per row), then two operations for each target.
    """
    shape, target = op.input(0), op.input(1)
    classes = shape[1] if len(shape) > 1 else prod(shape)
    rows = prod(shape) // max(classes, 1)
    return 5 * prod(shape) + rows + 2 * (prod(shape) if target == shape else rows)


@flops(*aten("cosine_similarity"))
def cosine_similarity(op: OpFacts) -> int:
    """6 · N(output before the sum): three products and sums for each pair of elements."""
    return 6 * prod(result(op, (0, 1)))
