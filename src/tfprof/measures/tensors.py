"""The shapes of the tensors between ops, each shape with a number of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import Bools, Ints, Shape, Shapes, offsets_of

if TYPE_CHECKING:
    from tfprof.model.ops import Ops, OutputShapes

UNKNOWN = -1


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
        stated, seen = ops.outputs, ops.seen_outputs
        is_stated = np.diff(stated.offsets) > 0
        self._first = np.where(
            is_stated, stated.offsets[:-1], stated.offsets[-1] + seen.offsets[:-1]
        )
        self._count = np.where(is_stated, np.diff(stated.offsets), np.diff(seen.offsets))
        shapes = Shapes.joined([stated.shape, seen.shape])
        self._shapes = shapes.values
        self._number = _number(shapes, stated, seen)

    def input_count(self, op: int) -> int:
        """How many tensors `op` takes; control edges carry none."""
        return int(self._first_edge[op + 1] - self._first_edge[op])

    def input(self, op: int, position: int) -> Shape:
        """The shape of one tensor that `op` takes, None where any part is unknown."""
        first = int(self._first_edge[op])
        if not first <= first + position < self._first_edge[op + 1]:
            return None
        edge = self._edge[first + position]
        source = int(self._source[edge])
        return None if source < 0 else self.output(source, int(self._slot[edge]))

    def output(self, op: int, slot: int) -> Shape:
        """The shape of one tensor that `op` makes, None where any part is unknown."""
        if not 0 <= slot < self._count[op]:
            return None
        number = int(self._number[self._first[op] + slot])
        return None if number == UNKNOWN else self._shapes[number]

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


def _number(shapes: Shapes, stated: OutputShapes, seen: OutputShapes) -> Ints:
    """The number of each shape that is stated, then of each that a run saw."""
    is_whole = np.array([_is_whole(shape) for shape in (*shapes.values, None)])[shapes.codes]
    known = np.where(is_whole, shapes.codes, UNKNOWN)
    of_stated, of_seen = known[: len(stated.shape)], known[len(stated.shape) :]
    gaps = np.flatnonzero(of_stated == UNKNOWN)
    owners = np.searchsorted(stated.offsets, gaps, "right") - 1
    # A run records only the outputs that came to life, so where it saw fewer or more than there
    # are, their places may have shifted.
    is_told = np.diff(stated.offsets)[owners] == np.diff(seen.offsets)[owners]
    gaps, owners = gaps[is_told], owners[is_told]
    fillers = seen.offsets[owners] + gaps - stated.offsets[owners]
    agrees = _agree(stated.shape.take(gaps), seen.shape.take(fillers))
    of_stated[gaps[agrees]] = of_seen[fillers[agrees]]
    return known


def _is_whole(shape: Shape) -> bool:
    return shape is not None and min(shape, default=0) >= 0


def _agree(stated: Shapes, seen: Shapes) -> Bools:
    """For each shape, whether it may be `seen` where it is `stated` so: unknown dims are open."""
    width = len(seen.values) or 1
    pairs, pair_of = np.unique(stated.codes * width + seen.codes, return_inverse=True)
    found = [_may_be(stated.values[pair // width], seen.values[pair % width]) for pair in pairs]
    return np.array(found, np.bool_)[pair_of]


def _may_be(stated: Shape, seen: Shape) -> bool:
    if stated is None or seen is None or len(stated) != len(seen):
        return stated is None
    return all(dim in (there, UNKNOWN) for dim, there in zip(stated, seen, strict=True))
