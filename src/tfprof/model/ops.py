"""The ops of a profile, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np

from tfprof.columns import (
    Bools,
    Coded,
    Ints,
    Ragged,
    Shapes,
    Strings,
    distinct,
    ints,
    joined,
    offsets_of,
)
from tfprof.model.attributes import AttributeReader, AttributeValue

# The type of calls whose functions are counted op by op, so that they are not counted twice.
WALKED_CALL = "_walked_call"
# The scopes of ops that are in no function of the model: ops run one by one, and those that the
# threads of the input pipeline run.
EAGER_SCOPE = "eager"
DATA_SCOPE = "tf_data"

# A damaged file could claim an output number two billion; no op has so many.
MOST_OUTPUTS = 10_000


class Phase(IntEnum):
    """The part of a training step that an op belongs to."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMISER = 2
    INPUT = 3  # reading and preparing data
    OTHER = 4


# What `forward_of` has for an op that is not a gradient, and for a gradient of an unknown op.
NOT_A_GRADIENT = -1
UNKNOWN_FORWARD = -2


class Conventions(Protocol):
    """Facts about ops that one input states, or that its framework's naming implies.

    They are asked for once, when a question first needs them.
    """

    def phases(self, ops: Ops, rows: Ints) -> Ints:
        """The `Phase` of each of `rows`."""

    def forward_of(self, ops: Ops, rows: Ints) -> Ints:
        """The op that each of `rows` is a gradient of, `NOT_A_GRADIENT` or `UNKNOWN_FORWARD`."""


class Origin(NamedTuple):
    """What one input provides for the ops it defines."""

    attributes: AttributeReader | None = None
    conventions: Conventions | None = None
    is_defined: bool = True  # by a graph or a program, not only by a run


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """Which input defined each op, and the op's position in it."""

    inputs: tuple[Origin, ...]
    input: Ints
    position: Ints

    def attribute(self, op: int, name: str) -> AttributeValue:
        """The value of one attribute of an op, or None if it has no such attribute."""
        reader = self.inputs[self.input[op]].attributes
        return None if reader is None else reader.get(int(self.position[op]), name)

    def encoded_attributes(self, op: int) -> Mapping[str, bytes]:
        """All attributes of an op as their source wrote them."""
        reader = self.inputs[self.input[op]].attributes
        return {} if reader is None else reader.encoded(int(self.position[op]))


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The edges into ops: op `i` has those from `offsets[i]` to `offsets[i + 1]`, by position."""

    offsets: Ints
    source: Ints  # the op it comes from, -1 when no such op is known
    slot: Ints  # which of the source's outputs; -1: only its end is waited for

    def of(self, op: int) -> slice:
        """Where the edges of `op` stand."""
        return slice(int(self.offsets[op]), int(self.offsets[op + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class TypeSets:
    """The types each op goes by, as codes into `names`; the codes follow the names' order."""

    members: Ragged
    names: Strings

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[Ints, Coded]], count: int) -> TypeSets:
        """The types of so many ops, from columns of ops with a type each; a pair counts once."""
        types = Coded.joined([column for _, column in pairs]).compact()
        by_name = types.values.order()
        rank = np.empty(len(by_name), np.int64)
        rank[by_name] = np.arange(len(by_name))
        width = max(len(by_name), 1)
        keys = distinct(joined([ops for ops, _ in pairs]) * width + rank[types.codes])
        owner, value = np.divmod(keys, width)
        lengths = np.bincount(owner, minlength=count)
        return cls(Ragged(offsets_of(lengths), value), types.values.take(by_name))

    def of(self, op: int) -> list[str]:
        return list(self.names.take(self.members[op]))

    def any(self, is_wanted: Bools) -> Bools:
        """For each op, whether it goes by any wanted type; `is_wanted` is one a type."""
        return self.members.any(is_wanted[self.members.values])


@dataclass(frozen=True, slots=True, eq=False)
class OutputShapes:
    """The shapes of each op's outputs: op `i` has those from `offsets[i]` to `offsets[i + 1]`."""

    offsets: Ints
    shape: Shapes

    def of(self, op: int, slot: int) -> tuple[int, ...] | None:
        """The shape of one output, None where nothing is known of it."""
        row = int(self.offsets[op]) + slot
        return self.shape[row] if slot >= 0 and row < self.offsets[op + 1] else None

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[tuple[int, ...] | None]]) -> OutputShapes:
        """The column of the outputs of each op, None where a shape is unknown."""
        flat = Shapes.of([shape for shapes in rows for shape in shapes])
        return cls(offsets_of(ints([len(shapes) for shapes in rows])), flat)

    @classmethod
    def joined(cls, columns: Sequence[OutputShapes]) -> OutputShapes:
        """The ops of all `columns`, one column after the other."""
        if len(columns) == 1:
            return columns[0]
        lengths = joined([np.diff(column.offsets) for column in columns])
        return cls(offsets_of(lengths), Shapes.joined([column.shape for column in columns]))

    def take(self, ops: Ints) -> OutputShapes:
        """The outputs of `ops` alone, in that order."""
        codes = Ragged(self.offsets, self.shape.codes).take(ops)
        return OutputShapes(codes.offsets, Shapes(codes.values, self.shape.values))

    def count(self, op: int) -> int:
        return int(self.offsets[op + 1] - self.offsets[op])


@dataclass(frozen=True, slots=True, eq=False)
class Ops:
    """A row an op, in the byte order of their names."""

    name: Strings
    defined: Ints  # the place of each op in the order they became known
    kind: Coded
    types: TypeSets
    inputs: Inputs
    shape: Shapes  # of the parameters an op stands for
    outputs: OutputShapes  # as the graph states them
    seen_outputs: OutputShapes  # as a recorded run first saw them
    logged_float_ops: Ints  # of one run; 0 where no log gave a number
    code: Ints  # the call that made it; -1 if that is unknown
    is_covered: Bools  # a recording has it running
    origins: Origins

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_defined(self) -> Bools:
        """Whether a graph or a program defines each op; the others are only known from runs."""
        flags = np.array([origin.is_defined for origin in self.origins.inputs], np.bool_)
        return flags[self.origins.input]

    def is_source(self) -> Bools:
        """For each op, whether any op takes it as an input."""
        found = np.zeros(len(self), np.bool_)
        found[self.inputs.source[self.inputs.source >= 0]] = True
        return found
