"""Matrix products."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.registry import OpFacts, dim, flops


@flops("MatMul")
def mat_mul(op: OpFacts) -> int:
    """2 · shared side · N(output): a multiply and an add along the shared side for each cell."""
    shared = dim(op.input(0), 0 if op.attr("transpose_a") else 1)
    return 2 * shared * prod(op.output(0))


@flops("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_mat_mul(op: OpFacts) -> int:
    """2 · shared side · N(output): a multiply and an add along the shared side for each cell."""
    shared = dim(op.input(0), -2 if op.attr("adj_x") else -1)
    return 2 * shared * prod(op.output(0))
