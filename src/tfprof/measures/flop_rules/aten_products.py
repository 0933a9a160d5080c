"""Matrix products of PyTorch.

A summand, such as a bias, starts the sum: k multiplies and k adds are 2 · k operations, as
`torch.utils.flop_counter` counts.
"""

from __future__ import annotations

from math import prod

from tfprof.measures.flop_rules.aten import aten, broadcast, maybe_input
from tfprof.measures.flop_rules.einsum import contracted
from tfprof.measures.flop_rules.registry import (
    FlopCount,
    OpFacts,
    Shape,
    UnknownShape,
    dim,
    flops,
    multiply_adds,
    plain_product,
)

# Up to this many operands, an einsum is one product.
_FEW = 2


_PRODUCTS = aten("mm bmm mv dot vdot _scaled_mm _int_mm")
_ADDED_PRODUCTS = aten("addmm(_) baddbmm(_) addmv(_) addbmm(_) _addmm_activation")
plain_product(*_PRODUCTS, *_ADDED_PRODUCTS)


@flops(*_PRODUCTS)
def product(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output): a multiply and an add along the shared dim for each element."""
    return multiply_adds(_macs(op.input(0), op.input(1)))


@flops(*_ADDED_PRODUCTS)
def added_product(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output): the given summand starts each sum."""
    return multiply_adds(_macs(op.input(1), op.input(2)))


@flops(*aten("matmul linalg_matmul inner"))
def general_product(op: OpFacts) -> FlopCount:
    """2 · shared dim · N(output): matrices or vectors, with broadcast batches."""
    left, right = op.input(0), op.input(1)
    if op.kind == "aten::inner" and right:
        right = (*right[:-2], *right[-2:][::-1])
    if not left or not right:
        return multiply_adds(prod(left) * prod(right))
    return multiply_adds(_macs(left, right))


@flops(*aten("linear"))
def linear(op: OpFacts) -> FlopCount:
    """2 · N(input 0) · rows(weight): the bias starts each sum."""
    return multiply_adds(prod(op.input(0)) * prod(op.input(1)[:-1]))


@flops(*aten("bilinear"))
def bilinear(op: OpFacts) -> FlopCount:
    """2 · rows · N(weight) + 2 · rows · outputs · dim(input 2): two products for each row."""
    rows, weight = prod(op.input(0)[:-1]), op.input(2)
    return multiply_adds(rows * (prod(weight) + dim(weight, 0) * dim(weight, 2)))


@flops(*aten("_trilinear"))
def trilinear(op: OpFacts) -> FlopCount:
    """2 · points of input 0 · input 1, and of that · input 2: points are all combinations of dims.

    Only one operation for each point if no dim is summed, as for `Einsum`. `bilinear` calls it, and
    so do its gradients; the products are computed anew for each place of `unroll_dim`.
    """
    sides = [_unsqueezed(op.input(place), op.sizes(f"expand{place + 1}")) for place in range(3)]
    summed, unrolled = op.sizes("sumdim"), op.number("unroll_dim", default=1)
    rank = len(sides[0])
    if (
        {*map(len, sides)} != {rank}
        or unrolled not in range(rank)
        or max(summed, default=0) >= rank
    ):
        raise UnknownShape
    times = max(side[unrolled] for side in sides)
    first, second, third = ([*side[:unrolled], 1, *side[unrolled + 1 :]] for side in sides)
    both = broadcast([tuple(first), tuple(second)])
    left = tuple(1 if dim in summed and third[dim] == 1 else size for dim, size in enumerate(both))
    all_three = broadcast([left, tuple(third)])
    result = tuple(1 if dim in summed else size for dim, size in enumerate(all_three))
    found = FlopCount(times * prod(result), 0)  # each place is added to the result
    for points, is_sum in ((both, left != both), (all_three, result != all_three)):
        each = multiply_adds(times * prod(points)) if is_sum else FlopCount(times * prod(points), 0)
        found = FlopCount(found.float_ops + each.float_ops, found.macs + each.macs)
    return found


def _unsqueezed(shape: Shape, places: Shape) -> Shape:
    """A shape with dims of size 1 at these places."""
    sizes = list(shape)
    for place in sorted(places):
        sizes.insert(place, 1)
    return tuple(sizes)


@flops(*aten("einsum"))
def einsum(op: OpFacts) -> FlopCount:
    """2 · points of each product, from left to right: points are all combinations of letters.

    Only one operation for each point if no letter is summed, as for `Einsum`.
    """
    places = range(op.input_count)
    shapes = [shape for place in places if (shape := maybe_input(op, place)) is not None]
    terms, arrow, kept = op.word("equation", default="").replace(" ", "").partition("->")
    operands = terms.split(",")
    if len(operands) != len(shapes) or not terms:
        raise UnknownShape
    if not arrow:
        letters = terms.replace(",", "").replace(".", "")
        kept = "".join(sorted(letter for letter in letters if letters.count(letter) == 1))
    if len(operands) <= _FEW:
        return contracted(f"{terms}->{kept}", shapes)
    return _chained(operands, kept, shapes)


def _chained(operands: list[str], kept: str, shapes: list[Shape]) -> FlopCount:
    """The products of three or more operands, from left to right."""
    dims = {
        letter: size
        for operand, shape in zip(operands, shapes, strict=True)
        for letter, size in zip(operand, shape, strict=False)
    }
    left, total = operands[0], multiply_adds(0)
    for place, right in enumerate(operands[1:], 2):
        needed = {*kept, *"".join(operands[place:])}
        product = "".join(letter for letter in dict.fromkeys(left + right) if letter in needed)
        sides = [tuple(dims.get(letter, 0) for letter in side) for side in (left, right)]
        each = contracted(f"{left},{right}->{product}", sides)
        total = FlopCount(total.float_ops + each.float_ops, total.macs + each.macs)
        left = product
    return total


@flops(*aten("outer ger"))
def outer_product(op: OpFacts) -> int:
    """N(output): a multiply for each pair of elements."""
    return prod(op.input(0)) * prod(op.input(1))


@flops(*aten("addr(_)"))
def added_outer_product(op: OpFacts) -> int:
    """2 · N(output): a multiply and an add for each pair of elements."""
    return 2 * prod(op.input(1)) * prod(op.input(2))


def _macs(left: Shape, right: Shape) -> int:
    """The multiply-accumulates of a product of matrices or vectors."""
    shared = dim(left, -1)
    if shared != dim(right, -2 if len(right) > 1 else -1):
        raise UnknownShape
    rows = left[-2:-1] if len(left) > 1 else ()
    columns = right[-1:] if len(right) > 1 else ()
    batches = broadcast([left[:-2], right[:-2]])
    return prod(batches) * prod(rows) * prod(columns) * shared
