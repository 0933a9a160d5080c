"""Telling what a file is from what is in it, whatever its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum

from tfprof.formats import wire
from tfprof.formats.wire import SPAN, VARINT, WireError

# Enough of a file to tell: the first records, and the first lines of a text.
_RECORDS = 8
_SEARCHED = 1000  # a file may begin with a table of strings before its first record
_TEXT_BYTES = 65_536


class FileKind(StrEnum):
    """What a file can be, as an error message names it."""

    GRAPH = "a graph (GraphDef)"
    RUN_META = "run metadata (RunMetadata)"
    OP_LOG = "an op log (OpLogProto)"
    PROFILE = "a saved profile (ProfileProto)"
    CHECKPOINT = "a checkpoint"


def recognise(data: bytes) -> tuple[FileKind | None, bool]:
    """What kind of message `data` holds, or None, and whether it is written as text."""
    if is_text(data):
        return _text_kind(data), True
    return _binary_kind(data), False


def is_text(data: bytes) -> bool:
    """Whether `data` reads as protobuf text; a binary message has control characters early on."""
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in data[:512])


_FIRST_FIELD = re.compile(r"(?:\s|#[^\n]*\n)*([a-z_]+)\s*[:{<\[]")

_TEXT_FIELDS = {
    "node": FileKind.GRAPH,
    "library": FileKind.GRAPH,
    "version": FileKind.GRAPH,
    "versions": FileKind.GRAPH,
    "step_stats": FileKind.RUN_META,
    "cost_graph": FileKind.RUN_META,
    "partition_graphs": FileKind.RUN_META,
    "function_graphs": FileKind.RUN_META,
    "log_entries": FileKind.OP_LOG,
    "nodes": FileKind.PROFILE,
    "has_trace": FileKind.PROFILE,
    "steps": FileKind.PROFILE,
}


def _text_kind(data: bytes) -> FileKind | None:
    found = _FIRST_FIELD.match(data[:_TEXT_BYTES].decode("utf-8", "replace"))
    return _TEXT_FIELDS.get(found[1]) if found else None


def _binary_kind(data: bytes) -> FileKind | None:
    """The kind whose first records look as they should; all four keep them in field 1."""
    records = list(_head(data, 0, len(data), _SEARCHED))
    if not records:
        return None
    main = [(start, end) for number, kind, start, end in records if number == 1 and kind == SPAN]
    main = main[:_RECORDS]
    for file_kind, looks_right in _LOOKS.items():
        if main and all(looks_right(data, start, end) for start, end in main):
            return file_kind
    return None if main else _kind_of_rest({(number, kind) for number, kind, _, _ in records})


def _kind_of_rest(fields: set[tuple[int, int]]) -> FileKind | None:
    """What a file without a single main record may be, by the fields it does have."""
    if (4, SPAN) in fields and fields <= {(2, SPAN), (3, VARINT), (4, SPAN)}:
        return FileKind.GRAPH
    if fields == {(2, SPAN)}:
        return FileKind.OP_LOG
    if (3, SPAN) in fields and fields <= {(2, SPAN), (3, SPAN), (4, SPAN), (5, SPAN)}:
        return FileKind.RUN_META
    return None


def _is_node(data: bytes, start: int, end: int) -> bool:
    kinds = _kinds(data, start, end)
    return kinds is not None and kinds.get(1) == kinds.get(2) == SPAN and max(kinds) <= 7


def _is_step_stats(data: bytes, start: int, end: int) -> bool:
    for number, kind, first, last in _head(data, start, end):
        device = _kinds(data, first, last) if (number, kind) == (1, SPAN) else None
        if device is None or device.get(1, SPAN) != SPAN or max(device, default=0) > 3:
            return False
        if device.get(2, SPAN) != SPAN:
            return False
    return _kinds(data, start, end) is not None


def _is_log_entry(data: bytes, start: int, end: int) -> bool:
    expected = {1: SPAN, 2: VARINT, 3: SPAN, 4: SPAN}
    kinds = _kinds(data, start, end)
    return kinds is not None and 1 in kinds and kinds.items() <= expected.items()


def _is_profile_entry(data: bytes, start: int, end: int) -> bool:
    return _kinds(data, start, end) == {1: VARINT, 2: SPAN}


_LOOKS: dict[FileKind, Callable[[bytes, int, int], bool]] = {
    FileKind.GRAPH: _is_node,
    FileKind.PROFILE: _is_profile_entry,
    FileKind.RUN_META: _is_step_stats,
    FileKind.OP_LOG: _is_log_entry,
}


def _kinds(data: bytes, start: int, end: int) -> dict[int, int] | None:
    """The wire type of each field in a message, or None where it is none."""
    found: dict[int, int] = {}
    try:
        for number, kind, _, _ in wire.fields(data, start, end):
            if found.setdefault(number, kind) != kind:
                return None
    except WireError as error:
        # A message that runs to the end of the file may have been cut there: judge what is left.
        return found if end == len(data) and error.offset > start else None
    return found


def _head(
    data: bytes, start: int, end: int, most: int = _RECORDS
) -> Iterator[tuple[int, int, int, int]]:
    """The first fields of a message, the last of them clipped if the file was cut inside it."""
    walk = wire.fields(data, start, end)
    at = start
    for _ in range(most):
        try:
            field = next(walk)
        except StopIteration:
            return
        except WireError:
            if end == len(data):
                yield from _clipped(data, at, end)
            return
        yield field
        at = field[3]


def _clipped(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The field at `at` that says it is longer than the file, as much as there is of it."""
    try:
        tag, at = wire.varint(data, at, end)
        if tag & 7 == SPAN and tag >> 3:
            _, at = wire.varint(data, at, end)
            yield tag >> 3, SPAN, at, end
    except WireError:
        return
