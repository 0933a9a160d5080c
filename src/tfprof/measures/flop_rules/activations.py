"""Activations that take more than one operation, and the gradients of activations and roots."""

from __future__ import annotations

from tfprof.measures.flop_rules.registry import flops, per_element

# The kind, the number of operations per element, and what they are.
_FORWARD = (
    ("Relu6", 2, "two comparisons"),
    ("LeakyRelu", 2, "a multiply and a comparison"),
    ("Elu", 3, "a comparison, an exponential and a subtraction"),
    ("Selu", 4, "a comparison, an exponential, a subtraction and a multiply"),
    ("Sigmoid", 4, "a negation, an exponential, an add and a division"),
    ("Softplus", 3, "an exponential, an add and a logarithm"),
    ("Softsign", 3, "an absolute value, an add and a division"),
    ("_MklSwish", 5, "a sigmoid (4) and a multiply"),
    ("_MklFusedMish", 5, "a softplus (3), a hyperbolic tangent and a multiply"),
)
_GRADIENTS = (
    ("ReluGrad", 1, "a comparison"),
    ("Relu6Grad", 2, "two comparisons"),
    ("LeakyReluGrad", 2, "a comparison and a multiply"),
    ("EluGrad", 3, "a comparison, an add and a multiply"),
    ("SeluGrad", 3, "a comparison, an add and a multiply"),
    ("SigmoidGrad", 3, "a subtraction and two multiplies"),
    ("TanhGrad", 3, "a square, a subtraction and a multiply"),
    ("SoftplusGrad", 4, "a negation, an exponential, an add and a division"),
    ("SoftsignGrad", 4, "an absolute value, an add, a square and a division"),
    ("SqrtGrad", 2, "a multiply and a division"),
    ("InvGrad", 3, "two multiplies and a negation"),
    ("ReciprocalGrad", 3, "two multiplies and a negation"),
)

for _kind, _cost, _sentence in _FORWARD:
    flops(_kind)(per_element(_cost, "input 0", f"{_sentence} for each element"))
for _kind, _cost, _sentence in _GRADIENTS:
    flops(_kind)(per_element(_cost, "output", f"{_sentence} for each element"))
