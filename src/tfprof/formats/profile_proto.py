"""ProfileProto: a whole profile in one file, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfprof.formats.messages import Message
from tfprof.formats.records import Records
from tfprof.formats.wire import SPAN, VARINT, encoded

PROFILE = "tensorflow.tfprof.ProfileProto"
NODE = "tensorflow.tfprof.ProfileNode"
NODE_ENTRY = "tensorflow.tfprof.ProfileProto.NodesEntry"
RAW_NODE_ENTRY = "raw.NodesEntry"
STRING_ENTRY = "tensorflow.tfprof.ProfileProto.IdToStringEntry"

# What was recorded of a run's memory, and the field that holds it.
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
class SavedNode:
    """One node and where its map entry stands in the file."""

    id: int
    start: int
    end: int
    message: Message


@dataclass(frozen=True, slots=True, eq=False)
class ProfileHeader:
    """What a saved profile says besides its nodes."""

    has_trace: bool
    misses_accelerator_stream: bool
    steps: tuple[int, ...]
    strings: dict[int, str]


def nodes(records: Records) -> Iterator[SavedNode]:
    """The nodes, in file order."""
    for start, end in records.spans(1):
        entry = records.parse(NODE_ENTRY, start, end)
        yield SavedNode(entry.key, start, end, entry.value)


def header(records: Records) -> ProfileHeader:
    """All but the nodes."""
    strings: dict[int, str] = {}
    rest = bytearray()
    for number, kind, first, last in records.fields():
        if number == 4 and kind == SPAN:
            pair = records.parse(STRING_ENTRY, first, last)
            strings[pair.key] = pair.value
        elif number == 3 and kind == SPAN:
            rest += b"\x1a" + encoded(last - first) + records.data[first:last]
        elif number in (2, 3, 5) and kind == VARINT:
            rest += encoded(number << 3) + encoded(first)
    message = Records(records.path, bytes(rest)).parse(PROFILE, 0, len(rest))
    return ProfileHeader(
        message.has_trace, message.miss_accelerator_stream, tuple(message.steps), strings
    )
