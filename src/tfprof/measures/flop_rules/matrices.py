"""Direct solutions of linear equations, and factorisations."""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten
from tfprof.measures.flop_rules.registry import OpFacts, UnknownShape, dim, flops


@flops("Cholesky", *aten("cholesky linalg_cholesky linalg_cholesky_ex"))
def cholesky(op: OpFacts) -> int:
    """n³ / 3 for each n x n matrix."""
    return _cubes(op) // 3


@flops("Lu", "MatrixDeterminant", "LogMatrixDeterminant")
@flops(*aten("linalg_lu_factor linalg_lu_factor_ex linalg_lu linalg_det _linalg_det"))
@flops(*aten("linalg_slogdet _linalg_slogdet slogdet logdet det"))
def triangles(op: OpFacts) -> int:
    """2 · n³ / 3 for each n x n matrix: Gaussian elimination."""
    return 2 * _cubes(op) // 3


@flops("MatrixInverse", *aten("inverse linalg_inv linalg_inv_ex"))
def inverse(op: OpFacts) -> int:
    """2 · n³ for each n x n matrix: elimination, and the solution for each unit vector."""
    return 2 * _cubes(op)


@flops("MatrixSolve")
def solution(op: OpFacts) -> int:
    """2 · n³ / 3 + 2 · n · N(output): elimination, then two triangular solutions."""
    return 2 * _cubes(op) // 3 + 2 * dim(op.input(0), -1) * prod(op.output(0))


@flops("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def triangular_solution(op: OpFacts) -> int:
    """N(output) · n: a multiply and an add for half of the n coefficients of each result."""
    return dim(op.input(0), -1) * prod(op.output(0))


def _cubes(op: OpFacts) -> int:
    """The sum of n³ over all matrices."""
    shape = op.input(0)
    if len(shape) < 2:
        raise UnknownShape
    return prod(shape) * shape[-1]
