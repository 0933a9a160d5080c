"""A profile: everything known about one model and its recorded steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfprof.columns import Ints, Ragged, Shapes
from tfprof.model.code import CodeTree
from tfprof.model.devices import Devices
from tfprof.model.executions import Allocations, Executions, MemoryUse, OutputMemory, Records
from tfprof.model.ops import Ops
from tfprof.model.tensors import Tensors


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Profile:
    """Columns that never change once loading ends; `ProfileBuilder` is their only writer."""

    ops: Ops
    steps: Ints  # the numbers of the recorded steps, ascending
    records: Records
    executions: Executions
    memory: MemoryUse
    output_memory: OutputMemory
    allocations: Allocations
    devices: Devices
    code: CodeTree
    tensors: Tensors
    has_code: bool  # somebody logged code lines, be it for a single op
    lacks_accelerator_time: bool  # ops ran on an accelerator whose own time was not recorded
    covered_ops: int  # how many ops of the graph a run was seen of
    counts_float_ops: bool  # float ops that no log gives may be counted from shapes

    def check(self) -> None:
        """Raise `AssertionError` where an invariant of the columns does not hold."""
        for offsets, count in self._ragged():
            _require(len(offsets) == count + 1, "a row has its place")
            _require(offsets[0] == 0 and bool(np.all(np.diff(offsets) >= 0)), "rows follow on")
        for codes, limit in self._codes():
            _require(bool(np.all((codes >= -1) & (codes < limit))), "a code names a row")
        _require(all(a < b for a, b in pairwise(self.ops.name)), "ops are in name order")
        keys = list(zip(self.records.op.tolist(), self.records.step.tolist(), strict=True))
        _require(keys == sorted(set(keys)), "records are in order, one an op and step")
        _require(bool(np.all(np.diff(self.executions.record) >= 0)), "executions follow records")
        _require(bool(np.all(np.diff(self.memory.record) >= 0)), "memory follows records")
        _require(set(self.records.step.tolist()) <= set(self.steps.tolist()), "steps are known")
        _require(bool(np.all(self.code.caller < np.arange(len(self.code)))), "callers come first")

    def _ragged(self) -> list[tuple[Ints, int]]:
        ops = self.ops
        shapes: list[Shapes] = [ops.shape, ops.outputs.shape, ops.seen_outputs.shape]
        ragged: list[Ragged] = [ops.types.members, self.records.devices, *(s.dims for s in shapes)]
        return [
            (ops.inputs.offsets, len(ops)),
            (ops.outputs.offsets, len(ops)),
            (ops.seen_outputs.offsets, len(ops)),
            *((column.offsets, len(column)) for column in ragged),
        ]

    def _codes(self) -> list[tuple[Ints, int]]:
        ops = self.ops
        return [
            (ops.kind.codes, len(ops.kind.values)),
            (ops.types.members.values, len(ops.types.names)),
            (ops.inputs.source, len(ops)),
            (ops.device, len(self.devices)),
            (ops.code, len(self.code)),
            (ops.attributes.reader, len(ops.attributes.readers)),
            (self.records.op, len(ops)),
            (self.records.devices.values, len(self.devices)),
            (self.executions.record, len(self.records)),
            (self.executions.device, len(self.devices)),
            (self.memory.record, len(self.records)),
            (self.allocations.record, len(self.records)),
            (self.output_memory.use, len(self.memory)),
        ]


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"broken profile: {what}")
