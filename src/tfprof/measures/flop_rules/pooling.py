"""Pooling and its gradients; a window is 1 along batch and channels, so any data format works."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, flops, native, per_element


@flops("AvgPool3D", "MaxPool3D", "MaxPoolWithArgmax", "MaxPoolGradGrad", "MaxPool3DGradGrad")
@flops("QuantizedAvgPool", "QuantizedMaxPool")
@flops(*native("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D"))
@flops("AvgPool", "MaxPool", is_classic=True)
def pool(op: OpFacts) -> int:
    """Window · N(output): one add or comparison for each value in an output's window."""
    return prod(op.sizes("ksize")) * prod(op.output(0))


@flops("AvgPool3DGrad", *native("AvgPoolGrad", "AvgPool3DGrad"))
@flops("AvgPoolGrad", is_classic=True)
def average_pool_gradient(op: OpFacts) -> int:
    """2 · window · N(input 1, the gradient): a multiply and an add for each value in a window."""
    return 2 * prod(op.sizes("ksize")) * prod(op.input(1))


@flops("MaxPool3DGrad", *native("MaxPoolGrad", "MaxPool3DGrad"))
@flops("MaxPoolGrad", is_classic=True)
def max_pool_gradient(op: OpFacts) -> int:
    """(Window + 1) · N(input 1, the pooled output): pool again, then one add for each output."""
    return (prod(op.sizes("ksize")) + 1) * prod(op.input(1))


flops("MaxPoolGradWithArgmax")(
    per_element(1, "input 1", "one add for each value, to the element it came from")
)
