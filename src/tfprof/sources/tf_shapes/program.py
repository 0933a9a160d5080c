"""A program to infer shapes for: ops, the tensors between them, and calls of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tfprof.columns import Coded, Ints, Shape, Shapes
from tfprof.formats.records import Records
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_shapes.op import Tensor


class Loop(NamedTuple):
    """A loop: its variables, the result of its condition, and the variables after an iteration.

    A variable is the number of a row after all ops. Its initial value is in `Program.initial`.
    """

    variables: Sequence[int]
    condition: Tensor
    results: Sequence[Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The ops of a program, one row each.

    Rows after the ops are loop variables. The inputs of op `i` are `input_offsets[i]` to
    `input_offsets[i + 1]`: the row and slot of a tensor, -1 as row for no op, and -1 as slot for a
    control dependency.
    """

    records: Records
    start: Ints  # of the node's message in the file
    end: Ints
    kind: Coded
    declared: Shapes  # the attribute `shape`
    stated: OutputShapes
    attributes: EncodedAttributes
    input_offsets: Ints
    input_source: Ints
    input_slot: Ints
    # The results of each call, by function: one for a plain call, several for a conditional.
    results: Mapping[int, Sequence[Sequence[Tensor]]] = field(default_factory=dict)
    loops: Mapping[int, Loop] = field(default_factory=dict)
    initial: Sequence[Tensor] = ()  # of each loop variable
    call: Ints | None = None  # the call that runs each op, -1 for the graph itself
    is_condition: Ints | None = None  # whether the op belongs to the condition of a loop

    def __len__(self) -> int:
        return len(self.kind)


class Given(NamedTuple):
    """Shapes of the program's inputs that are given in addition to the graph."""

    batch_size: int = 0  # the first dim of inputs that leave it open; 0 if unknown
    shapes: Mapping[int, Shape] = {}  # of placeholders, by row
