"""The columns of a profile: everything known about one model and its recorded steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tfprof.columns import Ints, Ragged, Shapes, Strings, ints, offsets_of
from tfprof.errors import MissingInputError
from tfprof.memo import remembered
from tfprof.metrics import Need
from tfprof.model.code import CodeTree
from tfprof.model.devices import Devices
from tfprof.model.executions import (
    Allocations,
    AllocatorEvents,
    AllocatorUses,
    Copies,
    Executions,
    MemoryUse,
    Messages,
    OtherKernels,
    OutputMemory,
    Placements,
    Records,
    Waits,
)
from tfprof.model.kernel_runs import KernelRuns
from tfprof.model.layers import Layers
from tfprof.model.ops import NOT_A_GRADIENT, Ops, OutputShapes, Phase
from tfprof.model.recordings import Recordings, Steps
from tfprof.model.stored_runs import StoredRuns
from tfprof.model.tensors import Tensors

# The default hints on how to provide each capability; sources replace them with their own files.
REMEDIES: Mapping[Need, str] = MappingProxyType(
    {
        Need.DEFINITIONS: "the graph of the model",
        Need.RUNS: "a recording of a run",
        Need.CODE: "a log of code lines",
        Need.LAYERS: "a recording with the layers of the model",
        Need.VALUES: "a checkpoint",
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class ProfileColumns:
    """The columns of a profile, which never change; only `ProfileBuilder` writes them."""

    ops: Ops
    recordings: Recordings
    steps: Steps
    records: Records
    executions: Executions
    memory: MemoryUse
    output_memory: OutputMemory
    allocator_uses: AllocatorUses
    allocator_events: AllocatorEvents
    copies: Copies
    waits: Waits
    messages: Messages
    other_kernels: OtherKernels
    kernel_runs: KernelRuns
    placements: Placements
    devices: Devices
    code: CodeTree
    layers: Layers
    tensors: Tensors
    has_code: bool  # code lines were logged for at least one op
    lacks_accelerator_time: bool  # ops ran on an accelerator, but its own times were not recorded
    lacks_host_allocations: bool  # an input cannot store them
    counts_float_ops: bool  # float ops that were not logged are computed from shapes
    remedies: Mapping[Need, str]  # the files that would provide each capability
    stored_runs: StoredRuns | None = None  # instead of the tables of single runs
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def has(self, need: Need) -> bool:
        """Whether the profile has a capability."""
        return _capabilities(self)[need]

    def require(self, need: Need, why: str) -> None:
        """Raise `MissingInputError` if a capability is missing: `why`, and what provides it."""
        if not self.has(need):
            raise MissingInputError(f"{why}: give {self.remedies[need]}.")

    @property
    def covered_ops(self) -> int:
        """The number of ops in the graph that were seen running."""
        return int(self.ops.is_covered.sum())

    @property
    def allocations(self) -> Allocations:
        """The allocations that belong to records, sorted by record."""
        return _counted_allocations(self)

    @property
    def phase(self) -> Ints:
        """The `Phase` of each op."""
        return _phases(self)

    @property
    def forward_of(self) -> Ints:
        """The forward op of each gradient, or `NOT_A_GRADIENT`, `UNKNOWN_FORWARD`."""
        return _forward_ops(self)

    @property
    def op_devices(self) -> Ragged:
        """The devices that each op is placed on, one per recording in which it ran."""
        return _op_devices(self)

    def home(self, recording: int) -> Ints:
        """The device that each op is placed on in a recording, or -1."""
        return _home(self, recording)

    @property
    def counts_whole_micros(self) -> bool:
        """Whether all times were recorded in microseconds, as in TensorFlow's RunMetadata."""
        return bool(self.recordings.counts_whole_micros.all())

    def freeze(self) -> Self:
        """Make every array read-only, including arrays of which it is a view; returns `self`."""
        for array in _arrays(self):
            array.setflags(write=False)
        return self

    def check(self) -> None:
        """Raise `AssertionError` if an invariant of the columns does not hold."""
        for columns in self._tables():
            _require(len({len(column) for column in columns}) == 1, "columns differ in length")
        for offsets, values in self._ragged():
            _require(len(offsets) > 0 and offsets[0] == 0, "offsets do not start at 0")
            _require(bool(np.all(np.diff(offsets) >= 0)), "offsets are not ascending")
            _require(offsets[-1] == len(values), "offsets do not end at the last value")
        for codes, limit in self._codes():
            _require(bool(np.all((codes >= -1) & (codes < limit))), "a code is out of range")
        _require(all(a < b for a, b in pairwise(self.ops.name)), "ops are not sorted by name")
        order = np.sort(self.ops.defined)
        _require(bool(np.all(order == np.arange(len(self.ops)))), "ops have no definition order")
        is_ordered = bool(np.all(self.ops.part_of < np.arange(len(self.ops))))
        _require(is_ordered, "an op comes before the one that it is part of")
        keys = list(zip(self.records.op.tolist(), self.records.step.tolist(), strict=True))
        _require(keys == sorted(set(keys)), "records are not sorted by op and step")
        for table in (self.executions, self.memory, self.allocations):
            _require(bool(np.all(np.diff(table.record) >= 0)), "rows are not sorted by record")
        labels = list(self.recordings.label)
        _require(len(set(labels)) == len(labels), "two recordings have the same label")
        pairs = list(zip(self.steps.recording.tolist(), self.steps.number.tolist(), strict=True))
        _require(pairs == sorted(set(pairs)), "steps are not sorted by recording and number")
        placed = self.devices.recording[self.placements.device]
        homes = list(zip(self.placements.op.tolist(), placed.tolist(), strict=True))
        _require(homes == sorted(set(homes)), "an op has two devices in a recording")
        is_ordered = bool(np.all(self.code.caller < np.arange(len(self.code))))
        _require(is_ordered, "a call comes before its caller")
        _require(self.layers.is_depth_first(), "layers are not in depth-first order")
        _require(not any(array.flags.writeable for array in _arrays(self)), "an array is writeable")

    def _tables(self) -> list[list[Sized]]:
        """Groups of columns that must have the same length."""
        ops = self.ops
        named: list[Sized] = [ops.name, ops.defined, ops.kind, ops.types.members, ops.shape]
        given: list[Sized] = [
            ops.logged_float_ops,
            ops.code,
            ops.layer,
            ops.part_of,
            ops.is_covered,
        ]
        read: list[Sized] = [ops.origins.input, ops.origins.position]
        rows: list[Sized] = [
            ops.inputs.offsets[1:],
            *(column.offsets[1:] for column in self._shape_lists()),
        ]
        run = (self.records, self.executions, self.memory, self.output_memory, self.copies)
        allocated = (self.allocator_uses, self.allocator_events, self.allocations)
        tables = (
            *run,
            *allocated,
            self.waits,
            self.messages,
            self.other_kernels,
            self.kernel_runs,
            self.recordings,
            self.steps,
            self.placements,
            self.layers,
        )
        return [
            [*named, *given, *read, *rows],
            [ops.inputs.source, ops.inputs.slot],
            *([getattr(table, part.name) for part in fields(table)] for table in tables),
            [getattr(self.devices, part.name) for part in fields(self.devices)],
            [getattr(self.code, part.name) for part in fields(self.code)],
        ]

    def _ragged(self) -> list[tuple[Ints, Sized]]:
        """The offsets of ragged columns, and the values that they split into rows."""
        ops = self.ops
        ragged = [ops.types.members, self.records.devices]
        return [
            (ops.inputs.offsets, ops.inputs.source),
            *((column.offsets, column.shape) for column in self._shape_lists()),
            *((column.offsets, column.values) for column in ragged),
        ]

    def _shape_lists(self) -> tuple[OutputShapes, ...]:
        return self.ops.outputs, self.ops.seen_outputs, self.ops.stated_inputs

    def _shapes(self) -> list[Shapes]:
        lists, kernels = (column.shape for column in self._shape_lists()), self.kernel_runs
        return [self.ops.shape, *lists, self.layers.output_shape, kernels.grid, kernels.block]

    def _codes(self) -> list[tuple[Ints, int]]:
        """Columns that refer to rows of a table, and the number of rows of that table."""
        ops = self.ops
        return [
            (ops.kind.codes, len(ops.kind.values)),
            (ops.types.members.values, len(ops.types.names)),
            (ops.inputs.source, len(ops)),
            *((column.codes, len(column.values)) for column in self._shapes()),
            (ops.code, len(self.code)),
            (ops.layer, len(self.layers)),
            (ops.part_of, len(ops)),
            (self.layers.parent, len(self.layers)),
            (self.layers.home, len(self.layers)),
            (self.layers.kind.codes, len(self.layers.kind.values)),
            (ops.origins.input, len(ops.origins.inputs)),
            (self.steps.recording, len(self.recordings)),
            (self.devices.recording, len(self.recordings)),
            (self.placements.op, len(ops)),
            (self.placements.device, len(self.devices)),
            (self.records.op, len(ops)),
            (self.records.step, len(self.steps)),
            (self.records.devices.values, len(self.devices)),
            (self.executions.record, len(self.records)),
            (self.executions.device, len(self.devices)),
            (self.memory.record, len(self.records)),
            (self.allocator_uses.op, len(ops)),
            (self.allocator_uses.step, len(self.steps)),
            (self.allocator_uses.device, len(self.devices)),
            (self.allocator_uses.allocator.codes, len(self.allocator_uses.allocator.values)),
            (self.allocator_uses.record, len(self.records)),
            (self.allocator_events.use, len(self.allocator_uses)),
            (self.output_memory.use, len(self.memory)),
            (self.copies.record, len(self.records)),
            (self.copies.device, len(self.devices)),
            (self.copies.step, len(self.steps)),
            (self.copies.name.codes, len(self.copies.name.values)),
            (self.waits.step, len(self.steps)),
            (self.messages.op, len(ops)),
            (self.messages.step, len(self.steps)),
            (self.messages.kind.codes, len(self.messages.kind.values)),
            (self.messages.group.codes, len(self.messages.group.values)),
            (self.other_kernels.op, len(ops)),
            (self.other_kernels.recording, len(self.recordings)),
            (self.other_kernels.kind.codes, len(self.other_kernels.kind.values)),
            (self.kernel_runs.op, len(ops)),
            (self.kernel_runs.step, len(self.steps)),
            (self.kernel_runs.device, len(self.devices)),
            (self.kernel_runs.name.codes, len(self.kernel_runs.name.values)),
        ]


@remembered
def _counted_allocations(profile: ProfileColumns) -> Allocations:
    events = profile.allocator_events
    record = profile.allocator_uses.record[events.use]
    rows = np.flatnonzero(record >= 0)
    rows = rows[np.argsort(record[rows], kind="stable")]
    return Allocations(ints(record[rows]), ints(events.time_ns[rows]), ints(events.bytes[rows]))


@remembered
def _capabilities(profile: ProfileColumns) -> dict[Need, bool]:
    return {
        Need.DEFINITIONS: bool(profile.ops.is_defined.any()),
        Need.RUNS: len(profile.steps) > 0,
        Need.CODE: profile.has_code,
        Need.LAYERS: any(profile.layers.kind.values),
        Need.VALUES: len(profile.tensors) > 0 and profile.tensors.has_values,
    }


@remembered
def _op_devices(profile: ProfileColumns) -> Ragged:
    placed = profile.placements
    counts = np.bincount(placed.op, minlength=len(profile.ops))
    return Ragged(offsets_of(counts), placed.device)


@remembered
def _home(profile: ProfileColumns, recording: int) -> Ints:
    placed = profile.placements
    home = np.full(len(profile.ops), -1)
    rows = profile.devices.recording[placed.device] == recording
    home[placed.op[rows]] = placed.device[rows]
    return ints(home)


@remembered
def _phases(profile: ProfileColumns) -> Ints:
    return _stated(profile, "phases", Phase.FORWARD)


@remembered
def _forward_ops(profile: ProfileColumns) -> Ints:
    return _stated(profile, "forward_of", NOT_A_GRADIENT)


def _stated(profile: ProfileColumns, fact: str, default: int) -> Ints:
    """A fact about each op, from the input that defined it."""
    origins = profile.ops.origins
    found = np.full(len(profile.ops), default)
    for place, origin in enumerate(origins.inputs):
        if origin.conventions is not None:
            rows = np.flatnonzero(origins.input == place)
            found[rows] = getattr(origin.conventions, fact)(profile.ops, rows)
    return ints(found)


def _arrays(holder: object) -> Iterator[npt.NDArray[Any]]:
    """Every array in a column or a table of columns, and the arrays of which these are views."""
    if isinstance(holder, np.ndarray):
        yield holder
        yield from _arrays(holder.base)
    elif isinstance(holder, Strings):
        yield from (*_arrays(holder.starts), *_arrays(holder.ends))
    elif is_dataclass(holder):
        for part in fields(holder):
            yield from _arrays(getattr(holder, part.name))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(f"broken profile: {otherwise}")
