"""ProfileProto: a complete profile in one file, decoded into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Strings, ints, joined
from tfprof.formats.messages import Message
from tfprof.formats.records import Records
from tfprof.formats.scan_plan import (
    Bytes,
    Checked,
    Code,
    Codes,
    Field,
    Fields,
    Inside,
    Number,
    Numbers,
    Plan,
    Rows,
    Text,
)
from tfprof.formats.scanned import Scanned, scanned_or_parsed
from tfprof.formats.wire import SPAN, VARINT, encoded, signed

PROFILE = "tensorflow.tfprof.ProfileProto"
RAW_NODE_ENTRY = "raw.NodesEntry"
_RAW_SAVED_ENTRY = "raw.SavedNodesEntry"
_COPY = "tensorflow.tfprof.Copy"
_STRING_ENTRY = "tensorflow.tfprof.ProfileProto.IdToStringEntry"

# The memory facts of a run and the fields that hold them, numbered from 1.
MEMORY_FIELDS = {
    "micros": "memory_micros",
    "host_temp": "host_temp_bytes",
    "host_persistent": "host_persistent_bytes",
    "accelerator_temp": "accelerator_temp_bytes",
    "accelerator_persistent": "accelerator_persistent_bytes",
    "requested": "requested_bytes",
    "peak": "peak_bytes",
    "residual": "residual_bytes",
    "output": "output_bytes",
    "in_use": "allocator_bytes_in_use",
}


@dataclass(frozen=True, slots=True, eq=False)
class ProtoColumns:
    """One row per node, in file order; `start` and `end` bound its map entry in the file.

    The contents of a map are sorted by key.
    """

    header: ProfileHeader
    start: Ints
    end: Ints
    id: Ints
    name: Strings
    op: Coded
    device: Coded  # the device it is placed on; empty if unknown
    float_ops: Ints
    stack: Ints  # an index into `stacks`, or -1
    stacks: list[bytes]  # distinct encoded stacks; see `op_log.StackReader`
    shape: Ragged
    type_node: Ints
    type: Coded
    input_node: Ints
    input_id: Ints
    output_node: Ints
    output_slot: Ints
    output_shape: Ragged
    recorded: RecordedColumns
    copies: CopyColumns


@dataclass(frozen=True, slots=True, eq=False)
class CopyColumns:
    """One row per transfer between devices."""

    step: Ints
    name: Coded
    device: Coded
    start: Ints
    duration: Ints


@dataclass(frozen=True, slots=True, eq=False)
class RecordedColumns:
    """One row per node and step.

    Columns named `…_record` refer to these rows, `output_use` to the rows of the memory columns.
    """

    node: Ints
    step: Ints
    runs: Ints
    first_start: Ints
    last_end: Ints
    device_record: Ints
    device: Coded
    time_record: Ints
    time_device: Coded  # accelerator lanes come first in each record
    time_start: Ints
    time_duration: Ints
    memory_record: Ints
    memory: dict[str, Ints]  # one column per key of `MEMORY_FIELDS`
    output_use: Ints
    output_slot: Ints
    output_bytes: Ints
    output_address: Ints
    allocation_record: Ints
    allocation_micros: Ints
    allocation_bytes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class ProfileHeader:
    """The fields of a saved profile other than its nodes."""

    has_trace: bool
    misses_accelerator_stream: bool
    steps: tuple[int, ...]
    strings: dict[int, str]


def decode(records: Records) -> ProtoColumns:
    """Everything in a saved profile except the attributes of its nodes."""
    return scanned_or_parsed(records, _scanned, _parsed)


def _map(table: str, key: Field, value: Field) -> Rows:
    return Rows(table, {1: key, 2: value}, has_owner=True, is_strict=True)


def _times(table: str) -> Rows:
    """A map from devices to times."""
    times = {1: Rows(f"{table}_time", {1: Numbers(f"{table}_value")}, has_owner=True)}
    return _map(table, Code("device"), Inside(times, mark="value"))


_ADDRESS = Inside({1: Number("bytes"), 2: Number("address")}, mark="value")
_USE: Fields = {
    **{number: Number(fact) for number, fact in enumerate(MEMORY_FIELDS, 1)},
    11: _map("kept", Number("slot", is_short=True), _ADDRESS),
}
_RECORD: Fields = {
    1: Number("runs"),
    2: Number("first_start"),
    3: Number("last_end"),
    4: _times("lane"),
    5: _times("host"),
    6: Codes("device", has_owner=True),
    7: Rows("use", _USE, has_owner=True),
    11: Rows("allocation", {1: Number("micros"), 2: Number("bytes")}, has_owner=True),
}
_OUTPUT = Inside({1: Numbers("output_dim")}, mark="value")
_NODE: Fields = {
    1: Text("name"),
    2: _map("input", Number("place", is_short=True), Number("id")),
    4: Numbers("dim"),
    5: Codes("type", has_owner=True),
    6: Code("device"),
    7: Checked(),
    8: Number("float_ops"),
    9: Code("op"),
    10: Code("stack", is_text=False),
    12: _map("record", Number("step"), Inside(_RECORD, mark="value")),
    15: _map("output", Number("slot", is_short=True), _OUTPUT),
}
_COPY_FIELDS: Fields = {
    1: Number("step"),
    2: Code("name"),
    3: Code("device"),
    4: Number("start"),
    5: Number("duration"),
}
_PLAN = Plan(
    {
        1: Rows("node", {1: Number("id"), 2: Inside(_NODE, mark="value")}, has_place=True),
        2: Number("has_trace"),
        3: Numbers("step"),
        4: Rows("string", {1: Number("id"), 2: Bytes("text")}),
        5: Number("misses_accelerator_stream"),
        15: Rows("copy", _COPY_FIELDS),
    }
)


class _RepeatedKeyError(ValueError):
    """A map repeats a key; only the last entry counts, which the scan does not handle."""


def _scanned(data: bytes) -> ProtoColumns | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    try:
        return _columns(found)
    except (_RepeatedKeyError, UnicodeDecodeError):
        return None


def _columns(found: Scanned) -> ProtoColumns:
    inputs = _by_key(found["input.owner"], found["input.place"])
    outputs = _by_key(found["output.owner"], found["output.slot"])
    texts = (text.decode("utf-8") for text in found.pieces("string.text"))
    return ProtoColumns(
        header=ProfileHeader(
            has_trace=bool(found[".has_trace"][0]),
            misses_accelerator_stream=bool(found[".misses_accelerator_stream"][0]),
            steps=tuple(found["step.value"].tolist()),
            strings=dict(zip(found["string.id"].tolist(), texts, strict=True)),
        ),
        start=found["node.start"],
        end=found["node.end"],
        id=found["node.id"],
        name=found.strings("node.name"),
        op=found.coded("node.op"),
        device=found.coded("node.device"),
        float_ops=found["node.float_ops"],
        stack=found["node.stack"] - 1,
        stacks=found.distinct_bytes("node.stack"),
        shape=Ragged(found["node.dim"], found["dim.value"]),
        type_node=found["type.owner"],
        type=found.coded("type.code"),
        input_node=found["input.owner"][inputs],
        input_id=found["input.id"][inputs],
        output_node=found["output.owner"][outputs],
        output_slot=found["output.slot"][outputs],
        output_shape=Ragged(found["output.output_dim"], found["output_dim.value"]).take(outputs),
        recorded=_recorded_columns(found),
        copies=CopyColumns(
            step=found["copy.step"],
            name=found.coded("copy.name"),
            device=found.coded("copy.device"),
            start=found["copy.start"],
            duration=found["copy.duration"],
        ),
    )


def _recorded_columns(found: Scanned) -> RecordedColumns:
    records = _by_key(found["record.owner"], found["record.step"])
    rank = _inverse(records)
    devices = np.argsort(rank[found["device.owner"]], kind="stable")
    lanes, hosts = _scanned_times(found, "lane"), _scanned_times(found, "host")
    time_record, time_start, time_duration = (
        joined(pair) for pair in zip(lanes[1:], hosts[1:], strict=True)
    )
    times = np.argsort(rank[time_record], kind="stable")
    uses = np.argsort(rank[found["use.owner"]], kind="stable")
    kept_use = _inverse(uses)[found["kept.owner"]]
    kept = _by_key(kept_use, found["kept.slot"])
    allocations = np.argsort(rank[found["allocation.owner"]], kind="stable")
    return RecordedColumns(
        node=found["record.owner"][records],
        step=found["record.step"][records],
        runs=found["record.runs"][records],
        first_start=found["record.first_start"][records],
        last_end=found["record.last_end"][records],
        device_record=rank[found["device.owner"][devices]],
        device=found.coded("device.code").take(devices),
        time_record=rank[time_record[times]],
        time_device=Coded.joined([lanes[0], hosts[0]]).take(times),
        time_start=time_start[times],
        time_duration=time_duration[times],
        memory_record=rank[found["use.owner"][uses]],
        memory={fact: found[f"use.{fact}"][uses] for fact in MEMORY_FIELDS},
        output_use=kept_use[kept],
        output_slot=found["kept.slot"][kept],
        output_bytes=found["kept.bytes"][kept],
        output_address=found["kept.address"][kept],
        allocation_record=rank[found["allocation.owner"][allocations]],
        allocation_micros=found["allocation.micros"][allocations],
        allocation_bytes=found["allocation.bytes"][allocations],
    )


def _scanned_times(found: Scanned, table: str) -> tuple[Coded, Ints, Ints, Ints]:
    """Device, record, start and duration of the times in a map, ignoring incomplete ones."""
    devices = found.coded(f"{table}.device")
    names = list(devices.values)
    place = _inverse(ints(sorted(range(len(names)), key=names.__getitem__)))
    rank = _inverse(_by_key(found[f"{table}.owner"], place[devices.codes]))
    owner = found[f"{table}_time.owner"]
    offsets, values = found[f"{table}_time.{table}_value"], found[f"{table}_value.value"]
    times = np.argsort(rank[owner], kind="stable")
    times = times[np.diff(offsets)[times] > 1]
    first, owner = offsets[:-1][times], owner[times]
    return devices.take(owner), found[f"{table}.owner"][owner], values[first], values[first + 1]


def _by_key(owner: Ints, key: Ints) -> Ints:
    """The permutation that sorts map entries by owner, then by key."""
    order = np.lexsort((key, owner))
    owner, key = owner[order], key[order]
    if ((owner[1:] == owner[:-1]) & (key[1:] == key[:-1])).any():
        raise _RepeatedKeyError
    return order


def _inverse(order: Ints) -> Ints:
    """The inverse permutation: the position of each number in `order`."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _parsed(records: Records) -> ProtoColumns:
    header = _parsed_header(records)
    spans = list(records.spans(1))
    entries = [records.parse(_RAW_SAVED_ENTRY, start, end) for start, end in spans]
    nodes = [entry.value for entry in entries]
    stacks: dict[bytes | None, int] = {None: -1}
    codes = [node.trace if node.HasField("trace") else None for node in nodes]
    outputs = [
        (row, slot, shape.int64_values)
        for row, node in enumerate(nodes)
        for slot, shape in sorted(node.output_shapes.items())
    ]
    inputs = [
        (row, number) for row, node in enumerate(nodes) for _, number in sorted(node.inputs.items())
    ]
    types = [(row, type_) for row, node in enumerate(nodes) for type_ in node.op_types]
    return ProtoColumns(
        header=header,
        start=ints([start for start, _ in spans]),
        end=ints([end for _, end in spans]),
        id=ints([entry.key for entry in entries]),
        name=Strings([node.name for node in nodes]),
        op=Coded.of([node.op for node in nodes]),
        device=Coded.of([node.canonical_device for node in nodes]),
        float_ops=ints([node.float_ops for node in nodes]),
        stack=ints([stacks.setdefault(code, len(stacks) - 1) for code in codes]),
        stacks=[code for code in stacks if code is not None],
        shape=Ragged.of([node.shape for node in nodes]),
        type_node=ints([row for row, _ in types]),
        type=Coded.of([type_ for _, type_ in types]),
        input_node=ints([row for row, _ in inputs]),
        input_id=ints([number for _, number in inputs]),
        output_node=ints([row for row, _, _ in outputs]),
        output_slot=ints([slot for _, slot, _ in outputs]),
        output_shape=Ragged.of([dims for _, _, dims in outputs]),
        recorded=_parsed_recordings(nodes),
        copies=_parsed_copies(records),
    )


def _parsed_copies(records: Records) -> CopyColumns:
    copies = [records.parse(_COPY, start, end) for start, end in records.spans(15)]
    return CopyColumns(
        step=ints([copy.step for copy in copies]),
        name=Coded.of([copy.name for copy in copies]),
        device=Coded.of([copy.device for copy in copies]),
        start=ints([copy.start_micros for copy in copies]),
        duration=ints([copy.micros for copy in copies]),
    )


def _parsed_header(records: Records) -> ProfileHeader:
    strings: dict[int, str] = {}
    rest = bytearray()
    for number, kind, first, last in records.fields():
        if number == 4 and kind == SPAN:
            pair = records.parse(_STRING_ENTRY, first, last)
            strings[pair.key] = pair.value
        elif number == 3 and kind == SPAN:
            rest += b"\x1a" + encoded(last - first) + records.data[first:last]
        elif number in (2, 3, 5) and kind == VARINT:
            rest += encoded(number << 3) + encoded(first)
    message = Records(records.path, bytes(rest)).parse(PROFILE, 0, len(rest))
    return ProfileHeader(
        message.has_trace, message.miss_accelerator_stream, tuple(message.steps), strings
    )


def _parsed_recordings(nodes: Sequence[Message]) -> RecordedColumns:
    found = [
        (row, step, record)
        for row, node in enumerate(nodes)
        for step, record in sorted(node.execs.items())
    ]
    records = [record for _, _, record in found]
    devices = _flat([record.devices for record in records])
    times = _flat([list(_parsed_times(record)) for record in records])
    uses = _flat([record.memory_execs for record in records])
    kept = _flat([sorted(use.output_memory.items()) for _, use in uses])
    allocations = _flat([record.allocations for record in records])
    return RecordedColumns(
        node=ints([row for row, _, _ in found]),
        step=ints([step for _, step, _ in found]),
        runs=ints([record.run_count for record in records]),
        first_start=ints([record.all_start_micros for record in records]),
        last_end=ints([record.latest_end_micros for record in records]),
        device_record=ints([row for row, _ in devices]),
        device=Coded.of([name for _, name in devices]),
        time_record=ints([row for row, _ in times]),
        time_device=Coded.of([device for _, (device, _, _) in times]),
        time_start=ints([start for _, (_, start, _) in times]),
        time_duration=ints([duration for _, (_, _, duration) in times]),
        memory_record=ints([row for row, _ in uses]),
        memory={
            fact: ints([getattr(use, field) for _, use in uses])
            for fact, field in MEMORY_FIELDS.items()
        },
        output_use=ints([row for row, _ in kept]),
        output_slot=ints([slot for _, (slot, _) in kept]),
        output_bytes=ints([memory.bytes for _, (_, memory) in kept]),
        output_address=ints([signed(memory.ptr) for _, (_, memory) in kept]),
        allocation_record=ints([row for row, _ in allocations]),
        allocation_micros=ints([event.alloc_micros for _, event in allocations]),
        allocation_bytes=ints([event.alloc_bytes for _, event in allocations]),
    )


def _parsed_times(record: Message) -> Iterable[tuple[str, int, int]]:
    for devices in (record.accelerator_execs, record.cpu_execs):
        for device, times in sorted(devices.items()):
            for time in times.times:
                if len(time.int64_values) > 1:
                    yield device, time.int64_values[0], time.int64_values[1]


def _flat(rows: Iterable[Iterable[Message]]) -> list[tuple[int, Message]]:
    """All items, each with its row number."""
    return [(row, item) for row, items in enumerate(rows) for item in items]
