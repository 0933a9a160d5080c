"""The columns of ops that a source adds to a profile, by name and by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Shape, Shapes, Strings, ints, offsets_of
from tfprof.model.attributes import AttributeReader
from tfprof.model.ops import Conventions, Origin, OutputShapes


@dataclass(frozen=True, slots=True, eq=False)
class OpColumns:
    """Ops to add, one row each, in the order of the file.

    The inputs of op `i` are `input_offsets[i]` to `input_offsets[i + 1]`. Each is the name of an
    op and its output slot, or -1 for a control dependency.
    """

    name: Sequence[str]
    kind: Coded
    input_offsets: Ints
    input_name: Sequence[str]
    input_slot: Ints
    shape: Shapes
    outputs: OutputShapes
    attributes: AttributeReader | None = None
    conventions: Conventions | None = None
    is_defined: bool = True  # by a graph or program; False if only seen in a run
    stated_inputs: OutputShapes | None = None  # instead of edges, as in a trace

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        kinds: Sequence[str],
        inputs: Sequence[Sequence[tuple[str, int]]],
        shapes: Sequence[Shape],
        outputs: Sequence[Sequence[Shape]],
        *,
        attributes: AttributeReader | None = None,
        conventions: Conventions | None = None,
    ) -> Self:
        """The columns of ops given as plain sequences with one entry per op."""
        edges = [edge for row in inputs for edge in row]
        return cls(
            names,
            Coded.of(kinds),
            offsets_of(ints([len(row) for row in inputs])),
            [source for source, _ in edges],
            ints([slot for _, slot in edges]),
            Shapes.of(shapes),
            OutputShapes.of_rows(outputs),
            attributes,
            conventions,
        )

    @classmethod
    def only_run(
        cls,
        names: Sequence[str],
        kinds: Sequence[str] | None = None,
        conventions: Conventions | None = None,
    ) -> Self:
        """Ops that are known only from runs; the kind defaults to the op's name."""
        nothing: list[tuple[()]] = [()] * len(names)
        columns = cls.of(names, kinds or names, nothing, [None] * len(names), nothing)
        return replace(columns, conventions=conventions, is_defined=False)

    @classmethod
    def traced(
        cls,
        names: Sequence[str],
        kinds: Coded,
        *,
        stated_inputs: OutputShapes | None = None,
        attributes: AttributeReader | None = None,
        conventions: Conventions | None = None,
    ) -> Self:
        """Ops of an eager program, for which a trace states the shapes of inputs but no edges."""
        nothing = np.zeros(0, np.int64)
        return cls(
            names,
            kinds,
            np.zeros(len(names) + 1, np.int64),
            [],
            nothing,
            Shapes(np.zeros(len(names), np.int64), (None,)),
            OutputShapes.none(len(names)),
            attributes,
            conventions,
            # An eager program has no graph: the trace is its definition, as complete as any can
            # be. So float operations are counted, and no op is reported as missing from a graph.
            is_defined=True,
            stated_inputs=stated_inputs,
        )

    @classmethod
    def variables(
        cls,
        names: Sequence[str],
        kind: str,
        shapes: Sequence[Shape],
        conventions: Conventions | None = None,
    ) -> Self:
        """Variables, as ops without inputs and outputs."""
        nothing: list[tuple[()]] = [()] * len(names)
        return cls.of(names, [kind] * len(names), nothing, shapes, nothing, conventions=conventions)

    @property
    def origin(self) -> Origin:
        return Origin(self.attributes, self.conventions, self.is_defined)


@dataclass(frozen=True, slots=True, eq=False)
class DefinedOps:
    """Ops that were added, with ids instead of names.

    An input from an op that is not defined yet has the id -1, and its name is in `open_names`.
    """

    count: int
    first: Ints  # the rows that define their op for the first time
    kind: Coded
    inputs: Ragged
    slots: Ints
    open_edges: Ints
    open_names: Strings
    shape: Shapes
    outputs: OutputShapes
    stated_inputs: OutputShapes | None
    origin: Origin
