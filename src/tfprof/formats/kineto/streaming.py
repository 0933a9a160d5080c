"""Reads Kineto traces in pieces, with the compiled scanner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, Strings, ints
from tfprof.formats.kineto import fields, scan
from tfprof.formats.kineto.columns import (
    Collectives,
    Flows,
    LaunchConfigurations,
    MemoryEvents,
    Slices,
    Trace,
)
from tfprof.formats.kineto.damage import DamagedError, StoppedError, next_event_in
from tfprof.formats.kineto.envelope import DECODER, Found, base_of, standardised, threads_of

_MARK = b"\xef\xbb\xbf"  # of UTF-8
_SPACE = b" \t\n\r"
_NAMES = ("thread_name", "process_name", "process_labels")
# A larger event is taken for a damaged one.
_LARGEST_EVENT = 1 << 26
_OVERLAP = 1 << 16


def read(pieces: Iterable[bytes]) -> Found:
    """The trace whose bytes are in `pieces`, or the intact part if it ends early or is damaged.

    Raises `DamagedError` if it is no trace.
    """
    stream = _Stream(pieces)
    is_whole = stream.read()
    read = stream.size if is_whole else stream.intact
    return Found(stream.trace(), read, stream.size, is_whole, stream.is_followed)


class _Stream:
    """Feeds the scanner, and reads what is not an event."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)
        self.scanner = scan.Scanner()
        self.size = 0  # of the pieces
        self.is_last = False
        self.header: dict[str, Any] = {}
        self.has_events = False
        self.intact = 0  # all before it can be used if the file ends early
        self.is_followed = False

    def more(self) -> None:
        """Feed another piece; raises `StoppedError` if there is none."""
        if (piece := next(self.pieces, None)) is None:
            self.is_last = True
            raise StoppedError
        if not self.size:
            self.size = len(piece)
            piece = piece.removeprefix(_MARK)
        else:
            self.size += len(piece)
        self.scanner.feed(piece)

    def read(self) -> bool:
        """Read the whole file; whether it is complete."""
        try:
            first = self.char()
            if first == "[":
                self.read_events()
            elif first == "{":
                self.read_members()
            else:
                raise DamagedError("is not a trace: it does not start with an object or a list")
        except StoppedError:
            return False
        if not self.has_events:
            raise DamagedError("contains no traceEvents")
        return not self.skip_rest()

    def skip_rest(self) -> bool:
        """Skip what follows the trace; whether that is more than whitespace."""
        self.intact = self.scanner.position
        self.is_followed = bool(bytes(self.scanner.unread()).strip(_SPACE))
        self.scanner.drop(len(self.scanner.unread()))
        for piece in self.pieces:
            self.size += len(piece)
            self.is_followed |= bool(piece.strip(_SPACE))
        return self.is_followed

    def char(self) -> str:
        """The next character that is not whitespace."""
        while not (found := self.scanner.char()):
            self.more()
        return str(found)

    def accept(self, wanted: str) -> bool:
        """Skip a character if it is this one; whether it was."""
        if self.char() != wanted:
            return False
        self.scanner.drop(1)
        return True

    def require(self, wanted: str) -> None:
        """Skip a character that has to be there."""
        if not self.accept(wanted):
            raise StoppedError

    def read_members(self) -> None:
        """Read the object around the events."""
        self.require("{")
        while not self.accept("}"):
            self.intact = self.scanner.position
            if self.char() != '"':
                raise StoppedError
            key = _decoded(self.value())
            self.require(":")
            found: dict[str, Any] = {}
            if key == "traceEvents":
                if self.char() != "[":
                    raise DamagedError("is not a trace: its traceEvents are not a list")
                self.read_events()
            elif len(value := self.value()) <= fields.LARGEST_HEADER:
                found = {key: _decoded(value)}
            if self.char() != "}":
                self.require(",")
            self.header |= found

    def value(self) -> bytes:
        """The bytes of the next value."""
        self.char()
        while (length := self.scanner.value()) == scan.MORE:
            self.more()
        if length == scan.DAMAGED:
            raise StoppedError
        found = bytes(self.scanner.unread()[:length])
        self.scanner.drop(length)
        return found

    def read_events(self) -> None:
        """Read the list of events up to its end."""
        self.require("[")
        self.has_events = True
        while (found := self.scanner.scan_events()) != scan.END:
            try:
                if found == scan.DAMAGED or len(self.scanner.unread()) > _LARGEST_EVENT:
                    self.skip_damaged()
                else:
                    self.more()
            except StoppedError:
                if found == scan.DAMAGED:
                    raise
                self.skip_damaged()  # unless the file ends here

    def skip_damaged(self) -> None:
        """Go on at the next event; raises `StoppedError` if there is none."""
        self.intact = self.scanner.position
        start = 1
        while (found := self.find_event(start)) < 0:
            if self.is_last:
                raise StoppedError
            # What was searched is not needed again, but an event may start at its end.
            self.scanner.drop(max(0, len(self.scanner.unread()) - _OVERLAP))
            start = 1 if self.scanner.position == self.intact else 0
            with suppress(StoppedError):
                self.more()
        self.scanner.skip_damaged(found)

    def find_event(self, start: int) -> int:
        with self.scanner.unread() as unread:
            return next_event_in(unread, start, is_last=self.is_last)

    # The result.

    def trace(self) -> Trace:
        """What was read."""
        tables = self.scanner.take_columns()
        texts = _Texts(self.scanner)
        threads, places = _places(texts)
        for table in ("slices", "memory", "flows"):
            if len(places) < len(threads):  # some are written both as numbers and as texts
                tables[table]["thread"] = threads[tables[table]["thread"]]
        flows = tables["flows"]
        return Trace(
            slices=Slices(**texts.coded("slices", tables["slices"])),
            collectives=Collectives(**texts.coded("collectives", tables["collectives"])),
            configurations=LaunchConfigurations(
                **texts.coded("configurations", tables["configurations"])
            ),
            memory=MemoryEvents(**tables["memory"]),
            flows=Flows(**flows | {"is_start": flows["is_start"] == 1}),
            threads=threads_of(places, _names(texts.coded("names", tables["names"]))),
            header=self.header,
            base_ns=base_of(self.header),
            events=self.scanner.events,
            damaged_events=self.scanner.damaged,
            clamped_events=self.scanner.clamped,
            is_complete=self.scanner.is_complete,
        )


def _decoded(value: bytes) -> Any:
    return DECODER.decode(standardised(value.decode("utf-8", "replace")))


class _Texts:
    """The distinct texts of all columns."""

    def __init__(self, scanner: scan.Scanner) -> None:
        self.data, ends, marks = scanner.texts()
        self.starts, self.ends = ends[:-1], ends[1:]
        self.columns, self.are_texts = marks >> 1, (marks & 1) == 1
        octets = np.frombuffer(self.data, np.uint8)
        unusual = np.flatnonzero((octets >= 0x80) | (octets == ord("\\")))
        self.are_unusual = np.zeros(len(marks), np.bool_)
        self.are_unusual[np.searchsorted(self.ends, unusual, "right")] = True

    def coded(self, table: str, columns: dict[str, Ints]) -> dict[str, Any]:
        """The columns of a table, with texts for their codes."""
        return columns | {
            name: self.column(table, name, columns[name]) for name in scan.TEXTS[table]
        }

    def column(self, table: str, name: str, codes: Ints) -> Coded:
        """A column of texts."""
        rows = self.rows(table, name)
        plain = Strings.of_spans(self.data, self.starts[rows], self.ends[rows])
        is_text = self.are_texts[rows]
        has_both = is_text.sum() > 1 and not is_text.all()  # the first one is an empty text
        if not (has_both or self.are_unusual[rows].any()):
            return Coded(ints(codes), plain)
        texts = [
            scan.unescaped(octets) if is_text else octets.decode("utf-8", "replace")
            for octets, is_text in zip(self.octets(rows), is_text.tolist(), strict=True)
        ]
        return Coded.joined([Coded(codes, Strings(texts))])

    def rows(self, table: str, name: str) -> Ints:
        before = list(scan.TEXTS)[: list(scan.TEXTS).index(table)]
        column = sum(len(scan.TEXTS[other]) for other in before) + scan.TEXTS[table].index(name)
        return np.flatnonzero(self.columns == column)

    def octets(self, rows: Ints) -> Iterator[bytes]:
        spans = zip(self.starts[rows].tolist(), self.ends[rows].tolist(), strict=True)
        return (self.data[start:end] for start, end in spans)


def _places(texts: _Texts) -> tuple[Ints, list[tuple[str, str]]]:
    """The row of each thread of the scanner among the distinct ones, and these."""
    found = b"".join(texts.octets(texts.rows("threads", "place")))
    codes = np.frombuffer(found, np.int64)
    process = texts.column("names", "process", codes >> 32)
    thread = texts.column("names", "thread", codes & 0xFFFF_FFFF)
    rows: dict[tuple[str, str], int] = {}
    numbers = [rows.setdefault((process[row], thread[row]), len(rows)) for row in range(len(codes))]
    return ints(numbers), list(rows)


def _names(columns: dict[str, Any]) -> dict[tuple[str, ...], str]:
    """The names of processes and threads; the first one counts."""
    found: dict[tuple[str, ...], str] = {}
    for row, what in enumerate(columns["what"].tolist()):
        place = (columns["process"][row], columns["thread"][row])
        where = (_NAMES[what], *place[: 2 if what == 0 else 1])
        found[where] = found.get(where) or columns["text"][row]
    return found
