"""RunMetadata: the recording of one traced run, decoded into columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfprof.columns import Coded, Ints, Shapes, Strings, ints
from tfprof.columns import Shape as Dims
from tfprof.formats.graph_def import ShapeReader
from tfprof.formats.messages import Message
from tfprof.formats.records import Records
from tfprof.formats.scan_plan import (
    Bytes,
    Checked,
    Code,
    Fields,
    Inside,
    Name,
    Number,
    Plan,
    Rows,
    Shape,
)
from tfprof.formats.scanned import Scanned, scanned_or_parsed
from tfprof.formats.wire import SPAN, signed

RUN_METADATA = "tensorflow.RunMetadata"
_STATS = "tensorflow.NodeExecStats"


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """One entry per run of a node, in file order; the tables below refer to these entries."""

    has_step_stats: bool
    devices: list[str]
    device: Ints
    name: Strings  # of the node; anything a runtime appends after a `:` is dropped
    start_micros: Ints
    end_rel_micros: Ints
    start_nanos: Ints  # 0 if the program did not record nanoseconds
    end_rel_nanos: Ints
    temp_bytes: Ints
    persistent_bytes: Ints
    allocators: AllocatorColumns
    allocations: AllocationColumns
    outputs: OutputColumns


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorColumns:
    """One row per allocator used by a run."""

    entry: Ints
    name: Coded
    total: Ints
    peak: Ints
    live: Ints
    in_use: Ints


@dataclass(frozen=True, slots=True, eq=False)
class AllocationColumns:
    """One row per allocation or release; `allocator` is a row of `AllocatorColumns`."""

    allocator: Ints
    micros: Ints
    bytes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class OutputColumns:
    """One row per output; sizes and address are 0 if its memory is not described."""

    entry: Ints
    slot: Ints
    has_memory: Ints
    requested: Ints
    allocated: Ints
    address: Ints
    shape: Shapes


def decode(records: Records) -> RunColumns:
    """All entries of all devices, in file order."""
    return scanned_or_parsed(records, _scanned, _parsed)


_ALLOCATOR: Fields = {
    1: Code("name"),
    2: Number("total"),
    3: Number("peak"),
    4: Number("live"),
    5: Number("in_use"),
    6: Rows("allocation", {1: Number("micros"), 2: Number("bytes")}, has_owner=True),
}
_MEMORY: Fields = {
    1: Number("requested"),
    2: Number("allocated"),
    3: Checked(),
    6: Number("address"),
}
_TENSOR: Fields = {2: Shape("dim"), 4: Inside(_MEMORY, mark="has_memory")}
_OUTPUT: Fields = {1: Number("slot", is_short=True), 3: Inside(_TENSOR, mark="is_described")}
_ENTRY: Fields = {
    1: Name("name"),
    2: Number("start_micros"),
    4: Number("end_rel_micros"),
    6: Rows("allocator", _ALLOCATOR, has_owner=True),
    7: Rows("output", _OUTPUT, has_owner=True),
    8: Checked(),
    # Protobuf merges repeated occurrences of this message; so does `Inside` without a mark.
    12: Inside({1: Number("temp_bytes"), 3: Number("persistent_bytes")}),
    13: Number("start_nanos"),
    15: Number("end_rel_nanos"),
}
_DEVICE: Fields = {1: Bytes("name"), 2: Rows("entry", _ENTRY, has_owner=True)}
_PLAN = Plan({1: Rows("step", {1: Rows("device", _DEVICE)})})


def _scanned(data: bytes) -> RunColumns | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    return RunColumns(
        has_step_stats=len(found["step.device"]) > 1,
        devices=[device_name(name) for name in found.pieces("device.name")],
        device=found["entry.owner"],
        name=found.strings("entry.name"),
        start_micros=found["entry.start_micros"],
        end_rel_micros=found["entry.end_rel_micros"],
        start_nanos=found["entry.start_nanos"],
        end_rel_nanos=found["entry.end_rel_nanos"],
        temp_bytes=found["entry.temp_bytes"],
        persistent_bytes=found["entry.persistent_bytes"],
        allocators=AllocatorColumns(
            entry=found["allocator.owner"],
            name=found.coded("allocator.name"),
            total=found["allocator.total"],
            peak=found["allocator.peak"],
            live=found["allocator.live"],
            in_use=found["allocator.in_use"],
        ),
        allocations=AllocationColumns(
            allocator=found["allocation.owner"],
            micros=found["allocation.micros"],
            bytes=found["allocation.bytes"],
        ),
        outputs=OutputColumns(
            entry=found["output.owner"],
            slot=found["output.slot"],
            has_memory=found.marks("output.has_memory"),
            requested=found["output.requested"],
            allocated=found["output.allocated"],
            address=found["output.address"],
            shape=found.shapes("output", "dim"),
        ),
    )


def device_name(encoded: bytes) -> str:
    """The name of a device, with invalid UTF-8 replaced."""
    return encoded.decode("utf-8", "replace")


def _parsed(records: Records) -> RunColumns:
    found = _Found(records.path)
    has_step_stats = False
    for step_start, step_end in records.spans(1):
        has_step_stats = True
        for device, entries in parsed_devices(records, step_start, step_end):
            found.devices.append(device)
            for entry in entries:
                found.add(entry)
    return found.columns(has_step_stats=has_step_stats)


def parsed_devices(
    records: Records, start: int, end: int
) -> Iterator[tuple[str, Iterator[Message]]]:
    """The devices of the StepStats from byte `start` to `end`, each with its entries."""
    for device_start, device_end in records.spans(1, start, end):
        name, spans = "", []
        for number, kind, first, last in records.fields(device_start, device_end):
            if (number, kind) == (1, SPAN):
                name = device_name(records.data[first:last])
            elif (number, kind) == (2, SPAN):
                spans.append((first, last))
        yield name, (records.parse(_STATS, *span) for span in spans)


class _Found:
    """Collects the rows of all columns."""

    def __init__(self, path: str) -> None:
        self.devices: list[str] = []
        self.names: list[str] = []
        self.entries: list[tuple[int, ...]] = []
        self.allocator_names: list[str] = []
        self.allocators: list[tuple[int, int, int, int, int]] = []
        self.allocations: list[tuple[int, int, int]] = []
        self.outputs: list[tuple[int, int, int, int, int, int]] = []
        self.output_shapes: list[Dims] = []
        self.shapes = ShapeReader(path)

    def add(self, stats: Message) -> None:
        entry = len(self.names)
        self.names.append(stats.node_name.partition(":")[0])
        temp = persistent = 0
        if stats.HasField("memory_stats"):
            temp = stats.memory_stats.temp_memory_size
            persistent = stats.memory_stats.persistent_memory_size
        self.entries.append(
            (
                len(self.devices) - 1,
                stats.all_start_micros,
                stats.op_end_rel_micros,
                stats.all_start_nanos,
                stats.op_end_rel_nanos,
                temp,
                persistent,
            )
        )
        for memory in stats.memory:
            self._add_allocator(entry, memory)
        for output in stats.output:
            self._add_output(entry, output)

    def _add_allocator(self, entry: int, memory: Message) -> None:
        row = len(self.allocators)
        self.allocator_names.append(memory.allocator_name)
        self.allocators.append(
            (
                entry,
                memory.total_bytes,
                memory.peak_bytes,
                memory.live_bytes,
                memory.allocator_bytes_in_use,
            )
        )
        self.allocations.extend(
            (row, record.alloc_micros, record.alloc_bytes) for record in memory.allocation_records
        )

    def _add_output(self, entry: int, output: Message) -> None:
        tensor = output.tensor_description
        requested = allocated = address = 0
        has_memory = tensor.HasField("allocation_description")
        if has_memory:
            memory = tensor.allocation_description
            requested, allocated = memory.requested_bytes, memory.allocated_bytes
            address = signed(memory.ptr)
        self.outputs.append((entry, output.slot, has_memory, requested, allocated, address))
        has_shape = tensor.HasField("shape")
        self.output_shapes.append(self.shapes.shape(tensor.shape) if has_shape else None)

    def columns(self, *, has_step_stats: bool) -> RunColumns:
        device, start, end_rel, start_nanos, end_nanos, temp, persistent = transposed(
            self.entries, 7
        )
        return RunColumns(
            has_step_stats=has_step_stats,
            devices=self.devices,
            device=device,
            name=Strings(self.names),
            start_micros=start,
            end_rel_micros=end_rel,
            start_nanos=start_nanos,
            end_rel_nanos=end_nanos,
            temp_bytes=temp,
            persistent_bytes=persistent,
            allocators=self._allocator_columns(),
            allocations=AllocationColumns(*transposed(self.allocations, 3)),
            outputs=self._output_columns(),
        )

    def _output_columns(self) -> OutputColumns:
        entry, slot, has_memory, requested, allocated, address = transposed(self.outputs, 6)
        return OutputColumns(
            entry, slot, has_memory, requested, allocated, address, Shapes.of(self.output_shapes)
        )

    def _allocator_columns(self) -> AllocatorColumns:
        entry, total, peak, live, in_use = transposed(self.allocators, 5)
        names = Coded.of(self.allocator_names)
        return AllocatorColumns(entry, names, total, peak, live, in_use)


def transposed(rows: Sequence[tuple[int, ...]], width: int) -> list[Ints]:
    """The `width` columns of these rows."""
    return [ints(column) for column in zip(*rows, strict=True)] if rows else [ints([])] * width
