# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Scans the events of a Kineto trace into columns, without building objects.

This module only runs compiled; `plain` does the same with the `json` module. The C types are
declared in `scan.pxd`. An event that is not complete in the buffer is read again with more bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np

from tfprof.columns import Ints
from tfprof.formats.kineto import fields
from tfprof.formats.kineto.scan_fields import unescaped
from tfprof.formats.kineto.scan_json import DAMAGED, MORE

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memset
from cython.cimports.tfprof.formats.kineto.scan_chars import space
from cython.cimports.tfprof.formats.kineto.scan_fields import (
    CAT,
    COLLECTIVE_NUMBERS,
    COLLECTIVE_TEXTS,
    DUR,
    FIELDS,
    ID,
    IMPOSSIBLE,
    LABELS,
    LAUNCH_NUMBERS,
    LAUNCH_TEXTS,
    MEMORY_NUMBERS,
    NAME,
    NAMES,
    PH,
    PID,
    SLICE_NUMBERS,
    SLICE_TEXTS,
    TID,
    TS,
)

if TYPE_CHECKING:  # otherwise from `scan.pxd`
    from tfprof.formats.kineto.scan_fields import FieldReader

__all__ = ["DAMAGED", "END", "MORE", "TABLES", "TEXTS", "Scanner", "unescaped"]

# What `Scanner.scan_events` returns.
END = 0

# Tables, and the first of their columns among the columns of all tables.
SLICES = cython.declare(cython.int, 0)
COLLECTIVES = cython.declare(cython.int, 1)
MEMORY = cython.declare(cython.int, 2)
FLOWS = cython.declare(cython.int, 3)
THREAD_NAMES = cython.declare(cython.int, 4)
CONFIGURATIONS = cython.declare(cython.int, 5)
TABLES = {
    "slices": (
        *("category", "name", "thread", "start_ns", "duration_ns"),
        *dict.fromkeys([*fields.SLICE_NUMBERS.values(), *fields.SLICE_TEXTS.values()]),
    ),
    "collectives": (
        *("slice", *fields.COLLECTIVE_NUMBERS.values()),
        *fields.COLLECTIVE_TEXTS.values(),
    ),
    "memory": ("thread", "time_ns", *fields.MEMORY_NUMBERS.values()),
    "flows": ("id", "is_start", "thread", "time_ns"),
    "names": ("what", "process", "thread", "text"),
    "configurations": (
        *("slice", *fields.LAUNCH_NUMBERS.values()),
        *fields.LAUNCH_TEXTS.values(),
    ),
}

# Columns of texts, by their place in the table of texts.
TEXTS = {
    "slices": ("category", "name", *dict.fromkeys(fields.SLICE_TEXTS.values())),
    "collectives": tuple(fields.COLLECTIVE_TEXTS.values()),
    "names": ("process", "thread", "text"),
    "configurations": tuple(fields.LAUNCH_TEXTS.values()),
    "threads": ("place",),
}
CATEGORY_TEXT = cython.declare(cython.int, 0)
SLICE_TEXT = cython.declare(cython.int, 1)
ARGUMENT_TEXT = cython.declare(cython.int, 2)
COLLECTIVE_TEXT = cython.declare(cython.int, 5)
PROCESS_TEXT = cython.declare(cython.int, 9)
THREAD_TEXT = cython.declare(cython.int, 10)
NAME_TEXT = cython.declare(cython.int, 11)
LAUNCH_TEXT = cython.declare(cython.int, 12)
PLACE_TEXT = cython.declare(cython.int, 14)

_FIRST_ROWS = 1024
LONGEST = cython.declare(cython.longlong, fields.LONGEST_NS)


class Scanner(FieldReader):
    """The unread bytes of a trace, and the columns that were read."""

    def __init__(self) -> None:
        FieldReader.__init__(self, sum(map(len, TEXTS.values())))
        for column in range(PLACE_TEXT):
            self.code(column << 1 | 1, cython.cast(cython.p_uchar, b""), 0)
        self.events = self.damaged = self.clamped = 0
        self.is_complete = False
        self.tables = [[np.zeros(0, np.int64) for _ in names] for names in TABLES.values()]
        for table in range(len(TABLES)):
            self.used[table] = self.rooms[table] = 0

    def scan_events(self) -> int:
        """Read events up to the end of their list (`END`), of the buffer or to a damaged one."""
        found: cython.int
        with cython.nogil:
            found = self.scan()
        return found

    def skip_damaged(self, count: int) -> None:
        """Count the next event as damaged; the one after it is `count` bytes further on."""
        self.drop(count)
        self.events += 1
        self.damaged += 1

    def take_columns(self) -> dict[str, dict[str, Ints]]:
        """The columns by table, with codes of texts; the scanner is empty then."""
        found = {}
        for table, (name, names) in enumerate(TABLES.items()):
            columns = self.tables[table]
            for column in columns:
                column.resize(self.used[table], refcheck=False)
            found[name] = dict(zip(names, columns, strict=True))
            self.tables[table] = [np.zeros(0, np.int64) for _ in names]
            self.used[table] = self.rooms[table] = 0
        return found

    def scan(self) -> cython.int:
        at: cython.Py_ssize_t
        first: cython.uchar
        while True:
            self.at = space(self.octets, self.at)
            first = self.octets[self.at]
            if first == ord("]"):
                self.at += 1
                return 0
            memset(self.kinds, 0, FIELDS)
            at = self.members(self.at + 1, 0) if first == ord("{") else self.skip(self.at, 0)
            if at < 0:
                return cython.cast(cython.int, at)
            at = space(self.octets, at)
            if self.octets[at] == ord(","):
                at += 1
            elif self.octets[at] != ord("]"):
                return cython.cast(cython.int, self.fail(at))
            self.events += 1
            if first == ord("{"):
                self.take()
            else:
                self.damaged += 1
            self.at = at

    # Events.

    def take(self) -> cython.int:
        """Add the event that was read to the columns."""
        first: cython.uchar
        if self.kinds[PH] != ord('"'):
            return 0
        first = self.octets[self.starts[PH]]
        if self.stops[PH] - self.starts[PH] != 1:
            first = self.unusual_phase()
        if first == ord("X"):
            return self.take_slice()
        if first == ord("i") or first == ord("I"):
            if self.is_(NAME, b"Record Window End", 17):
                self.is_complete = True
            elif self.is_(NAME, b"[memory]", 8):
                return self.take_memory()
        elif first == ord("s") or first == ord("f"):
            if self.is_(CAT, b"fwdbwd", 6):
                return self.take_flow(first == ord("s"))
        elif first == ord("M"):
            return self.take_name()
        return 0

    def unusual_phase(self) -> cython.uchar:
        """The letter of a phase that is written with an escape."""
        text: str = self.token(PH)
        return ord(text) if len(text) == 1 and text.isascii() else 0

    def take_slice(self) -> cython.int:
        start: cython.longlong = self.time(TS)
        duration: cython.longlong = self.time(DUR)
        row: cython.longlong
        at: cython.int
        if start == IMPOSSIBLE:
            self.damaged += 1
            return 0
        if duration < 0 or duration > LONGEST:
            duration = 0
            self.clamped += 1
        if self.kinds[COLLECTIVE_TEXTS]:
            self.take_collective()
        for at in range(LAUNCH_NUMBERS, FIELDS):
            if self.kinds[at]:
                self.take_configuration()
                break
        row = self.row(SLICES)
        self.cells[0][row] = self.text(CATEGORY_TEXT, CAT, False)
        self.cells[1][row] = self.text(SLICE_TEXT, NAME, False)
        self.cells[2][row] = self.thread()
        self.cells[3][row] = start
        self.cells[4][row] = duration
        for at in range(11):
            self.cells[5 + at][row] = self.whole(SLICE_NUMBERS + at)
        for at in range(3):
            self.cells[16 + at][row] = self.text(ARGUMENT_TEXT + at, SLICE_TEXTS + at, True)
        return 0

    def take_collective(self) -> cython.int:
        row: cython.longlong = self.row(COLLECTIVES)
        at: cython.int
        self.cells[19][row] = self.used[SLICES]
        for at in range(3):
            self.cells[20 + at][row] = self.whole(COLLECTIVE_NUMBERS + at)
        for at in range(4):
            self.cells[23 + at][row] = self.text(COLLECTIVE_TEXT + at, COLLECTIVE_TEXTS + at, True)
        return 0

    def take_configuration(self) -> cython.int:
        row: cython.longlong = self.row(CONFIGURATIONS)
        at: cython.int
        self.cells[43][row] = self.used[SLICES]
        for at in range(3):
            self.cells[44 + at][row] = self.whole(LAUNCH_NUMBERS + at)
        for at in range(2):
            self.cells[47 + at][row] = self.text(LAUNCH_TEXT + at, LAUNCH_TEXTS + at, True)
        return 0

    def take_memory(self) -> cython.int:
        time: cython.longlong = self.time(TS)
        row: cython.longlong
        at: cython.int
        if time == IMPOSSIBLE or self.kinds[MEMORY_NUMBERS] == 0:
            self.damaged += 1
            return 0
        row = self.row(MEMORY)
        self.cells[27][row] = self.thread()
        self.cells[28][row] = time
        for at in range(6):
            self.cells[29 + at][row] = self.whole(MEMORY_NUMBERS + at)
        return 0

    def take_flow(self, is_start: cython.int) -> cython.int:
        time: cython.longlong = self.time(TS)
        row: cython.longlong
        if time == IMPOSSIBLE:
            self.damaged += 1
            return 0
        row = self.row(FLOWS)
        self.cells[35][row] = self.whole(ID)
        self.cells[36][row] = is_start
        self.cells[37][row] = self.thread()
        self.cells[38][row] = time
        return 0

    def take_name(self) -> cython.int:
        what: cython.int
        row: cython.longlong
        if self.is_(NAME, b"thread_name", 11):
            what = 0
        elif self.is_(NAME, b"process_name", 12):
            what = 1
        elif self.is_(NAME, b"process_labels", 14):
            what = 2
        else:
            return 0
        row = self.row(THREAD_NAMES)
        self.cells[39][row] = what
        self.cells[40][row] = self.text(PROCESS_TEXT, PID, False)
        self.cells[41][row] = self.text(THREAD_TEXT, TID, False)
        self.cells[42][row] = self.text(NAME_TEXT, LABELS if what == 2 else NAMES, False)
        return 0

    def thread(self) -> cython.int:
        """The row of the thread of an event."""
        place: cython.longlong = self.text(PROCESS_TEXT, PID, False)
        place = place << 32 | self.text(THREAD_TEXT, TID, False)
        return self.code(PLACE_TEXT << 1, cython.cast(cython.p_uchar, cython.address(place)), 8)

    def row(self, table: cython.int) -> cython.longlong:
        """The number of a new row."""
        row: cython.longlong = self.used[table]
        if row >= self.rooms[table]:
            self.grow_rows(table)
        self.used[table] = row + 1
        return row

    def grow_rows(self, table: cython.int) -> cython.int:
        first = sum(map(len, list(TABLES.values())[:table]))
        room = max(_FIRST_ROWS, 5 * self.rooms[table] // 4)
        for at, column in enumerate(self.tables[table]):
            column.resize(room, refcheck=False)
            place: cython.size_t = column.ctypes.data
            self.cells[first + at] = cython.cast(cython.p_longlong, place)
        self.rooms[table] = room
        return 0
