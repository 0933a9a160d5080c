"""OpLogProto: what a program said of its ops, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tfprof.columns import Coded, Ints, Strings, ints
from tfprof.errors import InputError
from tfprof.formats import scan
from tfprof.formats.messages import DecodeError, Message, message_class
from tfprof.formats.records import Records
from tfprof.formats.scanned import LogScan

OP_LOG = "tensorflow.tfprof.OpLogProto"
_ENTRY = "raw.OpLogEntry"
_STRING_ENTRY = "tensorflow.tfprof.OpLogProto.IdToStringEntry"

Trace = tuple[str, int, str, str, int]  # file, line, function, text of the line, function's line


class LogEntry(NamedTuple):
    """What the log says of one op; `code` is None where it says nothing of its code."""

    name: str
    float_ops: int
    types: tuple[str, ...]
    code: bytes | None  # of equal stacks the same bytes, see `StackReader`


def entries(records: Records) -> Iterator[LogEntry]:
    """The entries of the log, in file order."""
    for start, end in records.spans(1):
        entry = records.parse(_ENTRY, start, end)
        code = entry.code_def if entry.HasField("code_def") else None
        yield LogEntry(entry.name, entry.float_ops, tuple(entry.types), code)


@dataclass(frozen=True, slots=True, eq=False)
class LogColumns:
    """A row an entry, in file order; a table beside it has a row for each type that one gives."""

    name: Strings
    float_ops: Ints
    type_entry: Ints
    type: Coded
    stack: Ints  # a place in `stacks`; -1 where the entry says nothing of its code
    stacks: list[bytes]  # the distinct ones, encoded; see `StackReader`


def decode(records: Records) -> LogColumns:
    """What the log says, as columns."""
    found = scan.scan_log(records.data) if scan.is_compiled() else None
    return _parsed(records) if found is None else _scanned(records.data, found)


def _scanned(data: bytes, found: LogScan) -> LogColumns:
    stacks = zip(found.stack_start.tolist(), found.stack_end.tolist(), strict=True)
    return LogColumns(
        name=Strings.of_spans(data, found.name_start, found.name_end),
        float_ops=found.float_ops,
        type_entry=found.type_entry,
        type=Coded(found.type, Strings.of_spans(data, found.type_start, found.type_end)),
        stack=found.stack,
        stacks=[data[start:end] for start, end in stacks],
    )


def _parsed(records: Records) -> LogColumns:
    found = list(entries(records))
    types = [(row, type_) for row, entry in enumerate(found) for type_ in entry.types]
    stacks: dict[bytes | None, int] = {None: -1}
    stack = [stacks.setdefault(entry.code, len(stacks) - 1) for entry in found]
    return LogColumns(
        name=Strings([entry.name for entry in found]),
        float_ops=ints([entry.float_ops for entry in found]),
        type_entry=ints([row for row, _ in types]),
        type=Coded.of([type_ for _, type_ in types]),
        stack=ints(stack),
        stacks=[code for code in stacks if code is not None],
    )


def strings(records: Records) -> dict[int, str]:
    """The log's table of strings, by id."""
    found = _scanned_strings(records.data) if scan.is_compiled() else None
    return _parsed_strings(records) if found is None else found


def _scanned_strings(data: bytes) -> dict[int, str] | None:
    spans = scan.scan_strings(data)
    if spans is None:
        return None
    found: dict[int, str] = {}
    try:
        for number, start, end in zip(*(column.tolist() for column in spans), strict=True):
            found.setdefault(number, data[start:end].decode("utf-8"))
    except UnicodeDecodeError:
        return None
    return found


def _parsed_strings(records: Records) -> dict[int, str]:
    found: dict[int, str] = {}
    for start, end in records.spans(2):
        pair = records.parse(_STRING_ENTRY, start, end)
        found.setdefault(pair.key, pair.value)
    return found


@dataclass(slots=True, eq=False)
class StackReader:
    """Turns an encoded call stack into traces, with the strings its ids stand for."""

    path: str
    strings: Mapping[int, str]
    unknown_ids: set[int] = field(default_factory=set)

    def read(self, code: bytes) -> list[Trace]:
        """The traces of a stack, outermost first."""
        try:
            decoded = message_class("tensorflow.tfprof.CodeDef").FromString(code)
        except DecodeError:
            raise InputError(self.path, "a call stack in it is damaged.") from None
        return [self._trace(trace) for trace in decoded.traces]

    def _trace(self, trace: Message) -> Trace:
        return (
            trace.file or self._string(trace.file_id),
            trace.lineno,
            trace.function or self._string(trace.function_id),
            trace.line or self.strings.get(trace.line_id, ""),
            trace.func_start_line,
        )

    def _string(self, number: int) -> str:
        if number not in self.strings:
            self.unknown_ids.add(number)
        return self.strings.get(number, "unknown")
