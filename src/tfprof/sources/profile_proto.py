"""ProfileProto files: complete profiles saved in TensorFlow's own format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from tfprof.columns import (
    Coded,
    Ints,
    Ragged,
    Shapes,
    Strings,
    constant,
    distinct,
    joined,
    offsets_of,
)
from tfprof.formats.op_log import StackReader
from tfprof.formats.profile_proto import (
    PROFILE,
    RAW_NODE_ENTRY,
    CopyColumns,
    ProtoColumns,
    RecordedColumns,
    decode,
)
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import (
    NO_TIME,
    durations_of_micros,
    nanos_of_micros,
    starts_of_micros,
)
from tfprof.model.code import Frame
from tfprof.model.ops import MOST_OUTPUTS, OutputShapes
from tfprof.model.recordings import Recording
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_devices import add_device
from tfprof.sources.tf_names import TENSORFLOW_NAMES
from tfprof.sums import total

# The name of unknown ops in inputs; no real op has it.
_NO_OP = "\0"


def read(file: InputFile) -> Decoded[ProtoColumns]:
    """The profile as columns."""
    return Decoded.of(file.content.records(PROFILE), decode)


def add(found: Decoded[ProtoColumns], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the whole profile; its float ops were computed when it was saved."""
    records, columns = found
    builder.settle_float_ops()
    order = np.argsort(columns.id, kind="stable")
    _define(records, columns, order, builder)
    if columns.header.has_trace:
        builder.mark_has_code()
    if columns.header.misses_accelerator_stream:
        builder.mark_lacks_accelerator_time()
    ops = builder.ids(columns.name)
    saved = _Saved(
        builder, ops, builder.add_recording(_recording(records.path)), columns.header.steps
    )
    _describe(columns, order, saved)
    _locate(columns, ops, order, StackReader(records.path, columns.header.strings), builder)
    _record(columns.recorded, saved)
    _allocate(columns, saved)
    _add_copies(columns.copies, saved)
    steps = {*columns.header.steps, *columns.recorded.step.tolist(), *columns.copies.step.tolist()}
    return summary(
        file,
        builder.device_names(saved.recording),
        ops=len(columns.name),
        steps=len(steps),
        runs=total(columns.recorded.runs),
    )


def _recording(path: str) -> Recording:
    """The profile as a single recording, because the format does not distinguish several."""
    return Recording(
        label=PurePath(path).name,
        framework="tensorflow",
        source="profile_proto",
        file=path,
        counts_whole_micros=True,
    )


class _Saved:
    """The builder to which a profile is added, and the ids of the profile's ops."""

    def __init__(
        self, builder: ProfileBuilder, ops: Ints, recording: int, steps: Sequence[int]
    ) -> None:
        self.builder = builder
        self.ops = ops
        self.recording = recording
        for step in steps:
            builder.runs.add_step(recording, step)

    def key(self, found: RecordedColumns, record: Ints) -> dict[str, Ints]:
        """The op and step columns of these records."""
        return {"op": self.ops[found.node[record]], "step": self.steps(found.step[record])}

    def steps(self, numbers: Ints) -> Ints:
        """The ids of the steps with these numbers."""
        return self.builder.runs.add_steps(self.recording, numbers)

    def devices(self, names: Coded) -> Ints:
        """The device of each row; devices are added in the order of first use."""
        codes = np.zeros(len(names.values), np.int64)
        for code in _by_first_use(names.codes):
            codes[code] = add_device(self.builder, self.recording, names.values[code])
        return codes[names.codes]


def _define(records: Records, columns: ProtoColumns, order: Ints, builder: ProfileBuilder) -> None:
    names = columns.name.take(order)
    inputs = _grouped(columns.input_node, columns.input_id, len(order)).take(order)
    # An id without a node belongs to an op that is an input but was not defined.
    ids = columns.id[order]
    place = np.searchsorted(ids, inputs.values, side="right") - 1
    place[ids[place] != inputs.values] = len(ids)
    builder.add_ops(
        OpColumns(
            name=names,
            kind=columns.op.take(order),
            input_offsets=inputs.offsets,
            input_name=Strings.joined([names, Strings([_NO_OP])]).take(place),
            input_slot=np.zeros(len(place), np.int64),
            shape=_shapes(columns.shape).take(order),
            outputs=_outputs(columns).take(order),
            attributes=EncodedAttributes(
                records.left_in_file(),
                columns.start[order],
                columns.end[order],
                RAW_NODE_ENTRY,
                ("value", "attrs"),
            ),
            conventions=TENSORFLOW_NAMES,
        )
    )


def _grouped(owner: Ints, values: Ints, count: int) -> Ragged:
    """The values of each of `count` owners, from columns sorted by owner."""
    return Ragged(offsets_of(np.bincount(owner, minlength=count)), values)


def _shapes(dims: Ragged) -> Shapes:
    return Shapes.of_dims(dims, dims.lengths > 0)


def _outputs(columns: ProtoColumns) -> OutputShapes:
    """The output shapes of each node; missing slots have unknown shapes."""
    node, slot = columns.output_node, columns.output_slot
    counts = np.zeros(len(columns.id), np.int64)
    np.maximum.at(counts, node, np.minimum(slot + 1, MOST_OUTPUTS))
    offsets = offsets_of(counts)
    rows = np.flatnonzero((slot >= 0) & (slot < MOST_OUTPUTS))
    place = np.full(int(offsets[-1]), -1)
    place[offsets[node[rows]] + slot[rows]] = rows
    shapes = Shapes.joined([_shapes(columns.output_shape), Shapes.of([None])])
    return OutputShapes(offsets, shapes.take(place))


def _describe(columns: ProtoColumns, order: Ints, saved: _Saved) -> None:
    builder, ops = saved.builder, saved.ops
    builder.add_types(ops[columns.type_node], columns.type)
    stated = order[columns.float_ops[order] != 0]
    builder.set_float_ops(ops[stated], columns.float_ops[stated])
    placed = order[_named(columns.device.take(order))]
    builder.place(saved.recording, ops[placed], saved.devices(columns.device.take(placed)))


def _named(names: Coded) -> Ints:
    """The rows that have a name."""
    return np.flatnonzero(np.array([*map(bool, names.values)], np.bool_)[names.codes])


def _by_first_use(codes: Ints) -> list[int]:
    """The distinct codes in the order of first use."""
    used, first = np.unique(codes, return_index=True)
    found: list[int] = used[np.argsort(first)].tolist()
    return found


def _locate(
    columns: ProtoColumns,
    ops: Ints,
    order: Ints,
    reader: StackReader,
    builder: ProfileBuilder,
) -> None:
    located = order[columns.stack[order] >= 0]
    used = _by_first_use(columns.stack[located])
    rows = np.full(len(columns.stacks), -1)
    for stack, traces in zip(used, reader.read([columns.stacks[row] for row in used]), strict=True):
        rows[stack] = builder.add_stack(Frame(*trace) for trace in traces)
    located = located[rows[columns.stack[located]] >= 0]
    builder.set_code(ops[located], rows[columns.stack[located]])


def _record(found: RecordedColumns, saved: _Saved) -> None:
    """Add the recorded runs and memory of each node in each step."""
    runs = saved.builder.runs
    first_use = runs.memory_count()
    _add_sightings(found, saved)
    runs.add_slots(
        **saved.key(found, found.time_record),
        device=saved.devices(found.time_device),
        start_ns=starts_of_micros(found.time_start),
        duration_ns=durations_of_micros(found.time_duration),
    )
    runs.add_memory(**saved.key(found, found.memory_record), **memory_facts(found.memory))
    runs.add_output_memory(
        use=found.output_use + first_use,
        slot=found.output_slot,
        bytes=found.output_bytes,
        address=found.output_address,
    )


def memory_facts(found: dict[str, Ints]) -> dict[str, Ints]:
    """The columns of `MEMORY_FACTS`, with the time in nanoseconds."""
    bytes_ = {fact: column for fact, column in found.items() if fact != "micros"}
    return {"time_ns": nanos_of_micros(found["micros"]), **bytes_}


def _allocate(columns: ProtoColumns, saved: _Saved) -> None:
    """Add the allocations; the format stores only those on accelerators, without allocators."""
    saved.builder.mark_lacks_host_allocations()
    found, runs = columns.recorded, saved.builder.runs
    records = distinct(found.allocation_record)
    levels = np.flatnonzero(found.memory["in_use"])
    record = joined([records, found.memory_record[levels]])
    nothing = np.zeros(len(records), np.int64)
    first = runs.add_allocators(
        Coded(np.zeros(len(record), np.int64), Strings([""])),
        np.ones(len(record), np.bool_),
        **saved.key(found, record),
        device=_homes(columns.device, saved)[found.node[record]],
        time_ns=nanos_of_micros(joined([nothing, found.memory["micros"][levels]])),
        level=joined([nothing, found.memory["in_use"][levels]]),
    )
    runs.add_allocations(
        use=np.searchsorted(records, found.allocation_record) + first,
        time_ns=nanos_of_micros(found.allocation_micros),
        bytes=found.allocation_bytes,
    )


def _homes(names: Coded, saved: _Saved) -> Ints:
    """The device of each row, -1 if its name is empty."""
    homes = np.full(len(names), -1)
    named = _named(names)
    homes[named] = saved.devices(names.take(named))
    return homes


def _add_copies(found: CopyColumns, saved: _Saved) -> None:
    saved.builder.runs.add_copies(
        found.name,
        op=constant(-1, len(found.step)),
        step=saved.steps(found.step),
        device=saved.devices(found.device),
        start_ns=starts_of_micros(found.start),
        duration_ns=durations_of_micros(found.duration),
    )


def _add_sightings(found: RecordedColumns, saved: _Saved) -> None:
    # The times span all devices and belong to none of them, so the devices are added without times.
    runs = saved.builder.runs
    runs.add_sightings(
        **saved.key(found, np.arange(len(found.node))),
        device=np.full(len(found.node), -1),
        start_ns=starts_of_micros(found.first_start),
        end_ns=nanos_of_micros(found.last_end),
        runs=found.runs,
    )
    named = _named(found.device)
    nothing = np.zeros(len(named), np.int64)
    runs.add_sightings(
        **saved.key(found, found.device_record[named]),
        device=saved.devices(found.device.take(named)),
        start_ns=nothing + NO_TIME,
        end_ns=nothing,
        runs=nothing,
    )
