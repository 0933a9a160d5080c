"""The only writer of a profile: sources add what they read, `build` makes the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from tfprof.columns import (
    Bools,
    Coded,
    Ints,
    Ragged,
    Shapes,
    Strings,
    ints,
    offsets_of,
)
from tfprof.model.code import CodeTreeBuilder, Frame
from tfprof.model.devices import Devices
from tfprof.model.executions import (
    MEMORY_FACTS,
    Allocations,
    Executions,
    MemoryUse,
    OutputMemory,
    Records,
)
from tfprof.model.ops import AttributeReader, Attributes, Inputs, Ops, OutputShapes, TypeSets
from tfprof.model.profile import Profile
from tfprof.model.tensors import Tensors

Shape = tuple[int, ...] | None
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class OpBatch:
    """Ops to add, in the order of their file; all sequences have an entry an op."""

    names: Sequence[str]
    kinds: Sequence[str]
    inputs: Sequence[Sequence[tuple[str, int]]]  # (name of the source, its slot; -1 for control)
    shapes: Sequence[Shape]
    outputs: Sequence[Sequence[Shape]]
    attributes: AttributeReader | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of ops in one step, in the order they were recorded; a start of 0 is no start.

    `op` holds ids as `ProfileBuilder.ids` gives them, `memory` a column for each name of
    `MEMORY_FACTS`. Outputs and allocations name the run they belong to.
    """

    op: Ints
    device: Ints
    start: Ints
    duration: Ints
    memory: Mapping[str, Ints]
    output_run: Ints
    output_slot: Ints
    output_bytes: Ints
    output_address: Ints
    allocation_run: Ints
    allocation_micros: Ints
    allocation_bytes: Ints


@dataclass(slots=True)
class _Collected:
    """Columns in the making: a list of pieces for each, joined when the profile is built."""

    pieces: dict[str, list[Ints]] = field(default_factory=dict)

    def add(self, **columns: Ints) -> None:
        for name, column in columns.items():
            self.pieces.setdefault(name, []).append(np.asarray(column, np.int64))

    def column(self, name: str) -> Ints:
        pieces = self.pieces.get(name)
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)

    def count(self, name: str) -> int:
        return sum(len(piece) for piece in self.pieces.get(name, ()))


class ProfileBuilder:
    """Takes ops, types, code, tensors and runs in any number of calls, then builds the profile.

    An op is identified by its name; its id is its place in the order of becoming known. What is
    first said of an op stays: a second definition, placement or stack is left aside.
    """

    def __init__(self, *, counts_float_ops: bool = True) -> None:
        self.notes: list[str] = []
        self._counts_float_ops = counts_float_ops
        self._ids: dict[str, int] = {}
        self._kinds: list[str] = []
        self._inputs: list[Sequence[tuple[str, int]]] = []
        self._shapes: list[Shape] = []
        self._outputs: list[Sequence[Shape]] = []
        self._readers: list[AttributeReader] = []
        self._reader: list[int] = []
        self._position: list[int] = []
        self._extra_types: dict[int, set[str]] = {}
        self._float_ops: dict[int, int] = {}
        self._code: dict[int, int] = {}
        self._code_tree = CodeTreeBuilder()
        self._has_code = False
        self._seen_outputs: dict[int, Sequence[Shape]] = {}
        self._devices: dict[str, tuple[bool, bool, str]] = {}
        self._placement: dict[int, int] = {}
        self._steps: set[int] = set()
        self._sightings = _Collected()
        self._slots = _Collected()
        self._uses = _Collected()
        self._output_memory = _Collected()
        self._allocations = _Collected()
        self._covered: set[int] = set()
        self._lacks_accelerator_time = False
        self._tensors = Tensors.none()

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self, names: Iterable[str]) -> list[int]:
        """The ids of these ops, -1 where an op is unknown."""
        known = self._ids
        return [known.get(name, -1) for name in names]

    def add_ops(self, batch: OpBatch) -> None:
        """Define ops; a name that is known already keeps its first definition."""
        reader = -1
        if batch.attributes is not None:
            reader = len(self._readers)
            self._readers.append(batch.attributes)
        known = self._ids
        for position, name in enumerate(batch.names):
            if name in known:
                continue
            known[name] = len(known)
            self._kinds.append(batch.kinds[position])
            self._inputs.append(batch.inputs[position])
            self._shapes.append(batch.shapes[position])
            self._outputs.append(batch.outputs[position])
            self._reader.append(reader)
            self._position.append(position)

    def ensure_ops(self, names: Sequence[str]) -> list[int]:
        """The ids of these ops; one that is unknown is defined by its name alone."""
        missing = list(dict.fromkeys(name for name in names if name not in self._ids))
        nothing: list[tuple[()]] = [()] * len(missing)
        self.add_ops(OpBatch(missing, missing, nothing, [None] * len(missing), nothing))
        return self.ids(names)

    def add_types(self, op: int, types: Iterable[str]) -> None:
        self._extra_types.setdefault(op, set()).update(types)

    def set_float_ops(self, op: int, float_ops: int) -> None:
        """State the float ops of one run; a later statement replaces an earlier one."""
        self._float_ops[op] = float_ops

    def mark_has_code(self) -> None:
        """Remember that code lines were logged, even if the stacks turn out to be empty."""
        self._has_code = True

    def add_stack(self, stack: Sequence[Frame]) -> int:
        """The row of a call stack, outermost frame first, for `set_code`."""
        return self._code_tree.add(stack)

    def set_code(self, op: int, row: int) -> None:
        """Say which call made `op`; the first word on it stays."""
        self._code.setdefault(op, row)

    def add_device(
        self, name: str, *, is_placement: bool, is_accelerator_lane: bool, host: str
    ) -> int:
        """The code of a device, new or known."""
        self._devices.setdefault(name, (is_placement, is_accelerator_lane, host))
        return list(self._devices).index(name)

    def add_step(self, step: int) -> None:
        self._steps.add(step)

    def mark_covered(self, ops: Iterable[int]) -> None:
        """Count these ops as seen running."""
        self._covered.update(ops)

    def mark_lacks_accelerator_time(self) -> None:
        self._lacks_accelerator_time = True

    def see_outputs(self, op: int, shapes: Sequence[Shape]) -> None:
        """Say what shapes a run put out; the first run that tells them all is remembered."""
        self._seen_outputs.setdefault(op, shapes)

    def settle_float_ops(self) -> None:
        """Let the float ops that were stated be all there are; none are counted from shapes."""
        self._counts_float_ops = False

    def set_tensors(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def place(self, op: int, device: int) -> None:
        """Say where an op lives; the first word on it stays."""
        self._placement.setdefault(op, device)

    def add_runs(self, step: int, runs: Runs) -> None:
        """Add what was recorded of a step; runs away from an op's own device are dropped."""
        self.add_step(step)
        devices = self._device_columns()
        on_placement = devices.is_placement[runs.device] if len(devices) else runs.device < 0
        for run in np.flatnonzero(on_placement).tolist():
            self.place(int(runs.op[run]), int(runs.device[run]))
        home = np.fromiter((self._placement.get(op, -1) for op in runs.op.tolist()), np.int64)
        kept = ~on_placement | (home == runs.device)
        timed = kept & (runs.start != 0)
        on_lane = devices.is_accelerator_lane[runs.device] if len(devices) else on_placement
        steps = np.full(len(runs.op), step)
        self.add_sightings(
            op=runs.op[kept],
            step=steps[kept],
            device=runs.device[kept],
            start=runs.start[kept],
            end=np.where(timed, runs.start + runs.duration, 0)[kept],
            # Time on a lane is not another run, not even on one that is named like a device.
            runs=(timed & on_placement & ~on_lane)[kept],
        )
        chosen = np.flatnonzero(timed & (on_placement | on_lane))
        self.add_slots(
            op=runs.op[chosen],
            step=steps[chosen],
            device=runs.device[chosen],
            start=runs.start[chosen],
            duration=runs.duration[chosen],
        )
        self._add_memory(step, runs, timed & on_placement)

    def _add_memory(self, step: int, runs: Runs, is_counted: Bools) -> None:
        chosen = np.flatnonzero(is_counted)
        place = np.full(len(runs.op), -1)
        place[chosen] = np.arange(len(chosen)) + self._uses.count("op")
        self.add_memory(
            op=runs.op[chosen],
            step=np.full(len(chosen), step),
            **{fact: runs.memory[fact][chosen] for fact in MEMORY_FACTS},
        )
        kept = place[runs.output_run] >= 0
        self.add_output_memory(
            use=place[runs.output_run][kept],
            slot=runs.output_slot[kept],
            bytes=runs.output_bytes[kept],
            address=runs.output_address[kept],
        )
        kept = place[runs.allocation_run] >= 0
        self.add_allocations(
            op=runs.op[runs.allocation_run][kept],
            step=np.full(int(kept.sum()), step),
            micros=runs.allocation_micros[kept],
            bytes=runs.allocation_bytes[kept],
        )

    def add_sightings(self, **columns: Ints) -> None:
        """Add columns op, step, device, start, end, runs: each makes or widens a record."""
        self._sightings.add(**columns)

    def add_slots(self, **columns: Ints) -> None:
        """Add columns op, step, device, start, duration of runs whose ops were sighted."""
        self._slots.add(**columns)

    def add_memory(self, **columns: Ints) -> None:
        """Add columns op, step and `MEMORY_FACTS` of runs whose ops were sighted."""
        self._uses.add(**columns)

    def memory_count(self) -> int:
        """How many rows of memory there are so far: the place of the next."""
        return self._uses.count("op")

    def add_output_memory(self, **columns: Ints) -> None:
        """Add columns use, slot, bytes, address; `use` counts the rows of `add_memory`."""
        self._output_memory.add(**columns)

    def add_allocations(self, **columns: Ints) -> None:
        """Add columns op, step, micros, bytes of ops that were sighted."""
        self._allocations.add(**columns)

    def build(self) -> Profile:
        """The finished profile."""
        names = list(self._ids)
        # Python orders text by code point, which is the byte order of UTF-8.
        order = sorted(range(len(names)), key=names.__getitem__)
        row_of = np.empty(len(names) + 1, np.int64)
        row_of[order] = np.arange(len(names))
        row_of[-1] = -1  # so that the id -1, "unknown", stays -1
        steps = ints(sorted(self._steps))
        records, record_of = self._records(row_of, steps)
        memory, use_of = self._memory(row_of, record_of)
        return Profile(
            ops=self._ops(names, order, row_of),
            steps=steps,
            records=records,
            executions=self._executions(row_of, record_of),
            memory=memory,
            output_memory=OutputMemory(
                use=ints(use_of[self._output_memory.column("use")]),
                slot=ints(self._output_memory.column("slot")),
                bytes=ints(self._output_memory.column("bytes")),
                address=ints(self._output_memory.column("address")),
            ),
            allocations=self._allocation_columns(row_of, record_of),
            devices=self._device_columns(),
            code=self._code_tree.build(),
            tensors=self._tensors,
            has_code=self._has_code,
            lacks_accelerator_time=self._lacks_accelerator_time,
            covered_ops=len(self._covered),
            counts_float_ops=self._counts_float_ops,
        )

    def _device_columns(self) -> Devices:
        facts = list(self._devices.values())
        return Devices(
            name=Strings(list(self._devices)),
            is_placement=np.array([is_placement for is_placement, _, _ in facts], np.bool_),
            is_accelerator_lane=np.array([is_lane for _, is_lane, _ in facts], np.bool_),
            host=Strings([host for _, _, host in facts]),
        )

    def _ops(self, names: list[str], order: list[int], row_of: Ints) -> Ops:
        """Columns in the order of ids, then taken in the order of names."""
        rows = ints(order)
        kinds = Coded.of(self._kinds)
        return Ops(
            name=Strings([names[op] for op in order]),
            defined=rows,
            kind=Coded(kinds.codes[rows], kinds.values),
            types=self._types(kinds, row_of),
            inputs=self._input_columns(rows, row_of),
            shape=Shapes.of(self._shapes).take(rows),
            outputs=_output_shapes(self._outputs, rows),
            seen_outputs=_output_shapes(_spread(self._seen_outputs, len(rows), ()), rows),
            logged_float_ops=ints(_spread(self._float_ops, len(rows), 0))[rows],
            device=ints(_spread(self._placement, len(rows), -1))[rows],
            code=ints(_spread(self._code, len(rows), -1))[rows],
            attributes=Attributes(
                tuple(self._readers), ints(self._reader)[rows], ints(self._position)[rows]
            ),
        )

    def _input_columns(self, rows: Ints, row_of: Ints) -> Inputs:
        edges = [edge for row in self._inputs for edge in row]
        sources = ints(self.ids(source for source, _ in edges))
        offsets = offsets_of(ints([len(row) for row in self._inputs]))
        source = Ragged(offsets, row_of[sources]).take(rows)
        slot = Ragged(offsets, ints([slot for _, slot in edges])).take(rows)
        return Inputs(source.offsets, source.values, slot.values)

    def _types(self, kinds: Coded, row_of: Ints) -> TypeSets:
        """Kind, device and extra types of each op: pairs of an op and a type, each pair once."""
        extra = [(op, name) for op, found in self._extra_types.items() for name in found]
        placed = list(self._placement.items())
        names = sorted({*kinds.values, *self._devices, *(name for _, name in extra)})
        code = {name: place for place, name in enumerate(names)}
        kind_codes = ints([code[name] for name in kinds.values])
        device_codes = ints([code[name] for name in self._devices])
        ops = np.concatenate(
            (
                np.arange(len(kinds)),
                ints([op for op, _ in placed]),
                ints([op for op, _ in extra]),
            )
        )
        types = np.concatenate(
            (
                kind_codes[kinds.codes],
                device_codes[ints([device for _, device in placed])],
                ints([code[name] for _, name in extra]),
            )
        )
        keys = np.unique(row_of[ops] * max(len(names), 1) + types)
        owner, value = np.divmod(keys, max(len(names), 1))
        lengths = np.bincount(owner, minlength=len(kinds))
        return _used_types(Ragged(offsets_of(lengths), value), names)

    def _records(self, row_of: Ints, steps: Ints) -> tuple[Records, _RecordFinder]:
        """The records, and which record an op and a step have."""
        seen = self._sightings
        keys = _record_keys(row_of[seen.column("op")], seen.column("step"), steps)
        order = np.argsort(keys, kind="stable")
        found, starts, owner = np.unique(keys[order], return_index=True, return_inverse=True)
        start, end = seen.column("start")[order], seen.column("end")[order]
        never = np.iinfo(np.int64).max
        first = np.full(len(found), never)
        np.minimum.at(first, owner, np.where(start == 0, never, start))
        last = np.zeros(len(found), np.int64)
        np.maximum.at(last, owner, end)
        runs = np.zeros(len(found), np.int64)
        np.add.at(runs, owner, seen.column("runs")[order])
        records = Records(
            op=ints(row_of[seen.column("op")][order][starts]),
            step=ints(seen.column("step")[order][starts]),
            runs=ints(runs),
            first_start=ints(np.where(first == never, 0, first)),
            last_end=ints(last),
            devices=_distinct_by_owner(owner, seen.column("device")[order], len(found)),
        )
        return records, _RecordFinder(found, steps)

    def _executions(self, row_of: Ints, record_of: _RecordFinder) -> Executions:
        slots = self._slots
        record = record_of(row_of[slots.column("op")], slots.column("step"))
        order = np.argsort(record, kind="stable")
        return Executions(
            record=ints(record[order]),
            device=ints(slots.column("device")[order]),
            start=ints(slots.column("start")[order]),
            duration=ints(slots.column("duration")[order]),
        )

    def _memory(self, row_of: Ints, record_of: _RecordFinder) -> tuple[MemoryUse, Ints]:
        """The memory of runs, and where each row as it was added stands now."""
        uses = self._uses
        record = record_of(row_of[uses.column("op")], uses.column("step"))
        order = np.argsort(record, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        facts = {fact: ints(uses.column(fact)[order]) for fact in MEMORY_FACTS}
        return MemoryUse(record=ints(record[order]), **facts), place

    def _allocation_columns(self, row_of: Ints, record_of: _RecordFinder) -> Allocations:
        rows = self._allocations
        record = record_of(row_of[rows.column("op")], rows.column("step"))
        order = np.argsort(record, kind="stable")
        return Allocations(
            record=ints(record[order]),
            micros=ints(rows.column("micros")[order]),
            bytes=ints(rows.column("bytes")[order]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _RecordFinder:
    """Finds the record of an op in a step."""

    keys: Ints
    steps: Ints

    def __call__(self, op: Ints, step: Ints) -> Ints:
        return np.searchsorted(self.keys, _record_keys(op, step, self.steps))


def _record_keys(op: Ints, step: Ints, steps: Ints) -> Ints:
    """One number for each op and step that sorts by op, then step."""
    return op * max(len(steps), 1) + np.searchsorted(steps, step)


def _distinct_by_owner(owner: Ints, value: Ints, owners: int) -> Ragged:
    """For each owner the distinct values it has, -1 left out, ascending."""
    kept = value >= 0
    pairs = np.unique(np.stack((owner[kept], value[kept])), axis=1)
    lengths = np.bincount(pairs[0], minlength=owners)
    return Ragged(offsets_of(lengths), pairs[1])


def _output_shapes(outputs: Sequence[Sequence[Shape]], rows: Ints) -> OutputShapes:
    """The shapes of each op's outputs, the ops in the order of `rows`."""
    flat = Shapes.of([shape for shapes in outputs for shape in shapes])
    offsets = offsets_of(ints([len(shapes) for shapes in outputs]))
    chosen = Ragged(offsets, np.arange(len(flat))).take(rows)
    return OutputShapes(chosen.offsets, flat.take(chosen.values))


def _used_types(members: Ragged, names: list[str]) -> TypeSets:
    """The sets with only such names as occur in them: a device may have run nothing that stayed."""
    used, codes = np.unique(members.values, return_inverse=True)
    return TypeSets(
        Ragged(members.offsets, codes), Strings([names[code] for code in used.tolist()])
    )


def _spread(known: Mapping[int, Value], count: int, default: Value) -> list[Value]:
    """What is known of each of the ids below `count`."""
    values = [default] * count
    for number, value in known.items():
        values[number] = value
    return values
