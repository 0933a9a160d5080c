"""The shapes of the tensors between ops, each shape with a number of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Shapes, offsets_of

if TYPE_CHECKING:
    from tfprof.model.ops import Ops, OutputShapes

Shape: TypeAlias = tuple[int, ...]

UNKNOWN = -1

# A number holds its shape: the rank in the last bits, the dims in equal parts of the others.
_RANK_BITS = 3
_DIMS_BITS = 60
_HIGHEST_RANK = (1 << _RANK_BITS) - 1


class Tensors:
    """The shapes of the tensors that ops take and make, as the graph states them or a run saw them.

    What is asked of many ops at once is answered in numbers: equal ones stand for equal shapes,
    and `UNKNOWN` for a shape of which any part is unknown.
    """

    def __init__(self, ops: Ops) -> None:
        carries_tensor = ops.inputs.slot >= 0
        self._edge = np.flatnonzero(carries_tensor)
        self._first_edge = offsets_of(carries_tensor.astype(np.int64))[ops.inputs.offsets]
        self._source, self._slot = ops.inputs.source, ops.inputs.slot
        self._numbers = ShapeNumbers()
        stated, seen = ops.outputs, ops.seen_outputs
        is_stated = np.diff(stated.offsets) > 0
        self._first = np.where(
            is_stated, stated.offsets[:-1], stated.offsets[-1] + seen.offsets[:-1]
        )
        self._count = np.where(is_stated, np.diff(stated.offsets), np.diff(seen.offsets))
        self._number = _number(self._numbers, stated, seen)

    def input_count(self, op: int) -> int:
        """How many tensors `op` takes; control edges carry none."""
        return int(self._first_edge[op + 1] - self._first_edge[op])

    def input(self, op: int, position: int) -> Shape | None:
        """The shape of one tensor that `op` takes, None where any part is unknown."""
        first = int(self._first_edge[op])
        if not first <= first + position < self._first_edge[op + 1]:
            return None
        edge = self._edge[first + position]
        source = int(self._source[edge])
        return None if source < 0 else self.output(source, int(self._slot[edge]))

    def output(self, op: int, slot: int) -> Shape | None:
        """The shape of one tensor that `op` makes, None where any part is unknown."""
        if not 0 <= slot < self._count[op]:
            return None
        return self._numbers.shape(int(self._number[self._first[op] + slot]))

    def input_counts(self, ops: Ints) -> Ints:
        """How many tensors each of `ops` takes."""
        return self._first_edge[ops + 1] - self._first_edge[ops]

    def inputs(self, ops: Ints, position: int) -> Ints:
        """The number of the shape that each of `ops` takes at `position`."""
        found = np.full(len(ops), UNKNOWN)
        if position < 0:
            return found
        rows = np.flatnonzero(position < self.input_counts(ops))
        edges = self._edge[self._first_edge[ops[rows]] + position]
        sources = self._source[edges]
        is_known = sources >= 0
        found[rows[is_known]] = self._outputs(sources[is_known], self._slot[edges[is_known]])
        return found

    def outputs(self, ops: Ints, slot: int) -> Ints:
        """The number of the shape that each of `ops` makes at `slot`."""
        return self._outputs(ops, np.full(len(ops), slot))

    def _outputs(self, ops: Ints, slots: Ints) -> Ints:
        found = np.full(len(ops), UNKNOWN)
        rows = np.flatnonzero((slots >= 0) & (slots < self._count[ops]))
        found[rows] = self._number[self._first[ops[rows]] + slots[rows]]
        return found


def _number(numbers: ShapeNumbers, stated: OutputShapes, seen: OutputShapes) -> Ints:
    """The number of each shape that is stated, then of each that a run saw and somebody needs."""
    known = np.full(len(stated.shape) + len(seen.shape), UNKNOWN)
    of_stated, of_seen = known[: len(stated.shape)], known[len(stated.shape) :]
    of_stated[:] = numbers.of(stated.shape)
    gaps = np.flatnonzero(of_stated == UNKNOWN)
    owners = np.searchsorted(stated.offsets, gaps, "right") - 1
    # A run records only the outputs that came to life, so where it saw fewer or more than there
    # are, their places may have shifted.
    counts, seen_counts = np.diff(stated.offsets), np.diff(seen.offsets)
    is_told = counts[owners] == seen_counts[owners]
    gaps, owners = gaps[is_told], owners[is_told]
    needs_seen = counts == 0
    needs_seen[owners] = True
    needed = Ragged(seen.offsets, np.arange(len(of_seen))).take(np.flatnonzero(needs_seen)).values
    of_seen[needed] = numbers.of(seen.shape.take(needed))
    fillers = seen.offsets[owners] + gaps - stated.offsets[owners]
    agrees = _agree(stated.shape.take(gaps), seen.shape.take(fillers))
    of_stated[gaps[agrees]] = of_seen[fillers[agrees]]
    return known


def _agree(stated: Shapes, seen: Shapes) -> Bools:
    """For each shape, whether it may be `seen` where it is `stated` so: unknown dims are open."""
    agrees = ~stated.is_known
    rows = np.flatnonzero(stated.is_known & (stated.dims.lengths == seen.dims.lengths))
    dims, there = stated.dims.take(rows), seen.dims.take(rows)
    differs = (dims.values != there.values) & (dims.values != UNKNOWN)
    agrees[rows] = ~dims.any(differs)
    return agrees


class ShapeNumbers:
    """Numbers for shapes, the same for the same shape, and the shapes behind them."""

    def __init__(self) -> None:
        self._shapes: dict[int, Shape | None] = {UNKNOWN: None}
        # The few shapes that are too large for the bits of a number are counted down.
        self._large: dict[Shape, int] = {}

    def of(self, shapes: Shapes) -> Ints:
        """The number of each shape; `UNKNOWN` where any part of it is."""
        numbers = np.full(len(shapes), UNKNOWN)
        dims = shapes.dims
        rank = np.where(shapes.is_known, dims.lengths, -1)
        large = [np.flatnonzero(rank > _HIGHEST_RANK)]
        for length in range(min(int(rank.max(initial=-1)), _HIGHEST_RANK) + 1):
            rows = np.flatnonzero(rank == length)
            at = dims.offsets[rows]
            bits = _DIMS_BITS // max(length, 1)
            number, every_bit = np.zeros_like(rows), np.zeros_like(rows)
            for _ in range(length):
                dim = dims.values[at]
                every_bit |= dim  # negative where a dim is
                number <<= bits
                number |= dim
                at += 1
            number <<= _RANK_BITS
            number |= length
            every_bit >>= bits
            numbers[rows] = np.where(every_bit == 0, number, UNKNOWN)
            large.append(rows[every_bit > 0])
        for row in np.concatenate(large).tolist():
            numbers[row] = self._large_number(tuple(dims[row].tolist()))
        return numbers

    def _large_number(self, shape: Shape) -> int:
        if min(shape) < 0:
            return UNKNOWN
        number = self._large.setdefault(shape, UNKNOWN - 1 - len(self._large))
        self._shapes[number] = shape
        return number

    def shape(self, number: int) -> Shape | None:
        """The shape of that number."""
        if number not in self._shapes:
            self._shapes[number] = _unpacked(number)
        return self._shapes[number]


def _unpacked(number: int) -> Shape:
    rank, dims = number & _HIGHEST_RANK, number >> _RANK_BITS
    bits = _DIMS_BITS // max(rank, 1)
    return tuple(dims >> bits * axis & ((1 << bits) - 1) for axis in reversed(range(rank)))
