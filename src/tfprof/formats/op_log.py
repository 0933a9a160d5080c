"""OpLogProto: what a program logged about its ops, decoded into columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from tfprof.columns import Coded, Ints, Strings, in_pieces, ints
from tfprof.errors import InputError
from tfprof.formats import messages, scan, wire
from tfprof.formats.records import Records
from tfprof.formats.scan_plan import Bytes, Code, Codes, Fields, Number, Plan, Rows, Text
from tfprof.formats.scanned import Scanned, scanned_or_parsed

OP_LOG = "tensorflow.tfprof.OpLogProto"
_RAW_ENTRY = "raw.OpLogEntry"
_RAW_STRING = "tensorflow.tfprof.OpLogProto.IdToStringEntry"
_STACK = "tensorflow.tfprof.CodeDef"

RawTrace: TypeAlias = tuple[Any, ...]  # the values of `_TRACE_FIELDS`
Trace = tuple[str, int, str, str, int]  # file, line, function, text of the line, function's line


@dataclass(frozen=True, slots=True, eq=False)
class LogColumns:
    """One row per entry, in file order; `type_entry` and `type` have one row per assigned type."""

    name: Strings
    float_ops: Ints
    type_entry: Ints
    type: Coded
    stack: Ints  # an index into `stacks`; -1 if the entry has no call stack
    stacks: list[bytes]  # distinct encoded stacks; see `StackReader`
    strings: dict[int, str]  # the strings that the stacks refer to by id


def decode(records: Records) -> LogColumns:
    """The entries of the log as columns."""
    return scanned_or_parsed(records, _scanned, _parsed)


_ENTRY: Fields = {
    1: Text("name"),
    2: Number("float_ops"),
    3: Codes("type", has_owner=True),
    4: Code("stack", is_text=False),
}
_PLAN = Plan({1: Rows("entry", _ENTRY), 2: Rows("string", {1: Number("id"), 2: Bytes("text")})})


def _scanned(data: bytes) -> LogColumns | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    strings: dict[int, str] = {}
    try:
        for number, text in zip(
            found["string.id"].tolist(), found.pieces("string.text"), strict=True
        ):
            strings.setdefault(number, text.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    return LogColumns(
        name=found.strings("entry.name"),
        float_ops=found["entry.float_ops"],
        type_entry=found["type.owner"],
        type=found.coded("type.code"),
        stack=found["entry.stack"] - 1,
        stacks=found.distinct_bytes("entry.stack"),
        strings=strings,
    )


def _parsed(records: Records) -> LogColumns:
    found = [records.parse(_RAW_ENTRY, start, end) for start, end in records.spans(1)]
    types = [(row, type_) for row, entry in enumerate(found) for type_ in entry.types]
    stacks: dict[bytes | None, int] = {None: -1}
    codes = [entry.code_def if entry.HasField("code_def") else None for entry in found]
    stack = [stacks.setdefault(code, len(stacks) - 1) for code in codes]
    strings: dict[int, str] = {}
    for start, end in records.spans(2):
        pair = records.parse(_RAW_STRING, start, end)
        strings.setdefault(pair.key, pair.value)
    return LogColumns(
        name=Strings([entry.name for entry in found]),
        float_ops=ints([entry.float_ops for entry in found]),
        type_entry=ints([row for row, _ in types]),
        type=Coded.of([type_ for _, type_ in types]),
        stack=ints(stack),
        stacks=[code for code in stacks if code is not None],
        strings=strings,
    )


@dataclass(slots=True, eq=False)
class StackReader:
    """Decodes call stacks, replacing string ids by the strings; collects the unknown ids."""

    path: str
    strings: Mapping[int, str]
    unknown_ids: set[int] = field(default_factory=set)

    def read(self, stacks: Sequence[bytes]) -> Iterator[Iterator[Trace]]:
        """The traces of each stack, outermost call first, to be used in this order."""
        found = _scanned_stacks(stacks) if scan.is_compiled() else None
        if found is None:
            found = (iter(self._parsed(stack)) for stack in stacks)
        return (map(self._trace, stack) for stack in found)

    def _parsed(self, stack: bytes) -> list[RawTrace]:
        try:
            decoded = messages.decode(_STACK, stack)
        except messages.DecodeError:
            raise InputError(self.path, "contains a damaged call stack.") from None
        return [tuple(getattr(trace, name) for name in _TRACE_FIELDS) for trace in decoded.traces]

    def _trace(self, trace: RawTrace) -> Trace:
        file, line, function, text, function_line, file_id, function_id, text_id = trace
        return (
            file or self._string(file_id),
            line,
            function or self._string(function_id),
            text or self.strings.get(text_id, ""),
            function_line,
        )

    def _string(self, number: int) -> str:
        if number not in self.strings:
            self.unknown_ids.add(number)
        return self.strings.get(number, "unknown")


_TRACE: dict[int, Text | Number] = {
    1: Text("file"),
    2: Number("lineno", is_short=True),
    3: Text("function"),
    4: Text("line"),
    5: Number("func_start_line", is_short=True),
    6: Number("file_id"),
    7: Number("function_id"),
    8: Number("line_id"),
}
_TRACE_FIELDS = tuple(kind.column for kind in _TRACE.values())
_STACKS_PLAN = Plan({1: Rows("stack", {1: Rows("trace", _TRACE)})})


def _scanned_stacks(stacks: Sequence[bytes]) -> Iterator[Iterator[RawTrace]] | None:
    """The traces of each stack, or None if protobuf has to decode them."""
    found = Scanned.of(_STACKS_PLAN, b"".join(map(_framed, stacks)))
    if found is None:
        return None
    columns = (
        found.strings(f"trace.{kind.column}")
        if isinstance(kind, Text)
        else in_pieces(found[f"trace.{kind.column}"])
        for kind in _TRACE.values()
    )
    traces = zip(*columns, strict=True)
    counts = np.diff(found["stack.trace"])
    return (islice(traces, count) for count in in_pieces(counts))


def _framed(stack: bytes) -> bytes:
    """The stack encoded as field 1 of an enclosing message."""
    return b"\x0a" + wire.encoded(len(stack)) + stack
