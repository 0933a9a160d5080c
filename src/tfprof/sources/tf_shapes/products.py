"""Shapes of matrix products and einsums."""

from __future__ import annotations

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown, broadcast
from tfprof.sources.tf_shapes.op import Op
from tfprof.sources.tf_shapes.registry import shapes


@shapes("MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 SparseMatMul _FusedMatMul")
@shapes("_MklNativeMatMul _MklNativeFusedMatMul _MklNativeBatchMatMulV2")
def product(op: Op) -> list[Shape]:
    """The rows of the first and the columns of the second matrix, in broadcast batches."""
    a, b = op.shape(0), op.shape(1)
    if min(len(a), len(b)) < 2:
        raise Unknown
    rows = a[-1 if op.integer("transpose_a") or op.integer("adj_x") else -2]
    columns = b[-2 if op.integer("transpose_b") or op.integer("adj_y") else -1]
    return [(*broadcast([a[:-2], b[:-2]]), rows, columns)]


@shapes("Einsum")
def einsum(op: Op) -> list[Shape]:
    """The dims of the letters after the arrow."""
    given, arrow, made = op.text("equation").replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    ellipses: list[Dims] = []
    for position, letters in enumerate(given.split(",")):
        shape = op.shape(position)
        before, dots, after = letters.partition("...")
        if len(shape) < len(before + after) or (not dots and len(shape) != len(letters)):
            raise Unknown
        end = len(shape) - len(after)
        ellipses.append(shape[len(before) : end])
        for letter, size in zip(before + after, shape[: len(before)] + shape[end:], strict=True):
            sizes[letter] = size if sizes.get(letter, OPEN) == OPEN else sizes[letter]
    if not arrow:
        raise Unknown
    before, dots, after = made.partition("...")
    middle = broadcast(ellipses) if dots else ()
    return [(*(sizes[letter] for letter in before), *middle, *(sizes[letter] for letter in after))]
