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

# The type of calls whose functions are included as ops, so that their work is not counted twice.
WALKED_CALL = "_walked_call"
# The types of variables, if the source knows what they are for: trained parameters; values that an
# optimizer keeps, such as moments; and other state, such as that of metrics and random generators.
TRAINABLE_VARIABLE = "_trainable_variables"
OPTIMIZER_VARIABLE = "_optimizer_variables"
STATE_VARIABLE = "_state_variables"
# The type of variables whose values a checkpoint contains.
CHECKPOINT_VARIABLE = "_checkpoint_variables"
# The type of ops of an optimizer, if the source knows them.
OPTIMIZER_OP = "_optimizer"
# The type of gradients of a tape that belong to the code lines of their forward ops. The original
# shows them at their own lines, so only live programs and recordings of them set it.
TAPE_GRADIENT = "_tape_gradient"
TAPE_SCOPE = "gradient_tape/"
# The type of ops that only compute shapes, which are known: they count as no arithmetic.
SHAPE_ARITHMETIC = "_shape_arithmetic"
# The type of ops that run code which a compiler generated. Besides calling other ops, they compute
# something themselves, and how much is unknown.
GENERATED_CODE = "_generated_code"
# The value of `repeats` if a trip count is unknown.
UNKNOWN_REPEATS = -1
# The scopes of ops outside the model's functions: eager ops, and ops run by the threads of the
# input pipeline.
EAGER_SCOPE = "eager"
DATA_SCOPE = "tf_data"
# The scope of kernels whose launch was not recorded.
UNATTRIBUTED_SCOPE = "unattributed"
# The starts of the kinds of ops that are the work of a collective; others are calls of it.
COLLECTIVE_WORK = ("nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:")
# The scope of ops that hold memory which was allocated before the recording.
HELD_BEFORE_SCOPE = "memory/held_before_recording"
# The scope of code that XLA compiled from several ops, and its kind.
XLA_SCOPE = "xla"
XLA_KIND = "XlaExecutable"
# The start of the kinds of iterators of the input pipeline. Their time includes waiting: for the
# next element of another thread, or for space in a buffer.
ITERATOR_KIND = "Iterator::"

# A damaged file could claim two billion outputs for one op. No op has more than this.
MOST_OUTPUTS = 10_000


class Phase(IntEnum):
    """The part of a training step that an op belongs to."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMIZER = 2
    INPUT = 3  # reading and preparing data
    OTHER = 4
    COMMUNICATION = 5  # with other ranks


# Values of `forward_of` for ops that are not gradients, and for gradients of unknown ops.
NOT_A_GRADIENT = -1
UNKNOWN_FORWARD = -2


class Conventions(Protocol):
    """Facts about ops that an input states, or that follow from its framework's naming.

    They are computed once, when a question first needs them.
    """

    def phases(self, ops: Ops, rows: Ints) -> Ints:
        """The `Phase` of each of `rows`."""

    def forward_of(self, ops: Ops, rows: Ints) -> Ints:
        """The forward op of each gradient in `rows`, or `NOT_A_GRADIENT`, `UNKNOWN_FORWARD`.

        A gradient for which only the code lines of the forward op are known refers to itself, and
        has these lines.
        """


class Origin(NamedTuple):
    """An input that defines ops, with their attributes and naming conventions."""

    attributes: AttributeReader | None = None
    conventions: Conventions | None = None
    is_defined: bool = True  # by a graph or program; False if only seen in a run


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """The input that defined each op, and the op's position in that input."""

    inputs: tuple[Origin, ...]
    input: Ints
    position: Ints

    def attribute(self, op: int, name: str) -> AttributeValue:
        """The value of an attribute of an op, or None if the op does not have it."""
        reader = self.inputs[self.input[op]].attributes
        return None if reader is None else reader.get(int(self.position[op]), name)

    def encoded_attributes(self, op: int) -> Mapping[str, bytes]:
        """All attributes of an op, still encoded."""
        reader = self.inputs[self.input[op]].attributes
        return {} if reader is None else reader.encoded(int(self.position[op]))


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The edges into each op, in order: those of op `i` are `offsets[i]` to `offsets[i + 1]`."""

    offsets: Ints
    source: Ints  # the op that the edge comes from, -1 if unknown
    slot: Ints  # the output of the source; -1 for a control dependency

    def of(self, op: int) -> slice:
        """The edges into `op`."""
        return slice(int(self.offsets[op]), int(self.offsets[op + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class TypeSets:
    """The types of each op, as rows of `names`, which is sorted."""

    members: Ragged
    names: Strings

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[Ints, Coded]], count: int) -> TypeSets:
        """The types of `count` ops, from columns of ops and their types; pairs may repeat."""
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

    def having(self, *wanted: str) -> Bools:
        """Whether each op has one of these types."""
        is_wanted = np.array([name in wanted for name in self.names], np.bool_)
        return self.any(is_wanted) if is_wanted.any() else np.zeros(len(self.members), np.bool_)

    def any(self, is_wanted: Bools) -> Bools:
        """Whether each op has a wanted type; `is_wanted` has one entry per type."""
        return self.members.any(is_wanted[self.members.values])


@dataclass(frozen=True, slots=True, eq=False)
class OutputShapes:
    """The output shapes of each op: those of op `i` are `offsets[i]` to `offsets[i + 1]`.

    The stated inputs of ops are such a column, too.
    """

    offsets: Ints
    shape: Shapes

    def of(self, op: int, slot: int) -> tuple[int, ...] | None:
        """The shape of an output, or None if it is unknown."""
        row = int(self.offsets[op]) + slot
        return self.shape[row] if slot >= 0 and row < self.offsets[op + 1] else None

    def of_op(self, op: int) -> list[tuple[int, ...] | None]:
        """The shapes of all outputs of an op."""
        return [self.shape[row] for row in range(*self.offsets[op : op + 2].tolist())]

    @classmethod
    def none(cls, count: int) -> OutputShapes:
        """The column of `count` ops without shapes."""
        return cls(np.zeros(count + 1, np.int64), Shapes.of(()))

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[tuple[int, ...] | None]]) -> OutputShapes:
        """The column of these output shapes, given per op; None is an unknown shape."""
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
        """The column with only `ops`, in that order."""
        codes = Ragged(self.offsets, self.shape.codes).take(ops)
        return OutputShapes(codes.offsets, Shapes(codes.values, self.shape.values))

    def count(self, op: int) -> int:
        return int(self.offsets[op + 1] - self.offsets[op])


@dataclass(frozen=True, slots=True, eq=False)
class Ops:
    """One row per op, sorted by the bytes of the name."""

    name: Strings
    defined: Ints  # the position of each op in the order of first definition
    kind: Coded
    types: TypeSets
    inputs: Inputs
    shape: Shapes  # of the parameters, for ops that are variables
    outputs: OutputShapes  # as stated in the graph
    seen_outputs: OutputShapes  # as first recorded in a run
    stated_inputs: OutputShapes  # of the inputs by position, from sources that know no edges
    logged_float_ops: Ints  # of one run; 0 if not logged
    code: Ints  # the call that created it, -1 if unknown
    layer: Ints  # the layer it belongs to, -1 if none
    part_of: Ints  # the op inside which it runs, as its source states; -1 if none
    signature: Ints  # what it does, if another op of that name may do something else; 0 if none
    repeats: Ints  # how often one run of the program runs it, or `UNKNOWN_REPEATS`
    is_covered: Bools  # whether a recording contains a run of it
    origins: Origins

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_defined(self) -> Bools:
        """Whether each op is defined by a graph or program; the others are known only from runs."""
        flags = np.array([origin.is_defined for origin in self.origins.inputs], np.bool_)
        return flags[self.origins.input]

    def is_iterator(self) -> Bools:
        """Whether each op is an iterator of the input pipeline, whose time includes waiting."""
        return self.kind.values.starts_with(ITERATOR_KIND)[self.kind.codes]

    def is_source(self) -> Bools:
        """Whether each op is an input of any op."""
        found = np.zeros(len(self), np.bool_)
        found[self.inputs.source[self.inputs.source >= 0]] = True
        return found
