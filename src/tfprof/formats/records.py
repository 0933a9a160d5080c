"""A protobuf file as a run of records, walked one by one with precise complaints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tfprof.errors import InputError
from tfprof.formats import messages, text, wire
from tfprof.formats.messages import Message, message_class, parse_text
from tfprof.formats.text import TextFormatError
from tfprof.formats.wire import SPAN, WireError

_PLACE = re.compile(r"^(\d+):(\d+) : ")  # as protobuf says where
_LONGEST_REASON = 200  # letters that a complaint takes over from the parser of texts


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The bytes of one message and the path to name when something is wrong with them."""

    path: str
    data: bytes

    @classmethod
    def from_text(cls, path: str, data: bytes, name: str) -> Records:
        """The records of a message written as protobuf text."""
        try:
            if text.is_compiled():
                return cls(path, text.to_wire(_text_schema(name), data))
            return cls(path, parse_text(name, data.decode("utf-8")).SerializeToString())
        except (ValueError, messages.TextError, RecursionError) as error:
            # To protobuf, a number that is too large for an enum is a plain ValueError.
            reason = _reason(error, data)
        raise InputError(path, f"is no complete {name} text: {reason}")

    def fields(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
        """The fields of the message in `data[start:end]`, as `wire.fields` gives them."""
        count = 0
        try:
            for field in wire.fields(self.data, start, end):
                yield field
                count += 1
        except WireError as error:
            raise InputError(self.path, self._complaint(count + 1, error)) from None

    def spans(
        self, number: int, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, int]]:
        """Where the messages in field `number` of `data[start:end]` begin and end."""
        count = 0
        try:
            # Not by way of `fields`: this is walked once for each op, and a generator within a
            # generator doubles the cost.
            for field, kind, first, last in wire.fields(self.data, start, end):
                count += 1
                if field == number and kind == SPAN:
                    yield first, last
        except WireError as error:
            raise InputError(self.path, self._complaint(count + 1, error)) from None

    def parse(self, name: str, start: int, end: int) -> Message:
        """The message of type `name` in `data[start:end]`."""
        try:
            return message_class(name).FromString(self.data[start:end])
        except messages.DecodeError:
            raise InputError(
                self.path, f"the {name.rpartition('.')[2]} at byte {start:,} is damaged."
            ) from None

    def _complaint(self, record: int, error: WireError) -> str:
        where = f"record {record:,}: {error.reason} at byte {error.offset:,}"
        return f"is cut short or damaged in {where}; was the program still writing it?"


@cache
def _text_schema(name: str) -> text.Schema:
    return text.Schema(message_class(name).DESCRIPTOR)


def _reason(error: Exception, data: bytes) -> str:
    """What is wrong with a text, whichever reader found it: the line, the column and why."""
    reason = str(error)
    if isinstance(error, RecursionError):
        reason = text.TOO_DEEP
    elif isinstance(error, UnicodeDecodeError):
        reason = str(TextFormatError(*text.place(data, error.start), text.NO_UTF8))
    elif isinstance(error, messages.TextError):
        reason = _PLACE.sub(r"line \1, column \2: ", reason)
    reason = _shortened(reason)
    return reason if reason.endswith("?") else f"{reason}."


def _shortened(reason: str) -> str:
    """The reason without the whole of a line that may be the whole file."""
    reason = " ".join(reason.split()).rstrip(".")
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:80]} … {reason[-80:]}"
