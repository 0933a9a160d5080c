"""A ProfileProto: a profile that was saved whole."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Shapes, Strings, distinct, joined, offsets_of
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
from tfprof.model.clock import NO_TIME, nanos_of_micros, starts_of_micros
from tfprof.model.code import Frame
from tfprof.model.ops import MOST_OUTPUTS, OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_devices import add_device

__all__ = ["MESSAGE", "add", "decode"]

MESSAGE = PROFILE

# The name under which an input is not found: no program gives an op this one.
_NO_OP = "\0"


def add(records: Records, columns: ProtoColumns, builder: ProfileBuilder) -> None:
    """Add everything the saved profile holds; its float ops were settled when it was saved."""
    builder.settle_float_ops()
    order = np.argsort(columns.id, kind="stable")
    _define(records, columns, order, builder)
    if columns.header.has_trace:
        builder.mark_has_code()
    if columns.header.misses_accelerator_stream:
        builder.mark_lacks_accelerator_time()
    for step in columns.header.steps:
        builder.add_step(step)
    ops = builder.ids(columns.name)
    _describe(columns, ops, order, builder)
    _locate(columns, ops, order, StackReader(records.path, columns.header.strings), builder)
    _record(columns.recorded, ops, builder)
    _allocate(columns, ops, builder)
    _add_copies(columns.copies, builder)


def _define(records: Records, columns: ProtoColumns, order: Ints, builder: ProfileBuilder) -> None:
    names = columns.name.take(order)
    inputs = _grouped(columns.input_node, columns.input_id, len(order)).take(order)
    # An id without a node stands for an op that the graph named but did not define.
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
        )
    )


def _grouped(owner: Ints, values: Ints, count: int) -> Ragged:
    """The values of each of so many owners, who come in order."""
    return Ragged(offsets_of(np.bincount(owner, minlength=count)), values)


def _shapes(dims: Ragged) -> Shapes:
    return Shapes.of_dims(dims, dims.lengths > 0)


def _outputs(columns: ProtoColumns) -> OutputShapes:
    """The shapes of each node's outputs, unknown ones where a slot is left out."""
    node, slot = columns.output_node, columns.output_slot
    counts = np.zeros(len(columns.id), np.int64)
    np.maximum.at(counts, node, np.minimum(slot + 1, MOST_OUTPUTS))
    offsets = offsets_of(counts)
    rows = np.flatnonzero((slot >= 0) & (slot < MOST_OUTPUTS))
    place = np.full(int(offsets[-1]), -1)
    place[offsets[node[rows]] + slot[rows]] = rows
    shapes = Shapes.joined([_shapes(columns.output_shape), Shapes.of([None])])
    return OutputShapes(offsets, shapes.take(place))


def _describe(columns: ProtoColumns, ops: Ints, order: Ints, builder: ProfileBuilder) -> None:
    builder.add_types(ops[columns.type_node], columns.type)
    stated = order[columns.float_ops[order] != 0]
    builder.set_float_ops(ops[stated], columns.float_ops[stated])
    placed = order[_named(columns.device.take(order))]
    builder.place(ops[placed], _device_codes(columns.device.take(placed), builder))


def _named(names: Coded) -> Ints:
    """The rows that have a name."""
    return np.flatnonzero(np.array([*map(bool, names.values)], np.bool_)[names.codes])


def _device_codes(names: Coded, builder: ProfileBuilder) -> Ints:
    """The device of each row; new ones count on by first use."""
    codes = np.zeros(len(names.values), np.int64)
    for code in _by_first_use(names.codes):
        codes[code] = add_device(builder, names.values[code])
    return codes[names.codes]


def _by_first_use(codes: Ints) -> list[int]:
    """The different codes, in the order in which they come."""
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
        if traces:
            rows[stack] = builder.add_stack([Frame(*trace) for trace in traces])
    located = located[rows[columns.stack[located]] >= 0]
    builder.set_code(ops[located], rows[columns.stack[located]])


def _record(found: RecordedColumns, ops: Ints, builder: ProfileBuilder) -> None:
    """Add what was recorded of each node in each step."""
    recordings = builder.recordings
    for step in distinct(found.step).tolist():
        recordings.add_step(step)
    first_use = recordings.memory_count()
    _add_sightings(found, ops, builder)
    recordings.add_slots(
        **_key(found, ops, found.time_record),
        device=_device_codes(found.time_device, builder),
        start_ns=starts_of_micros(found.time_start),
        duration_ns=nanos_of_micros(found.time_duration),
    )
    recordings.add_memory(**_key(found, ops, found.memory_record), **memory_facts(found.memory))
    recordings.add_output_memory(
        use=found.output_use + first_use,
        slot=found.output_slot,
        bytes=found.output_bytes,
        address=found.output_address,
    )


def memory_facts(found: dict[str, Ints]) -> dict[str, Ints]:
    """The columns of `MEMORY_FACTS`."""
    bytes_ = {fact: column for fact, column in found.items() if fact != "micros"}
    return {"time_ns": nanos_of_micros(found["micros"]), **bytes_}


def _allocate(columns: ProtoColumns, ops: Ints, builder: ProfileBuilder) -> None:
    """Add the allocations: they are of accelerators alone, and nobody wrote down of which."""
    builder.mark_lacks_host_allocations()
    found, recordings = columns.recorded, builder.recordings
    records = distinct(found.allocation_record)
    levels = np.flatnonzero(found.memory["in_use"])
    record = joined([records, found.memory_record[levels]])
    nothing = np.zeros(len(records), np.int64)
    first = recordings.add_allocators(
        Coded(np.zeros(len(record), np.int64), Strings([""])),
        np.ones(len(record), np.bool_),
        **_key(found, ops, record),
        device=_homes(columns.device, builder)[found.node[record]],
        time_ns=nanos_of_micros(joined([nothing, found.memory["micros"][levels]])),
        level=joined([nothing, found.memory["in_use"][levels]]),
    )
    recordings.add_allocations(
        use=np.searchsorted(records, found.allocation_record) + first,
        time_ns=nanos_of_micros(found.allocation_micros),
        bytes=found.allocation_bytes,
    )


def _homes(names: Coded, builder: ProfileBuilder) -> Ints:
    """The device of each row, -1 where none is named."""
    homes = np.full(len(names), -1)
    named = _named(names)
    homes[named] = _device_codes(names.take(named), builder)
    return homes


def _add_copies(found: CopyColumns, builder: ProfileBuilder) -> None:
    for step in distinct(found.step).tolist():
        builder.add_step(step)
    builder.recordings.add_copies(
        found.name,
        step=found.step,
        device=_device_codes(found.device, builder),
        start_ns=starts_of_micros(found.start),
        duration_ns=nanos_of_micros(found.duration),
    )


def _add_sightings(found: RecordedColumns, ops: Ints, builder: ProfileBuilder) -> None:
    # What is said of all devices together is booked on none; the devices only appear.
    every = np.arange(len(found.node))
    builder.recordings.add_sightings(
        **_key(found, ops, every),
        device=np.full(len(every), -1),
        start_ns=starts_of_micros(found.first_start),
        end_ns=nanos_of_micros(found.last_end),
        runs=found.runs,
    )
    named = _named(found.device)
    nothing = np.zeros(len(named), np.int64)
    builder.recordings.add_sightings(
        **_key(found, ops, found.device_record[named]),
        device=_device_codes(found.device.take(named), builder),
        start_ns=nothing + NO_TIME,
        end_ns=nothing,
        runs=nothing,
    )


def _key(found: RecordedColumns, ops: Ints, record: Ints) -> dict[str, Ints]:
    return {"op": ops[found.node[record]], "step": found.step[record]}
