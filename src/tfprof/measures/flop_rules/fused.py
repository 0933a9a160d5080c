"""The cost of ops fused into a product or convolution, as its `fused_ops` attribute lists them."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, Shape, UnknownShape, dim

# Operations per element of the result, the same as in the rules of these kinds.
COSTS = {
    "BiasAdd": 1,
    "BiasSemanticAdd": 1,
    "Add": 1,
    "AddV2": 1,
    "Sum": 1,
    "Mul": 1,
    "BinaryMul": 1,
    "BinaryAdd": 1,
    "FusedBatchNorm": 3,
    "Relu": 1,
    "Relu6": 2,
    "LeakyRelu": 2,
    "Elu": 3,
    "Tanh": 1,
    "Sigmoid": 4,
    "_FusedSwish": 5,
    "_MklSwish": 5,
    "_FusedHardSwish": 5,
    "_MklFusedMish": 5,
    "GeluExact": 5,
    "GeluApproximate": 9,
}
_BATCH_NORM_CHANNEL = 4


def fused_operations(op: OpFacts, output: Shape) -> int:
    """The float operations of the fused ops; the last dim of input 1 gives the channels."""
    names = op.words("fused_ops")
    if not COSTS.keys() >= set(names):
        raise UnknownShape
    total = sum(COSTS[name] for name in names) * prod(output)
    if "FusedBatchNorm" in names:
        total += _BATCH_NORM_CHANNEL * dim(op.input(1), -1)
    return total
