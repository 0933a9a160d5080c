"""The only writer of a profile: sources add what they read, `build` makes the columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tfprof.columns import (
    Coded,
    Ints,
    NameTable,
    Ragged,
    Shape,
    Shapes,
    Strings,
    constant,
    ints,
    joined,
    offsets_of,
)
from tfprof.model.code import CodeTreeBuilder, Frame
from tfprof.model.devices import Devices
from tfprof.model.ops import AttributeReader, Attributes, Inputs, Ops, OutputShapes, TypeSets
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Recordings, Runs
from tfprof.model.tensors import Tensors


@dataclass(frozen=True, slots=True, eq=False)
class OpColumns:
    """Ops to add, a row each, in the order of their file.

    The inputs of op `i` are those from `input_offsets[i]` to `input_offsets[i + 1]`: the name of
    the op it comes from and its slot, -1 where only the op's end is waited for.
    """

    name: Sequence[str]
    kind: Coded
    input_offsets: Ints
    input_name: Sequence[str]
    input_slot: Ints
    shape: Shapes
    outputs: OutputShapes
    attributes: AttributeReader | None = None

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
    ) -> Self:
        """The columns of a few ops that are stated one by one."""
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
        )

    @classmethod
    def unknown(cls, names: Sequence[str]) -> Self:
        """Ops of which nothing is known but their names."""
        nothing: list[tuple[()]] = [()] * len(names)
        return cls.of(names, names, nothing, [None] * len(names), nothing)


@dataclass(frozen=True, slots=True, eq=False)
class _Defined:
    """Ops as one file defined them, their names and those of their inputs made into ids.

    Where an input is of no op that is known yet, its id is -1 and its name waits in `open_names`.
    """

    count: int
    first: Ints  # the rows that were the first to define theirs
    kind: Coded
    inputs: Ragged
    slots: Ints
    open_edges: Ints
    open_names: Strings
    shape: Shapes
    outputs: OutputShapes
    reader: int


class ProfileBuilder:
    """Takes ops, types, code, tensors and runs in any number of calls, then builds the profile.

    An op is identified by its name; its id is its place in the order of becoming known. What is
    first said of an op stays: a second definition, placement or stack is left aside.
    """

    def __init__(self, *, counts_float_ops: bool = True) -> None:
        self.notes: list[str] = []
        self.recordings = Recordings()
        self._counts_float_ops = counts_float_ops
        self._names = NameTable()
        self._defined: list[_Defined] = []
        self._readers: list[AttributeReader] = []
        self._types: list[tuple[Ints, Coded]] = []
        self._float_ops: list[tuple[Ints, Ints]] = []
        self._code: list[tuple[Ints, Ints]] = []
        self._code_tree = CodeTreeBuilder()
        self._has_code = False
        self._seen_outputs: list[tuple[Ints, OutputShapes]] = []
        self._devices: dict[str, tuple[bool, bool, str]] = {}
        self._placements: list[tuple[Ints, Ints]] = []
        self._covered: list[Ints] = []
        self._lacks_accelerator_time = False
        self._lacks_host_allocations = False
        self._has_exact_times = False
        self._tensors = Tensors.none()

    def __len__(self) -> int:
        return len(self._names)

    def ids(self, names: Iterable[str]) -> Ints:
        """The ids of these ops, -1 where an op is unknown."""
        return self._names.find(names)

    def add_ops(self, columns: OpColumns) -> None:
        """Define ops; a name that is known already keeps its first definition."""
        reader = -1
        if columns.attributes is not None:
            reader = len(self._readers)
            self._readers.append(columns.attributes)
        before = len(self._names)
        ids = self._names.add(columns.name)
        # New ids count on, so each is larger than all before where it is first met.
        known = np.maximum.accumulate(np.concatenate(([before - 1], ids[:-1])))
        sources = self.ids(columns.input_name)
        open_edges = np.flatnonzero(sources < 0)
        self._defined.append(
            _Defined(
                count=len(ids),
                first=np.flatnonzero(ids > known),
                kind=Coded(columns.kind.codes, columns.kind.values.packed()),
                inputs=Ragged(columns.input_offsets, sources),
                slots=columns.input_slot,
                open_edges=open_edges,
                open_names=Strings([columns.input_name[edge] for edge in open_edges.tolist()]),
                shape=columns.shape,
                outputs=columns.outputs,
                reader=reader,
            )
        )

    def ensure_ops(self, names: Sequence[str]) -> Ints:
        """The ids of these ops; one that is unknown is defined by its name alone."""
        unknown = np.flatnonzero(self.ids(names) < 0).tolist()
        if unknown:
            missing = dict.fromkeys(names[place] for place in unknown)
            self.add_ops(OpColumns.unknown(list(missing)))
        return self.ids(names)

    def add_types(self, ops: Sequence[int] | Ints, types: Coded) -> None:
        """Give each of `ops` the type in the same place."""
        self._types.append((ints(ops), Coded(types.codes, types.values.packed())))

    def set_float_ops(self, ops: Sequence[int] | Ints, float_ops: Sequence[int] | Ints) -> None:
        """State the float ops of one run; a later statement replaces an earlier one."""
        self._float_ops.append((ints(ops), ints(float_ops)))

    def mark_has_code(self) -> None:
        """Remember that code lines were logged, even if the stacks turn out to be empty."""
        self._has_code = True

    def add_stack(self, stack: Sequence[Frame]) -> int:
        """The row of a call stack, outermost frame first, for `set_code`."""
        return self._code_tree.add(stack)

    def set_code(self, ops: Sequence[int] | Ints, rows: Sequence[int] | Ints) -> None:
        """Say which call made each of `ops`; the first word on an op stays."""
        self._code.append((ints(ops), ints(rows)))

    def add_device(
        self, name: str, *, is_placement: bool, is_accelerator_lane: bool, host: str
    ) -> int:
        """The code of a device, new or known."""
        self._devices.setdefault(name, (is_placement, is_accelerator_lane, host))
        return list(self._devices).index(name)

    def add_step(self, step: int) -> None:
        self.recordings.add_step(step)

    def mark_covered(self, ops: Ints) -> None:
        """Count these ops as seen running."""
        self._covered.append(ops)

    def mark_lacks_accelerator_time(self) -> None:
        self._lacks_accelerator_time = True

    def mark_lacks_host_allocations(self) -> None:
        self._lacks_host_allocations = True

    def mark_exact_times(self) -> None:
        """State that runs are timed in nanoseconds and not in whole microseconds."""
        self._has_exact_times = True

    def see_outputs(self, ops: Sequence[int] | Ints, outputs: OutputShapes) -> None:
        """Say what shapes each of `ops` put out in a run; the first word on an op stays."""
        self._seen_outputs.append((ints(ops), outputs))

    def settle_float_ops(self) -> None:
        """Let the float ops that were stated be all there are; none are counted from shapes."""
        self._counts_float_ops = False

    def set_tensors(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def place(self, ops: Sequence[int] | Ints, devices: Sequence[int] | Ints) -> None:
        """Say where each of `ops` lives; the first word on an op stays."""
        self._placements.append((ints(ops), ints(devices)))

    def add_runs(self, step: int | Ints, runs: Runs) -> None:
        """Add what was recorded of a step, or of that of each run.

        An op is placed where it is first seen.
        """
        if isinstance(step, int):
            self.add_step(step)
            step = constant(step, len(runs.op))
        devices = self._device_columns()
        if len(devices):
            placing = devices.is_placement[runs.device]
            self.place(runs.op[placing], runs.device[placing])
        home = _first_word(self._placements, len(self), -1)
        self.recordings.add_runs(step, runs, devices, home[runs.op])

    def build(self) -> ProfileColumns:
        """The finished profile; that is the builder's end."""
        names = self._names.texts()
        inputs = [self._resolved(part) for part in self._defined]
        self._names = NameTable()  # one copy of all names is enough
        order = names.order()
        row_of = np.empty(len(names) + 1, np.int64)
        row_of[order] = np.arange(len(names))
        row_of[-1] = -1  # so that the id -1, "unknown", stays -1
        return ProfileColumns(
            ops=self._ops(names, inputs, order, row_of),
            **self.recordings.build(row_of)._asdict(),
            devices=self._device_columns(),
            code=self._code_tree.build(),
            tensors=self._tensors,
            has_code=self._has_code,
            lacks_accelerator_time=self._lacks_accelerator_time,
            lacks_host_allocations=self._lacks_host_allocations,
            has_exact_times=self._has_exact_times,
            covered_ops=self._covered_count(len(names)),
            counts_float_ops=self._counts_float_ops,
        ).freeze()

    def _resolved(self, part: _Defined) -> Ragged:
        """The inputs of ops as ids, those that were open too, now that all ops are known."""
        if not len(part.open_edges):
            return part.inputs
        source = part.inputs.values.copy()
        source[part.open_edges] = self.ids(part.open_names)
        return Ragged(part.inputs.offsets, source)

    def _covered_count(self, count: int) -> int:
        flags = np.zeros(count, np.bool_)
        for ops in self._covered:
            flags[ops] = True
        return int(flags.sum())

    def _device_columns(self) -> Devices:
        facts = list(self._devices.values())
        return Devices(
            name=Strings(self._devices),
            is_placement=np.array([is_placement for is_placement, _, _ in facts], np.bool_),
            is_accelerator_lane=np.array([is_lane for _, is_lane, _ in facts], np.bool_),
            host=Strings([host for _, _, host in facts]),
        )

    def _ops(self, names: Strings, inputs: Sequence[Ragged], order: Ints, row_of: Ints) -> Ops:
        """The columns, taken in the order of names from where each op was first defined."""
        parts = self._defined
        before = offsets_of(ints([part.count for part in parts]))
        definition = joined([part.first + before[i] for i, part in enumerate(parts)])
        rows = definition[order]
        # A second definition of an op is left aside; its kind may be one that no op has.
        kinds = Coded.joined([part.kind for part in parts]).take(rows).compact()
        devices = _first_word(self._placements, len(names), -1)
        float_ops = np.zeros(len(order), np.int64)
        for ops, stated in self._float_ops:
            float_ops[ops] = stated
        return Ops(
            name=names.take(order),
            defined=order,
            kind=kinds,
            types=self._type_sets(kinds, devices[order], row_of),
            inputs=self._inputs(inputs, rows, row_of),
            shape=Shapes.joined([part.shape for part in parts]).take(rows),
            outputs=OutputShapes.joined([part.outputs for part in parts]).take(rows),
            seen_outputs=self._seen(order),
            logged_float_ops=float_ops[order],
            device=devices[order],
            code=_first_word(self._code, len(names), -1)[order],
            attributes=Attributes(
                tuple(self._readers),
                joined([np.full(part.count, part.reader) for part in parts])[rows],
                rows - before[np.searchsorted(before, rows, side="right") - 1],
            ),
        )

    def _inputs(self, inputs: Sequence[Ragged], rows: Ints, row_of: Ints) -> Inputs:
        """The edges, with their sources as rows."""
        sources = [Ragged(part.offsets, row_of[part.values]) for part in inputs]
        slots = [Ragged(part.inputs.offsets, part.slots) for part in self._defined]
        edges = Ragged.joined(sources).take(rows)
        return Inputs(edges.offsets, edges.values, Ragged.joined(slots).take(rows).values)

    def _type_sets(self, kinds: Coded, devices: Ints, row_of: Ints) -> TypeSets:
        """Kind, device and given types of each op."""
        placed = np.flatnonzero(devices >= 0)
        pairs = [
            (np.arange(len(kinds)), kinds),
            (placed, Coded(devices[placed], Strings(self._devices))),
            *((row_of[ops], types) for ops, types in self._types),
        ]
        return TypeSets.of_pairs(pairs, len(kinds))

    def _seen(self, order: Ints) -> OutputShapes:
        """What each op was first seen to put out; nothing where it was not seen."""
        shapes = OutputShapes.joined([outputs for _, outputs in self._seen_outputs])
        ops = joined([ops for ops, _ in self._seen_outputs])
        nothing = OutputShapes.of_rows([()])
        row = _first_word([(ops, np.arange(len(ops)))], len(order), len(ops))
        return OutputShapes.joined([shapes, nothing]).take(row[order])


def _first_word(said: Sequence[tuple[Ints, Ints]], count: int, default: int) -> Ints:
    """For each of so many ops the first value that was said of it, or `default`."""
    values = np.full(count, default)
    for ops, column in reversed(said):
        values[ops[::-1]] = column[::-1]
    return values
