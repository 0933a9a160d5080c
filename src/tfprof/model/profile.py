"""A profile: everything known about one model and its recorded steps."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tfprof.columns import Ints, Shapes, ints
from tfprof.memo import remembered
from tfprof.model.code import CodeTree
from tfprof.model.devices import Devices
from tfprof.model.executions import (
    Allocations,
    AllocatorEvents,
    AllocatorUses,
    Copies,
    Executions,
    MemoryUse,
    OutputMemory,
    Records,
)
from tfprof.model.ops import Ops
from tfprof.model.tensors import Tensors


@dataclass(frozen=True, slots=True, eq=False)
class ProfileColumns:
    """Columns that never change once loading ends; `ProfileBuilder` is their only writer."""

    ops: Ops
    steps: Ints  # the numbers of the recorded steps, ascending
    records: Records
    executions: Executions
    memory: MemoryUse
    output_memory: OutputMemory
    allocator_uses: AllocatorUses
    allocator_events: AllocatorEvents
    copies: Copies
    devices: Devices
    code: CodeTree
    tensors: Tensors
    has_code: bool  # somebody logged code lines, be it for a single op
    lacks_accelerator_time: bool  # ops ran on an accelerator whose own time was not recorded
    lacks_host_allocations: bool  # a file was read that cannot tell of them
    has_exact_times: bool  # runs are timed in nanoseconds, not in whole microseconds
    covered_ops: int  # how many ops of the graph a run was seen of
    counts_float_ops: bool  # float ops that no log gives may be counted from shapes
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def allocations(self) -> Allocations:
        """The allocations that records count, by record."""
        return _counted_allocations(self)

    def freeze(self) -> Self:
        """This profile, with every array of it made read-only."""
        for array in _arrays(self):
            array.setflags(write=False)
        return self

    def check(self) -> None:
        """Raise `AssertionError` where an invariant of the columns does not hold."""
        for columns in self._tables():
            _require(len({len(column) for column in columns}) == 1, "columns are equally long")
        for offsets, values in self._ragged():
            _require(len(offsets) > 0 and offsets[0] == 0, "rows begin at the first value")
            _require(bool(np.all(np.diff(offsets) >= 0)), "rows follow on")
            _require(offsets[-1] == len(values), "every value belongs to a row")
        for codes, limit in self._codes():
            _require(bool(np.all((codes >= -1) & (codes < limit))), "a code names a row")
        _require(all(a < b for a, b in pairwise(self.ops.name)), "ops are in name order")
        known = np.sort(self.ops.defined)
        _require(bool(np.all(known == np.arange(len(self.ops)))), "ops became known one by one")
        keys = list(zip(self.records.op.tolist(), self.records.step.tolist(), strict=True))
        _require(keys == sorted(set(keys)), "records are in order, one an op and step")
        for table in (self.executions, self.memory, self.allocations):
            _require(bool(np.all(np.diff(table.record) >= 0)), "rows follow their records")
        _require(bool(np.all(np.diff(self.steps) > 0)), "steps are ascending")
        _require(set(self.records.step.tolist()) <= set(self.steps.tolist()), "steps are known")
        _require(bool(np.all(self.code.caller < np.arange(len(self.code)))), "callers come first")
        _require(not any(array.flags.writeable for array in _arrays(self)), "nobody can write")

    def _tables(self) -> list[list[Sized]]:
        """Columns that have a row for each of the same things."""
        ops = self.ops
        named: list[Sized] = [ops.name, ops.defined, ops.kind, ops.types.members, ops.shape]
        given: list[Sized] = [ops.logged_float_ops, ops.device, ops.code]
        read: list[Sized] = [ops.attributes.reader, ops.attributes.position]
        rows: list[Sized] = [
            table.offsets[1:] for table in (ops.inputs, ops.outputs, ops.seen_outputs)
        ]
        run = (self.records, self.executions, self.memory, self.output_memory, self.copies)
        tables = (*run, self.allocator_uses, self.allocator_events, self.allocations)
        return [
            [*named, *given, *read, *rows],
            [ops.inputs.source, ops.inputs.slot],
            *([getattr(table, part.name) for part in fields(table)] for table in tables),
            [getattr(self.devices, part.name) for part in fields(self.devices)],
            [getattr(self.code, part.name) for part in fields(self.code)],
        ]

    def _ragged(self) -> list[tuple[Ints, Sized]]:
        """Where rows begin and end, and the values they share out."""
        ops = self.ops
        ragged = [ops.types.members, self.records.devices]
        return [
            (ops.inputs.offsets, ops.inputs.source),
            (ops.outputs.offsets, ops.outputs.shape),
            (ops.seen_outputs.offsets, ops.seen_outputs.shape),
            *((column.offsets, column.values) for column in ragged),
        ]

    def _shapes(self) -> list[Shapes]:
        return [self.ops.shape, self.ops.outputs.shape, self.ops.seen_outputs.shape]

    def _codes(self) -> list[tuple[Ints, int]]:
        ops = self.ops
        return [
            (ops.kind.codes, len(ops.kind.values)),
            (ops.types.members.values, len(ops.types.names)),
            (ops.inputs.source, len(ops)),
            *((column.codes, len(column.values)) for column in self._shapes()),
            (ops.device, len(self.devices)),
            (ops.code, len(self.code)),
            (ops.attributes.reader, len(ops.attributes.readers)),
            (self.records.op, len(ops)),
            (self.records.devices.values, len(self.devices)),
            (self.executions.record, len(self.records)),
            (self.executions.device, len(self.devices)),
            (self.memory.record, len(self.records)),
            (self.allocator_uses.op, len(ops)),
            (self.allocator_uses.device, len(self.devices)),
            (self.allocator_uses.allocator.codes, len(self.allocator_uses.allocator.values)),
            (self.allocator_uses.record, len(self.records)),
            (self.allocator_events.use, len(self.allocator_uses)),
            (self.output_memory.use, len(self.memory)),
            (self.copies.device, len(self.devices)),
            (self.copies.name.codes, len(self.copies.name.values)),
        ]


@remembered
def _counted_allocations(profile: ProfileColumns) -> Allocations:
    events = profile.allocator_events
    record = profile.allocator_uses.record[events.use]
    rows = np.flatnonzero(record >= 0)
    rows = rows[np.argsort(record[rows], kind="stable")]
    return Allocations(ints(record[rows]), ints(events.time_ns[rows]), ints(events.bytes[rows]))


def _arrays(holder: object) -> Iterator[npt.NDArray[Any]]:
    """Every array that a column, or a table of columns, is made of."""
    if isinstance(holder, np.ndarray):
        yield holder
    elif is_dataclass(holder):
        for part in fields(holder):
            yield from _arrays(getattr(holder, part.name))


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"broken profile: {what}")
