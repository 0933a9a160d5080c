"""Reads Kineto traces with the `json` module: for systems without a compiler, and to compare."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Self

from tfprof.columns import Coded, Ints, Strings, ints
from tfprof.formats.kineto import fields
from tfprof.formats.kineto.columns import (
    MISSING,
    Collectives,
    Flows,
    LaunchConfigurations,
    MemoryEvents,
    Slices,
    Trace,
)
from tfprof.formats.kineto.damage import DamagedError, StoppedError, next_event
from tfprof.formats.kineto.envelope import DECODER, Found, base_of, standardised, threads_of

_SPACE = re.compile(r"[ \t\n\r]*")
_MOST_DIGITS = 1000


class _Float(float):
    """A number with a point or an exponent, and its text."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number


def _int(text: str) -> int | float:
    """A number; Python refuses to decode integers with thousands of digits."""
    return int(text) if len(text) < _MOST_DIGITS else _Float(text)


_EVENTS = json.JSONDecoder(
    parse_float=_Float, parse_int=_int, parse_constant=lambda _: None, strict=False
)


def read(data: bytes) -> Found:
    """The trace in `data`, or the intact part if it ends early or is damaged.

    Raises `DamagedError` if it is no trace.
    """
    reader = _Reader(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    is_whole = reader.read()
    read = len(data) if is_whole else len(reader.text[: reader.at].encode())
    return Found(reader.trace(), min(read, len(data)), len(data), is_whole, reader.is_followed)


class _Table:
    """Columns that grow row by row."""

    def __init__(self, numbers: Mapping[str, str], texts: Mapping[str, str], *more: str) -> None:
        self.numbers = dict.fromkeys(chain(numbers.values(), more), 0)
        self.texts = dict.fromkeys(texts.values(), 0)
        self.rows: dict[str, list[int]] = {name: [] for name in (*self.numbers, *self.texts)}
        self.codes: dict[str, dict[str, int]] = {name: {} for name in self.texts}

    def add(self, values: Mapping[str, int | str]) -> None:
        """Add a row; numbers that are not given are `MISSING`, and texts empty."""
        for name in self.numbers:
            self.rows[name].append(values.get(name, MISSING))  # type: ignore[arg-type]
        for name, codes in self.codes.items():
            text = str(values.get(name, ""))
            self.rows[name].append(codes.setdefault(text, len(codes)))

    def columns(self) -> dict[str, Any]:
        """The columns by name, of type `Ints` or `Coded`."""
        found: dict[str, Ints | Coded] = {name: ints(self.rows[name]) for name in self.numbers}
        for name, codes in self.codes.items():
            found[name] = Coded(ints(self.rows[name]), Strings(codes))
        return found


class _Reader:
    """Walks through the text of a trace."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0  # all before it has been read
        self.header: dict[str, Any] = {}
        self.has_events = False
        self.events = self.damaged = self.clamped = 0
        self.is_complete = self.is_followed = False
        times = ("thread", "start_ns", "duration_ns")
        self.slices = _Table(
            fields.SLICE_NUMBERS,
            {"cat": "category", "name": "name"} | fields.SLICE_TEXTS,
            *times,
        )
        self.collectives = _Table(fields.COLLECTIVE_NUMBERS, fields.COLLECTIVE_TEXTS, "slice")
        self.configurations = _Table(fields.LAUNCH_NUMBERS, fields.LAUNCH_TEXTS, "slice")
        self.memory = _Table(fields.MEMORY_NUMBERS, {}, "thread", "time_ns")
        self.flows = _Table({}, {}, "id", "is_start", "thread", "time_ns")
        self.threads: dict[tuple[str, str], int] = {}
        self.names: dict[tuple[str, ...], str] = {}

    # The envelope.

    def read(self) -> bool:
        """Read the whole text; whether it is complete."""
        try:
            first = self.char(start := _after_space(self.text, 0))
            self.at = start
            if first == "[":
                self.has_events = True
                self.read_events()
            elif first == "{":
                self.read_members()
            else:
                raise DamagedError("is not a trace: it does not start with an object or a list")
        except StoppedError:
            return False
        if not self.has_events:
            raise DamagedError("contains no traceEvents")
        self.is_followed = bool(self.text[_after_space(self.text, self.at) :])
        return not self.is_followed

    def read_members(self) -> None:
        """Read the object around the events."""
        at = _after_space(self.text, self.at + 1)
        while self.char(at) != "}":
            self.at = at
            if self.char(at) != '"':
                raise StoppedError
            key, at = self.decode(at)
            if self.char(at := _after_space(self.text, at)) != ":":
                raise StoppedError
            at = _after_space(self.text, at + 1)
            value: Any = None
            start = at
            if key == "traceEvents":
                if self.char(at) != "[":
                    raise DamagedError("is not a trace: its traceEvents are not a list")
                self.has_events = True
                self.at = at
                self.read_events()
                at = self.at
            else:
                value, at = self.decode(at)
            is_kept = key != "traceEvents" and at - start <= fields.LARGEST_HEADER
            at = _after_space(self.text, at)
            if self.char(at) == ",":
                at = _after_space(self.text, at + 1)
            elif self.char(at) != "}":
                raise StoppedError
            if is_kept:  # a number at the end of a file may be incomplete
                self.header[key] = value
        self.at = at + 1

    def read_events(self) -> None:
        """Read the list of events at `at`, up to its end."""
        at = _after_space(self.text, self.at + 1)
        while True:
            self.at = at
            if self.char(at) == "]":
                self.at = at + 1
                return
            event, after = self.decode_event(at)
            self.events += 1
            if event is None:
                self.damaged += 1
            else:
                self.take(event)
            at = after

    def decode_event(self, at: int) -> tuple[dict[str, Any] | None, int]:
        """The event at `at`, or None if it is damaged, and where the next one starts."""
        following = -1
        text = self.text
        for _ in range(2):
            try:
                event, end = _EVENTS.raw_decode(text, _after_space(text, at))
                end = _after_space(text, end)
                if text.startswith(",", end):
                    return _event(event), _after_space(text, end + 1)
                if text.startswith("]", end):
                    return _event(event), end
            except (ValueError, RecursionError):
                pass
            if text is not self.text:
                break
            following = next_event(text, at + 1)
            span = text[at : following if following >= 0 else len(text)]
            text = text[:at] + standardised(span) + text[at + len(span) :]
        if following < 0:
            raise StoppedError
        return None, following

    def decode(self, at: int) -> tuple[Any, int]:
        """The value at `at`, and where it ends."""
        try:
            return DECODER.raw_decode(self.text, at)
        except (ValueError, RecursionError):
            pass
        rest = standardised(self.text[at:])
        try:
            value, end = DECODER.raw_decode(rest, _after_space(rest, 0))
        except (ValueError, RecursionError):
            raise StoppedError from None
        return value, at + end

    def char(self, at: int) -> str:
        if at >= len(self.text):
            raise StoppedError
        return self.text[at]

    # Events.

    def take(self, event: Mapping[str, Any]) -> None:
        """Add an event to the columns."""
        phase, name = event.get("ph"), _text(event.get("name"))
        if phase == "X":
            self.add_slice(event, name)
        elif phase in ("i", "I"):
            self.is_complete = self.is_complete or name == fields.LAST_NAME
            if name == fields.MEMORY_NAME:
                self.add_memory(event)
        elif phase in ("s", "f") and event.get("cat") == "fwdbwd":
            self.add_flow(event, is_start=phase == "s")
        elif phase == "M" and name in fields.NAMES:
            where = (name, *self.place(event)[: 2 if name == "thread_name" else 1])
            text = _text(_args(event).get(fields.NAMES[name]))
            self.names[where] = self.names.get(where) or text

    def add_slice(self, event: Mapping[str, Any], name: str) -> None:
        if (start := _time(event)) is None:
            self.damaged += 1
            return
        duration = fields.nanoseconds(_token(event.get("dur")))
        if duration is None or not 0 <= duration <= fields.LONGEST_NS:
            duration = 0
            self.clamped += 1
        args = _args(event)
        if "Collective name" in args:
            found: dict[str, int | str] = {"slice": len(self.slices.rows["thread"])}
            found.update(_numbers(args, fields.COLLECTIVE_NUMBERS))
            found.update(_texts(args, fields.COLLECTIVE_TEXTS))
            self.collectives.add(found)
        if not args.keys().isdisjoint(fields.LAUNCH_NUMBERS.keys() | fields.LAUNCH_TEXTS.keys()):
            launched: dict[str, int | str] = {"slice": len(self.slices.rows["thread"])}
            launched.update(_numbers(args, fields.LAUNCH_NUMBERS))
            launched.update(_texts(args, fields.LAUNCH_TEXTS))
            self.configurations.add(launched)
        values: dict[str, int | str] = {
            "category": _text(event.get("cat")),
            "name": name,
            "thread": self.thread(event),
            "start_ns": start,
            "duration_ns": duration,
        }
        values.update(_numbers(args, fields.SLICE_NUMBERS))
        values.update(_texts(args, fields.SLICE_TEXTS))
        self.slices.add(values)

    def add_memory(self, event: Mapping[str, Any]) -> None:
        args = _args(event)
        if (time := _time(event)) is None or "Bytes" not in args:
            self.damaged += 1
            return
        numbers = dict(_numbers(args, fields.MEMORY_NUMBERS))
        self.memory.add({"thread": self.thread(event), "time_ns": time} | numbers)

    def add_flow(self, event: Mapping[str, Any], *, is_start: bool) -> None:
        if (time := _time(event)) is None:
            self.damaged += 1
            return
        number = fields.whole_number(_token(event.get("id")))
        thread = self.thread(event)
        self.flows.add({"id": number, "is_start": is_start, "thread": thread, "time_ns": time})

    def place(self, event: Mapping[str, Any]) -> tuple[str, str]:
        return _text(event.get("pid")), _text(event.get("tid"))

    def thread(self, event: Mapping[str, Any]) -> int:
        return self.threads.setdefault(self.place(event), len(self.threads))

    # The result.

    def trace(self) -> Trace:
        flows = self.flows.columns()
        return Trace(
            slices=Slices(**self.slices.columns()),
            collectives=Collectives(**self.collectives.columns()),
            configurations=LaunchConfigurations(**self.configurations.columns()),
            memory=MemoryEvents(**self.memory.columns()),
            flows=Flows(**flows | {"is_start": flows["is_start"] == 1}),
            threads=threads_of(list(self.threads), self.names),
            header=self.header,
            base_ns=base_of(self.header),
            events=self.events,
            damaged_events=self.damaged,
            clamped_events=self.clamped,
            is_complete=self.is_complete,
        )


def _after_space(text: str, at: int) -> int:
    """Where the whitespace at `at` ends."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _event(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _args(event: Mapping[str, Any]) -> Mapping[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _time(event: Mapping[str, Any]) -> int | None:
    return fields.nanoseconds(_token(event.get("ts")))


def _numbers(args: Mapping[str, Any], wanted: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    for key in args.keys() & wanted.keys():
        yield wanted[key], fields.whole_number(_token(args[key]))


def _texts(args: Mapping[str, Any], wanted: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key in args.keys() & wanted.keys():
        value = args[key]
        yield wanted[key], json.dumps(value) if isinstance(value, list | dict) else _text(value)


def _token(value: Any) -> str:
    """A number or text as it is in the file; empty for anything else."""
    if isinstance(value, _Float):
        return value.text
    return "" if value is None or isinstance(value, bool | list | dict) else str(value)


_text = _token
