"""Telling what a file is from what is in it, whatever its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import TypeAlias

from tfprof.formats import wire
from tfprof.formats.file_spans import FileBytes
from tfprof.formats.wire import SPAN, VARINT, WireError

# Enough of a file to tell: the first records, and the first lines of a text.
_RECORDS = 8
_SEARCHED = 1000  # a file may begin with a table of strings before its first record
_TEXT_BYTES = 65_536

Bytes: TypeAlias = bytes | FileBytes
Field = tuple[int, int, int, int]  # as `wire.fields` gives it


class FileKind(StrEnum):
    """The kinds of files that tfprof reads, as error messages name them."""

    GRAPH = "a graph (GraphDef)"
    RUN_META = "run metadata (RunMetadata)"
    OP_LOG = "an op log (OpLogProto)"
    PROFILE = "a saved profile (ProfileProto)"
    SAVED_MODEL = "a SavedModel"
    CHECKPOINT = "a checkpoint"
    XSPACE = "a profiler's recording (XSpace)"


def recognise(data: Bytes) -> tuple[FileKind | None, bool]:
    """What kind of message `data` holds, or None, and whether it is written as text."""
    looks_like_text = is_text(data)
    if looks_like_text and (kind := _text_kind(data)) is not None:
        return kind, True
    # A short message of letters alone looks like text too, but not like one that names a field.
    kind = _binary_kind(data)
    return kind, looks_like_text and kind is None


def is_text(data: Bytes) -> bool:
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
    "saved_model_schema_version": FileKind.SAVED_MODEL,
    "meta_graphs": FileKind.SAVED_MODEL,
}


def _text_kind(data: Bytes) -> FileKind | None:
    found = _FIRST_FIELD.match(data[:_TEXT_BYTES].decode("utf-8", "replace"))
    return _TEXT_FIELDS.get(found[1]) if found else None


def _binary_kind(data: Bytes) -> FileKind | None:
    """The kind whose first records look as they should; all of them keep those in field 1."""
    whole = list(islice(_fields(data, 0, len(data), is_cut=False), _SEARCHED))
    main = _main(whole)[:_RECORDS]
    is_cut = not main
    if is_cut:
        # The file may have been cut inside its first record: what is left of that one must do.
        main = _main(_fields(data, 0, len(data), is_cut=True))[:_RECORDS]
    for file_kind, looks_right in _LOOKS.items():
        if main and all(looks_right(data, start, end, is_cut) for start, end in main):
            return file_kind
    if main:
        return None
    # A graph may be cut that the whole file is.
    known = whole if len(whole) > 1 else _fields(data, 0, len(data), is_cut=True)
    return _kind_of_rest({(number, kind) for number, kind, _, _ in islice(known, _SEARCHED)})


def _main(fields: Iterable[Field]) -> list[tuple[int, int]]:
    return [(start, end) for number, kind, start, end in fields if (number, kind) == (1, SPAN)]


def _kind_of_rest(fields: set[tuple[int, int]]) -> FileKind | None:
    """What a file without a single main record may be, by the fields it does have."""
    if (2, VARINT) in fields:
        return FileKind.PROFILE
    if fields == {(1, VARINT), (2, SPAN)}:
        return FileKind.SAVED_MODEL
    if (4, SPAN) in fields and fields <= {(2, SPAN), (3, VARINT), (4, SPAN)}:
        return FileKind.GRAPH
    if fields == {(2, SPAN)}:
        return FileKind.OP_LOG
    if (3, SPAN) in fields and fields <= {(2, SPAN), (3, SPAN), (4, SPAN), (5, SPAN)}:
        return FileKind.RUN_META
    return None


def _is_node(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    kinds = _kinds(data, start, end, is_cut)
    return kinds is not None and kinds.get(1) == kinds.get(2) == SPAN and max(kinds) <= 7


def _is_step_stats(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    fields = list(islice(_fields(data, start, end, is_cut), _RECORDS))
    devices = [_kinds(data, first, last, is_cut) for first, last in _main(fields)]
    if len(devices) < len(fields) or not all(map(_is_device, devices)):
        return False
    # A name at the start of another cut record may pass for a device, but not for one with a name.
    if is_cut:
        return any(device and 1 in device for device in devices)
    return _kinds(data, start, end, is_cut) is not None


def _is_device(kinds: dict[int, int] | None) -> bool:
    if kinds is None or max(kinds, default=0) > 3:
        return False
    return kinds.get(1, SPAN) == kinds.get(2, SPAN) == SPAN


def _is_log_entry(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    expected = {1: SPAN, 2: VARINT, 3: SPAN, 4: SPAN}
    kinds = _kinds(data, start, end, is_cut)
    # A node begins with a name too, so of a cut record that alone says nothing.
    if kinds is None or 1 not in kinds or (is_cut and len(kinds) == 1):
        return False
    return kinds.items() <= expected.items()


def _is_profile_entry(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    kinds = _kinds(data, start, end, is_cut)
    return kinds == {1: VARINT, 2: SPAN} or (is_cut and kinds == {1: VARINT})


def _is_plane(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    """Whether this is a plane of a recording: its name is text, where a saved op has a message."""
    kinds = _kinds(data, start, end, is_cut)
    if kinds is None or not kinds.items() <= _PLANE_FIELDS.items():
        return False
    first = islice(_fields(data, start, end, is_cut), 2)  # the name stands after the number, if any
    names = [data[begin:last] for number, _, begin, last in first if number == 2]
    return any(re.match(rb"[\x20-\x7e]+\Z", name) for name in names)


_PLANE_FIELDS = {1: VARINT, 2: SPAN, 3: SPAN, 4: SPAN, 5: SPAN, 6: SPAN}


_LOOKS: dict[FileKind, Callable[[Bytes, int, int, bool], bool]] = {
    FileKind.GRAPH: _is_node,
    FileKind.XSPACE: _is_plane,
    FileKind.PROFILE: _is_profile_entry,
    FileKind.RUN_META: _is_step_stats,
    FileKind.OP_LOG: _is_log_entry,
}


def _kinds(data: Bytes, start: int, end: int, is_cut: bool) -> dict[int, int] | None:
    """The wire type of each of the first fields in a message, or None where it is none."""
    found: dict[int, int] = {}
    at, count = start, 0
    for number, kind, _, last in islice(_fields(data, start, end, is_cut), _SEARCHED):
        if found.setdefault(number, kind) != kind:
            return None
        at, count = last, count + 1
    is_whole = at == end or count == _SEARCHED
    return found if is_whole or (is_cut and end == len(data)) else None


def _fields(data: Bytes, start: int, end: int, is_cut: bool) -> Iterator[Field]:
    """The fields of a message up to the first damaged one; of one cut by the end of the file too.

    Of a field that was cut there is as much as the file has.
    """
    at = start
    try:
        for field in wire.fields(data, start, end):
            yield field
            at = field[3]
    except WireError:
        if is_cut and end == len(data):
            yield from _clipped(data, at)


def _clipped(data: Bytes, at: int) -> Iterator[Field]:
    """The field at `at`, if it is one that says it is longer than the file."""
    try:
        tag, at = wire.varint(data, at)
        length, at = wire.varint(data, at)
    except WireError:
        return
    if tag & 7 == SPAN and 0 < tag >> 3 <= wire.LARGEST_FIELD and length > len(data) - at:
        yield tag >> 3, SPAN, at, len(data)
