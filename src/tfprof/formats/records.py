"""A protobuf file as a sequence of records, with errors that say which record is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tfprof.columns import Ints, Strings
from tfprof.errors import InputError, TruncatedError
from tfprof.formats import messages, wire
from tfprof.formats.messages import Message
from tfprof.formats.stored import StoredFile
from tfprof.formats.wire import SPAN, WireError


class MessageReader(Protocol):
    """Parses messages at given byte positions of a file."""

    @property
    def path(self) -> str: ...

    def parse(self, name: str, start: int, end: int) -> Message:
        """The message of type `name` from byte `start` to `end`."""

    def cut(self, starts: Ints, ends: Ints) -> Strings:
        """The bytes of many messages, which go from `starts` to `ends`."""


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The bytes of one message, and the path for error messages."""

    path: str
    data: bytes
    file: StoredFile | None = None  # to read the bytes again

    def left_in_file(self) -> MessageReader:
        """A reader of the same messages that keeps the file open instead of its bytes in memory.

        Returns this object if the file cannot be read again.
        """
        return self if self.file is None else StoredRecords(self.path, self.file)

    def fields(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
        """The fields of the message in `data[start:end]`, in the form of `wire.fields`."""
        count = 0
        try:
            for field in wire.fields(self.data, start, end):
                yield field
                count += 1
        except WireError as error:
            raise TruncatedError(self.path, self._complaint(count + 1, error)) from None

    def spans(
        self, number: int, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, int]]:
        """The start and end of each message in field `number` of `data[start:end]`."""
        count = 0
        try:
            # Not through `fields`: this runs once per op, and a nested generator doubles the cost.
            for field, kind, first, last in wire.fields(self.data, start, end):
                count += 1
                if field == number and kind == SPAN:
                    yield first, last
        except WireError as error:
            raise TruncatedError(self.path, self._complaint(count + 1, error)) from None

    def parse(self, name: str, start: int, end: int) -> Message:
        """The message of type `name` in `data[start:end]`."""
        return _parsed(self.path, name, self.data[start:end], start)

    def cut(self, starts: Ints, ends: Ints) -> Strings:
        """The bytes of many messages, which go from `starts` to `ends`."""
        return Strings.of_spans(self.data, starts, ends)

    def _complaint(self, record: int, error: WireError) -> str:
        where = f"record {record:,}: {error.reason} at byte {error.offset:,}"
        return f"is cut short or damaged in {where}; was the program still writing it?"


@dataclass(frozen=True, slots=True, eq=False)
class StoredRecords:
    """Records whose bytes stay in the file until one is parsed."""

    path: str
    file: StoredFile

    def parse(self, name: str, start: int, end: int) -> Message:
        """The message of type `name` from byte `start` to `end`."""
        return _parsed(self.path, name, self.file.read(start, end), start)

    def cut(self, starts: Ints, ends: Ints) -> Strings:
        """The bytes of many messages, which go from `starts` to `ends`."""
        first = int(starts.min()) if len(starts) else 0
        data = self.file.read(first, int(ends.max(initial=first)))
        return Strings.of_spans(data, starts - first, ends - first)


def _parsed(path: str, name: str, encoded: bytes, start: int) -> Message:
    try:
        return messages.decode(name, encoded)
    except messages.DecodeError:
        raise InputError(
            path, f"the {name.rpartition('.')[2]} at byte {start:,} is damaged."
        ) from None
