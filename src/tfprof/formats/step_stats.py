"""The step statistics of RunMetadata for timelines: with labels and tensor descriptions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, NameTable, Strings
from tfprof.errors import InputError
from tfprof.formats import messages
from tfprof.formats.messages import Message, message_class
from tfprof.formats.records import Records
from tfprof.formats.run_metadata import device_name, parsed_devices, transposed
from tfprof.formats.scan_plan import Bytes, Checked, Code, Fields, Inside, Number, Plan, Rows, Text
from tfprof.formats.scanned import Scanned, scanned_or_parsed
from tfprof.formats.wire import signed

_TENSOR = "tensorflow.TensorDescription"
_SHAPE = "tensorflow.TensorShapeProto"
_MEMORY = "tensorflow.AllocationDescription"

# Sums of larger values could overflow 64 bits.
_MOST_MICROS = 2**61
_MOST_BYTES = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class StepColumns:
    """One entry per run of a node, in file order, grouped by device."""

    has_step_stats: bool
    devices: list[str]
    device: Ints
    name: Strings  # as recorded; shares its bytes with `label`
    label: Strings
    start_micros: Ints
    micros: Ints  # until everything was done, not only the op
    outputs: DescribedOutputs


@dataclass(frozen=True, slots=True, eq=False)
class DescribedOutputs:
    """One row per output of an entry; missing values are 0 or empty."""

    entry: Ints
    dtype: Coded  # `dtype` and `shape` in protobuf's text format
    shape: Coded
    has_memory: Ints
    requested: Ints
    allocated: Ints
    allocator: Coded
    allocation_id: Ints
    has_single_reference: Ints  # 0 or 1
    address: Ints  # 64 bits, as a signed number


def decode(records: Records) -> StepColumns:
    """All entries of all devices; raises `InputError` for implausibly large numbers."""
    found = scanned_or_parsed(records, _scanned, _parsed)
    _require_measurable(records.path, found)
    return found


def allocator_text(name: str) -> str:
    """The name of an allocator in protobuf's text format."""
    return str(message_class(_MEMORY)(allocator_name=name))


def _require_measurable(path: str, step: StepColumns) -> None:
    for micros in (step.start_micros, step.micros):
        # Not `abs(micros)`: the smallest int64 has no absolute value.
        odd = np.flatnonzero((micros > _MOST_MICROS) | (micros < -_MOST_MICROS))
        if len(odd):
            raise InputError(
                path,
                f"`{step.name[int(odd[0])]}` has an impossible time of {micros[odd[0]]:,} "
                "microseconds; the file is damaged.",
            )
    total = np.abs(step.outputs.requested.astype(np.float64)).sum()
    if total > _MOST_BYTES:
        raise InputError(
            path, f"its tensors have an impossible size of {total:.0e} bytes; the file is damaged."
        )


_MEMORY_FIELDS: Fields = {
    1: Number("requested"),
    2: Number("allocated"),
    3: Code("allocator"),
    4: Number("allocation_id"),
    5: Number("has_single_reference"),
    6: Number("address"),
}
_TENSOR_FIELDS: Fields = {
    1: Number("dtype", is_short=True),
    2: Bytes("shape"),
    4: Inside(_MEMORY_FIELDS, mark="has_memory"),
}
_ENTRY: Fields = {
    1: Text("name"),
    2: Number("start_micros"),
    5: Number("micros"),
    # Not extracted, only checked.
    6: Rows("allocator", {1: Checked(), 6: Rows("allocation", {})}),
    7: Rows("output", {3: Inside(_TENSOR_FIELDS, mark="is_described")}, has_owner=True),
    8: Text("label"),
    12: Inside({}),
}
_DEVICE: Fields = {1: Bytes("name"), 2: Rows("entry", _ENTRY, has_owner=True)}
_PLAN = Plan({1: Rows("step", {1: Rows("device", _DEVICE)})})


def _scanned(data: bytes) -> StepColumns | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    try:
        shape = _shape_texts(found)
    except messages.DecodeError:
        return None
    return StepColumns(
        has_step_stats=len(found["step.device"]) > 1,
        devices=[device_name(name) for name in found.pieces("device.name")],
        device=found["entry.owner"],
        name=found.strings("entry.name"),
        label=found.strings("entry.label"),
        start_micros=found["entry.start_micros"],
        micros=found["entry.micros"],
        outputs=DescribedOutputs(
            entry=found["output.owner"],
            dtype=_dtype_texts(found["output.dtype"]),
            shape=shape,
            has_memory=found.marks("output.has_memory"),
            requested=found["output.requested"],
            allocated=found["output.allocated"],
            allocator=found.coded("output.allocator"),
            allocation_id=found["output.allocation_id"],
            has_single_reference=(found["output.has_single_reference"] != 0).astype(np.int64),
            address=found["output.address"],
        ),
    )


def _dtype_texts(dtypes: Ints) -> Coded:
    distinct, codes = np.unique(dtypes, return_inverse=True)
    return Coded(codes, Strings(_text(dtype=dtype) for dtype in distinct.tolist()))


def _shape_texts(found: Scanned) -> Coded:
    starts, ends = found.spans("output.shape")
    rows = np.flatnonzero(ends)  # the other rows have no shape
    table = NameTable()
    codes = np.zeros(len(starts), np.int64)
    codes[rows] = 1 + table.add(Strings.of_spans(found.data, starts[rows], ends[rows]))
    encoded = table.texts()
    places = zip(encoded.starts.tolist(), encoded.ends.tolist(), strict=True)
    shapes = (messages.decode(_SHAPE, encoded.data[start:end]) for start, end in places)
    texts = [_text(shape=shape) for shape in shapes]
    return Coded(codes, Strings(["", *texts]))


def _text(**fields: object) -> str:
    """A tensor description with only these fields, in protobuf's text format."""
    return str(message_class(_TENSOR)(**fields))


def _parsed(records: Records) -> StepColumns:
    found = _Found()
    has_step_stats = False
    for step_start, step_end in records.spans(1):
        has_step_stats = True
        for device, entries in parsed_devices(records, step_start, step_end):
            found.devices.append(device)
            for entry in entries:
                found.add(entry)
    return found.columns(has_step_stats=has_step_stats)


class _Found:
    """Collects the rows of all columns."""

    def __init__(self) -> None:
        self.devices: list[str] = []
        self.names: list[str] = []
        self.labels: list[str] = []
        self.entries: list[tuple[int, ...]] = []
        self.texts: list[tuple[str, str, str]] = []
        self.outputs: list[tuple[int, ...]] = []

    def add(self, stats: Message) -> None:
        for output in stats.output:
            self._add_output(output.tensor_description)
        self.names.append(stats.node_name)
        self.labels.append(stats.timeline_label)
        times = stats.all_start_micros, stats.all_end_rel_micros
        self.entries.append((len(self.devices) - 1, *times))

    def _add_output(self, tensor: Message) -> None:
        memory = tensor.allocation_description
        has_shape = tensor.HasField("shape")
        shape = _text(shape=tensor.shape) if has_shape else ""
        self.texts.append((_text(dtype=tensor.dtype), shape, memory.allocator_name))
        self.outputs.append(
            (
                len(self.names),
                tensor.HasField("allocation_description"),
                memory.requested_bytes,
                memory.allocated_bytes,
                memory.allocation_id,
                memory.has_single_reference,
                signed(memory.ptr),
            )
        )

    def columns(self, *, has_step_stats: bool) -> StepColumns:
        device, start, micros = transposed(self.entries, 3)
        texts = Strings([*self.names, *self.labels])
        rows = np.arange(len(self.names))
        return StepColumns(
            has_step_stats,
            self.devices,
            device,
            texts.take(rows),
            texts.take(rows + len(rows)),
            start,
            micros,
            self._output_columns(),
        )

    def _output_columns(self) -> DescribedOutputs:
        entry, has_memory, requested, allocated, id_, single, address = transposed(self.outputs, 7)
        dtype, shape, allocator = (Coded.of([row[at] for row in self.texts]) for at in range(3))
        return DescribedOutputs(
            entry=entry,
            dtype=dtype,
            shape=shape,
            has_memory=has_memory,
            requested=requested,
            allocated=allocated,
            allocator=allocator,
            allocation_id=id_,
            has_single_reference=single,
            address=address,
        )
