"""Recognise protobuf messages by their content, whatever the file name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, TypeAlias

from tfprof.formats import wire
from tfprof.formats.file_spans import FileBytes
from tfprof.formats.wire import SPAN, VARINT, WireError

# How much of a file is examined: the first records, or the first bytes of a text.
_RECORDS = 8
_SEARCHED = 1000  # a file may begin with a table of strings before its first record
_TEXT_BYTES = 65_536

Bytes: TypeAlias = bytes | FileBytes
Field = tuple[int, int, int, int]  # as yielded by `wire.fields`


# The file that marks a folder as a store.
STORE_MARK = "tfprof-store.json"
# The first file in the zip archive of a saved profile.
PROFILE_MANIFEST = "tfprof.json"


def is_saved_profile(head: bytes) -> bool:
    """Whether a file with these first bytes is a profile that tfprof saved."""
    name = head[30 : 30 + len(PROFILE_MANIFEST)]  # of the first file in a zip archive
    return head.startswith(b"PK\x03\x04") and name == PROFILE_MANIFEST.encode()


# The files in the zip archive of a Keras model.
KERAS_FILES = ("config.json", "model.weights.h5", "metadata.json")


def is_keras_archive(head: bytes) -> bool:
    """Whether a file with these first bytes is a `.keras` file."""
    name = head[30 : 30 + head[26]] if head.startswith(b"PK\x03\x04") and len(head) > 30 else b""
    return name.decode("ascii", "replace") in KERAS_FILES


def is_hdf5(head: bytes) -> bool:
    """Whether a file with these first bytes is an HDF5 file."""
    return head.startswith(b"\x89HDF\r\n\x1a\n")


class MessageKind(StrEnum):
    """The supported messages, named after their sources."""

    GRAPH = "graph"
    RUN_META = "run_meta"
    OP_LOG = "op_log"
    PROFILE = "profile_proto"
    SAVED_MODEL = "saved_model"
    XSPACE = "xspace"


# The names that a SavedModel's message has in its folder.
SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")


class Recognised(NamedTuple):
    """The kind of message, or None, and whether the file is text."""

    kind: MessageKind | None
    is_text: bool


def recognise(data: Bytes) -> Recognised:
    """The kind of message in `data`, if it contains one."""
    looks_like_text = is_text(data)
    if looks_like_text and (kind := _text_kind(data)) is not None:
        return Recognised(kind, is_text=True)
    # A short binary message of letters looks like text too, but names no known field.
    kind = _binary_kind(data)
    return Recognised(kind, looks_like_text and kind is None)


def is_text(data: Bytes) -> bool:
    """Whether `data` looks like protobuf text: no control characters at the start."""
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in data[:512])


_FIRST_FIELD = re.compile(r"(?:\s|#[^\n]*\n)*([a-z_]+)\s*[:{<\[]")

_TEXT_FIELDS = {
    "node": MessageKind.GRAPH,
    "library": MessageKind.GRAPH,
    "version": MessageKind.GRAPH,
    "versions": MessageKind.GRAPH,
    "step_stats": MessageKind.RUN_META,
    "cost_graph": MessageKind.RUN_META,
    "partition_graphs": MessageKind.RUN_META,
    "function_graphs": MessageKind.RUN_META,
    "log_entries": MessageKind.OP_LOG,
    "nodes": MessageKind.PROFILE,
    "has_trace": MessageKind.PROFILE,
    "steps": MessageKind.PROFILE,
    "saved_model_schema_version": MessageKind.SAVED_MODEL,
    "meta_graphs": MessageKind.SAVED_MODEL,
}


def _text_kind(data: Bytes) -> MessageKind | None:
    found = _FIRST_FIELD.match(data[:_TEXT_BYTES].decode("utf-8", "replace"))
    return _TEXT_FIELDS.get(found[1]) if found else None


def _binary_kind(data: Bytes) -> MessageKind | None:
    """The kind whose first records match; every kind keeps its records in field 1."""
    whole = list(islice(_fields(data, 0, len(data), is_cut=False), _SEARCHED))
    main = _main(whole)[:_RECORDS]
    is_cut = not main
    if is_cut:
        # The file may be cut off inside its first record; examine what is left of it.
        main = _main(_fields(data, 0, len(data), is_cut=True))[:_RECORDS]
    for file_kind, looks_right in _LOOKS.items():
        if main and all(looks_right(data, start, end, is_cut) for start, end in main):
            return file_kind
    if main:
        return None
    # The file may be a single record that is cut off.
    known = whole if len(whole) > 1 else _fields(data, 0, len(data), is_cut=True)
    return _kind_of_rest({(number, kind) for number, kind, _, _ in islice(known, _SEARCHED)})


def _main(fields: Iterable[Field]) -> list[tuple[int, int]]:
    return [(start, end) for number, kind, start, end in fields if (number, kind) == (1, SPAN)]


def _kind_of_rest(fields: set[tuple[int, int]]) -> MessageKind | None:
    """The likely kind of a file without main records, judging by its fields."""
    if (2, VARINT) in fields:
        return MessageKind.PROFILE
    if fields == {(1, VARINT), (2, SPAN)}:
        return MessageKind.SAVED_MODEL
    if (4, SPAN) in fields and fields <= {(2, SPAN), (3, VARINT), (4, SPAN)}:
        return MessageKind.GRAPH
    if fields == {(2, SPAN)}:
        return MessageKind.OP_LOG
    if (3, SPAN) in fields and fields <= {(2, SPAN), (3, SPAN), (4, SPAN), (5, SPAN)}:
        return MessageKind.RUN_META
    return None


def _is_node(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    kinds = _kinds(data, start, end, is_cut)
    return kinds is not None and {1, 2} <= kinds.keys() and kinds.items() <= _NODE_FIELDS.items()


_NODE_FIELDS = dict.fromkeys(range(1, 8), SPAN)


def _is_step_stats(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    fields = list(islice(_fields(data, start, end, is_cut), _RECORDS))
    devices = [_kinds(data, first, last, is_cut) for first, last in _main(fields)]
    if len(devices) < len(fields) or not all(map(_is_device, devices)):
        return False
    # The name at the start of a different, cut-off record may look like a device, but not like a
    # device with a name.
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
    # Nodes also start with a name, so a cut-off record that contains only a name may be a node.
    if kinds is None or 1 not in kinds or (is_cut and len(kinds) == 1):
        return False
    return kinds.items() <= expected.items()


def _is_profile_entry(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    kinds = _kinds(data, start, end, is_cut)
    return kinds == {1: VARINT, 2: SPAN} or (is_cut and kinds == {1: VARINT})


def _is_plane(data: Bytes, start: int, end: int, is_cut: bool) -> bool:
    """Whether this is a plane of a recording: field 2 is text; in a saved op it is a message."""
    kinds = _kinds(data, start, end, is_cut)
    if kinds is None or not kinds.items() <= _PLANE_FIELDS.items():
        return False
    first = islice(_fields(data, start, end, is_cut), 2)  # an optional id, then the name
    names = [data[begin:last] for number, _, begin, last in first if number == 2]
    return any(re.match(rb"[\x20-\x7e]+\Z", name) for name in names)


_PLANE_FIELDS = {1: VARINT, 2: SPAN, 3: SPAN, 4: SPAN, 5: SPAN, 6: SPAN}


_LOOKS: dict[MessageKind, Callable[[Bytes, int, int, bool], bool]] = {
    MessageKind.GRAPH: _is_node,
    MessageKind.XSPACE: _is_plane,
    MessageKind.PROFILE: _is_profile_entry,
    MessageKind.RUN_META: _is_step_stats,
    MessageKind.OP_LOG: _is_log_entry,
}


def _kinds(data: Bytes, start: int, end: int, is_cut: bool) -> dict[int, int] | None:
    """The wire types of a message's first fields, by number, or None if it is not a message."""
    found: dict[int, int] = {}
    at, count = start, 0
    for number, kind, _, last in islice(_fields(data, start, end, is_cut), _SEARCHED):
        if found.setdefault(number, kind) != kind:
            return None
        at, count = last, count + 1
    is_whole = at == end or count == _SEARCHED
    return found if is_whole or (is_cut and end == len(data)) else None


def _fields(data: Bytes, start: int, end: int, is_cut: bool) -> Iterator[Field]:
    """The fields of a message up to the first damaged one.

    With `is_cut`, a field cut off by the end of the file is included, shortened.
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
    """The field at `at`, shortened, if it extends past the end of the file."""
    try:
        tag, at = wire.varint(data, at)
        length, at = wire.varint(data, at)
    except WireError:
        return
    if tag & 7 == SPAN and 0 < tag >> 3 <= wire.LARGEST_FIELD and length > len(data) - at:
        yield tag >> 3, SPAN, at, len(data)
