"""Shapes of matrix decompositions, diagonals and solutions of equations."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import Dims, Unknown, broadcast
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("MatrixSolve MatrixTriangularSolve BatchMatrixTriangularSolve MatrixSolveLs")
def solved(op: Op) -> list[Shape]:
    """The columns of the right side."""
    a, b = _matrices(op, 0), _matrices(op, 1)
    return [(*broadcast([a[:-2], b[:-2]]), a[-1], b[-1])]


@shapes("MatrixDeterminant LogMatrixDeterminant")
def determinant(op: Op) -> list[Shape]:
    """One number per matrix."""
    return [_matrices(op, 0)[:-2]] * (2 if op.kind.startswith("Log") else 1)


@shapes("MatrixDiag MatrixDiagV2 MatrixDiagV3 BatchMatrixDiag")
def diagonal(op: Op) -> list[Shape]:
    """A square matrix for each row, unless another diagonal or size is chosen."""
    shape = op.shape(0)
    if len(op.inputs) > 1 and [op.number(place) for place in (1, 2, 3)] != [0, -1, -1]:
        raise Unknown
    return [(*shape, shape[-1])]


@shapes("MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 BatchMatrixDiagPart")
def diagonal_part(op: Op) -> list[Shape]:
    """A row for each matrix, unless another diagonal is chosen."""
    *others, rows, columns = _matrices(op, 0)
    if len(op.inputs) > 1 and op.number(1):
        raise Unknown
    return [(*others, min(rows, columns))]


@shapes("Diag")
def doubled(op: Op) -> list[Shape]:
    """The dims twice."""
    return [op.shape(0) * 2]


@shapes("DiagPart")
def halved(op: Op) -> list[Shape]:
    """The first half of the dims."""
    shape = op.shape(0)
    return [shape[: len(shape) // 2]]


@shapes("Svd")
def singular_values(op: Op) -> list[Shape]:
    """The singular values, and two matrices of vectors."""
    *others, rows, columns = _matrices(op, 0)
    least = min(rows, columns)
    if not op.integer("compute_uv", 1):
        return [(*others, least), (0,), (0,)]
    is_full = bool(op.integer("full_matrices"))
    left, right = (rows, columns) if is_full else (least, least)
    return [(*others, least), (*others, rows, left), (*others, columns, right)]


@shapes("SelfAdjointEigV2 Eig")
def eigenvalues(op: Op) -> list[Shape]:
    """The eigenvalues and vectors."""
    shape = _matrices(op, 0)
    return [shape[:-1], shape if op.integer("compute_v", 1) else (0,)]


@shapes("Lu")
def triangles(op: Op) -> list[Shape]:
    """Both triangles in one matrix, and a permutation."""
    shape = _matrices(op, 0)
    return [shape, shape[:-1]]


@shapes("Qr")
def orthogonal(op: Op) -> list[Shape]:
    """An orthogonal and a triangular matrix."""
    *others, rows, columns = _matrices(op, 0)
    inner = rows if op.integer("full_matrices") else min(rows, columns)
    return [(*others, rows, inner), (*others, inner, columns)]


@shapes("SparseTensorDenseMatMul")
def sparse_product(op: Op) -> list[Shape]:
    """The rows of a sparse matrix and the columns of a dense one."""
    sparse, dense = op.dims(2), op.shape(3, 2)
    rows = sparse[1 if op.integer("adjoint_a") else 0]
    return [(rows, dense[0 if op.integer("adjoint_b") else 1])]


@shapes("TridiagonalSolve TridiagonalMatMul")
def like_right_side(op: Op) -> list[Shape]:
    """The shape of the last input."""
    return [op.maybe_shape(-1)]


def _matrices(op: Op, position: int) -> Dims:
    shape = op.shape(position)
    if len(shape) < 2:
        raise Unknown
    return shape
