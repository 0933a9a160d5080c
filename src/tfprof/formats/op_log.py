"""OpLogProto: what a program said of its ops, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tfprof.errors import InputError
from tfprof.formats.messages import DecodeError, Message, message_class
from tfprof.formats.records import Records

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


def strings(records: Records) -> dict[int, str]:
    """The log's table of strings, by id."""
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
