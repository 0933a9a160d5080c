"""Matrix products."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.fused import fused_operations
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    dim,
    flops,
    multiply_adds,
    native,
    per_element,
)


@flops("SparseMatMul", "QuantizedMatMul", "_MklMatMul")
@flops("MatMul", is_classic=True)
def mat_mul(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output): a multiply and an add along the shared dim for each element."""
    shared = dim(op.input(0), 0 if op.attr("transpose_a") else 1)
    return multiply_adds(shared * prod(op.output(0)))


@flops("_MklBatchMatMul", "_MklBatchMatMulV2")
@flops("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", is_classic=True)
def batch_mat_mul(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output): a multiply and an add along the shared dim for each element."""
    shared = dim(op.input(0), -2 if op.attr("adj_x") else -1)
    return multiply_adds(shared * prod(op.output(0)))


@flops("_FusedMatMul", *native("_FusedMatMul"))
def fused_mat_mul(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output) + fused ops: such as a bias and an activation."""
    return mat_mul(op) + fused_operations(op, op.output(0))


@flops("_MklFusedBatchMatMulV2")
def fused_batch_mat_mul(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output) + fused ops: such as a factor and a mask."""
    return batch_mat_mul(op) + fused_operations(op, op.output(0))


@flops("SparseTensorDenseMatMul")
def sparse_dense_mat_mul(op: OpFacts) -> FlopCount:
    """2 · N(input 1, the values) · columns: a multiply and an add for each value and column."""
    columns = dim(op.input(3), 0 if op.attr("adjoint_b") else 1)
    return multiply_adds(prod(op.input(1)) * columns)


flops("Cross")(per_element(3, "output", "two multiplies and a subtraction for each element"))
