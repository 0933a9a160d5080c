"""The shapes of the tensors between ops, also as codes for many ops at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns import Bools, Ints, Shape, Shapes, offsets_of

if TYPE_CHECKING:
    from tfprof.model.ops import Ops, OutputShapes

UNKNOWN = -1


class Tensors:
    """The shapes of the inputs and outputs of ops, from the graph or else from a recorded run.

    The inputs of an op have the shapes that its source states, or else those of its edges.

    Methods for many ops return codes: equal codes mean equal shapes, and `UNKNOWN` means that any
    part of the shape is unknown.
    """

    def __init__(self, ops: Ops) -> None:
        carries_tensor = ops.inputs.slot >= 0
        self._edge = np.flatnonzero(carries_tensor)
        self._first_edge = offsets_of(carries_tensor.astype(np.int64))[ops.inputs.offsets]
        self._source, self._slot = ops.inputs.source, ops.inputs.slot
        stated, seen, inputs = ops.outputs, ops.seen_outputs, ops.stated_inputs
        is_stated = np.diff(stated.offsets) > 0
        self._first = np.where(
            is_stated, stated.offsets[:-1], stated.offsets[-1] + seen.offsets[:-1]
        )
        self._count = np.where(is_stated, np.diff(stated.offsets), np.diff(seen.offsets))
        self._first_input = stated.offsets[-1] + seen.offsets[-1] + inputs.offsets[:-1]
        self._states_inputs = np.diff(inputs.offsets) > 0
        self._input_count = np.where(
            self._states_inputs, np.diff(inputs.offsets), np.diff(self._first_edge)
        )
        shapes = Shapes.joined([stated.shape, seen.shape, inputs.shape])
        self._shapes = shapes.values
        self._code = _codes(shapes, stated, seen)

    def input_count(self, op: int) -> int:
        """The number of input tensors of `op`, without control inputs."""
        return int(self._input_count[op])

    def input(self, op: int, position: int) -> Shape:
        """The shape of one input of `op`, or None if any part of it is unknown."""
        if not 0 <= position < self._input_count[op]:
            return None
        if self._states_inputs[op]:
            return self._shape(int(self._code[self._first_input[op] + position]))
        edge = self._edge[int(self._first_edge[op]) + position]
        source = int(self._source[edge])
        return None if source < 0 else self.output(source, int(self._slot[edge]))

    def output(self, op: int, slot: int) -> Shape:
        """The shape of one output of `op`, or None if any part of it is unknown."""
        if not 0 <= slot < self._count[op]:
            return None
        return self._shape(int(self._code[self._first[op] + slot]))

    def _shape(self, code: int) -> Shape:
        return None if code == UNKNOWN else self._shapes[code]

    def input_counts(self, ops: Ints) -> Ints:
        """The number of input tensors of each of `ops`."""
        return self._input_count[ops]

    def inputs(self, ops: Ints, position: int) -> Ints:
        """The code of the shape of the input at `position` of each of `ops`."""
        found = np.full(len(ops), UNKNOWN)
        if position < 0:
            return found
        rows = np.flatnonzero(position < self.input_counts(ops))
        is_stated = self._states_inputs[ops[rows]]
        stated, rows = rows[is_stated], rows[~is_stated]
        found[stated] = self._code[self._first_input[ops[stated]] + position]
        edges = self._edge[self._first_edge[ops[rows]] + position]
        sources = self._source[edges]
        is_known = sources >= 0
        found[rows[is_known]] = self._outputs(sources[is_known], self._slot[edges[is_known]])
        return found

    def outputs(self, ops: Ints, slot: int) -> Ints:
        """The code of the shape of the output at `slot` of each of `ops`."""
        return self._outputs(ops, np.full(len(ops), slot))

    def _outputs(self, ops: Ints, slots: Ints) -> Ints:
        found = np.full(len(ops), UNKNOWN)
        rows = np.flatnonzero((slots >= 0) & (slots < self._count[ops]))
        found[rows] = self._code[self._first[ops[rows]] + slots[rows]]
        return found


def _codes(shapes: Shapes, stated: OutputShapes, seen: OutputShapes) -> Ints:
    """The code of each shape that the graph states, then of each that a run saw, then others."""
    is_whole = np.array([_is_whole(shape) for shape in (*shapes.values, None)])[shapes.codes]
    known = np.where(is_whole, shapes.codes, UNKNOWN)
    of_stated, of_seen = known[: len(stated.shape)], known[len(stated.shape) :]
    gaps = np.flatnonzero(of_stated == UNKNOWN)
    owners = np.searchsorted(stated.offsets, gaps, "right") - 1
    # A run records only the outputs that were produced, so if their number differs from the graph,
    # their slots may have shifted.
    is_aligned = np.diff(stated.offsets)[owners] == np.diff(seen.offsets)[owners]
    gaps, owners = gaps[is_aligned], owners[is_aligned]
    fillers = seen.offsets[owners] + gaps - stated.offsets[owners]
    agrees = _agree(stated.shape.take(gaps), seen.shape.take(fillers))
    of_stated[gaps[agrees]] = of_seen[fillers[agrees]]
    return known


def _is_whole(shape: Shape) -> bool:
    return shape is not None and min(shape, default=0) >= 0


def _agree(stated: Shapes, seen: Shapes) -> Bools:
    """For each pair, whether the seen shape fits the stated one; unknown dims fit any."""
    width = len(seen.values) or 1
    pairs, pair_of = np.unique(stated.codes * width + seen.codes, return_inverse=True)
    found = [_fits(seen.values[pair % width], stated.values[pair // width]) for pair in pairs]
    return np.array(found, np.bool_)[pair_of]


def _fits(seen: Shape, stated: Shape) -> bool:
    if stated is None or seen is None or len(stated) != len(seen):
        return stated is None
    return all(dim in (there, UNKNOWN) for dim, there in zip(stated, seen, strict=True))
