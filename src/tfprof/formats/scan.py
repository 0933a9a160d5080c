# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Decode a protobuf message into columns in one pass, without creating message objects.

Cython compiles this module if a C compiler is available (see setup.py and `is_compiled`). As plain
Python it gives the same results, but protobuf's own reader is faster then.

A plan (see `scan_plan`) says which fields to extract. The scan handles files in the usual form that
programs write. It gives up, and returns None, if a file is damaged or so unusual that protobuf's
rules for it are subtle (groups, a repeated oneof, text that is not ASCII); the caller then uses
protobuf's reader. So every result equals that of protobuf, and errors are reported in one place.

The bytes are not trusted. Every position is compared with the end of its message before it is read,
and that end with the end of the enclosing message. Rows are written only after memory was reserved
for them, and only to columns of the plan.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints
from tfprof.formats.scan_bytes import UnusualError
from tfprof.formats.scan_plan import Plan

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

if not cython.compiled:
    from tfprof.formats.scan_rows import RowWriter

__all__ = ["is_compiled", "scan"]


def is_compiled() -> bool:
    """Whether this module runs compiled, which makes it the fastest way to read a file."""
    return bool(cython.compiled)


def scan(plan: Plan, data: bytes) -> dict[str, Ints] | None:
    """The columns of a plan, or None if protobuf has to read the file."""
    walker = Walker(plan, data)
    try:
        walker.run()
    except UnusualError:
        return None
    return walker.columns()


INT32 = cython.declare(cython.longlong, 0xFFFF_FFFF)  # all bits of an int32, and its sign bit
SIGN = cython.declare(cython.longlong, 0x8000_0000)


class Walker(RowWriter):
    """Walks through a message, following a plan."""

    def __init__(self, plan: Plan, data: bytes) -> None:
        RowWriter.__init__(self, plan, data)
        self.actions, self.column_table = plan.actions, plan.column_table
        self.keys, self.key_start = plan.keys, plan.key_start
        self.key_lengths, self.longest_key = plan.key_lengths, plan.key_lengths.bit_length() - 1
        self.key_tag, self.key_action = plan.key_tag, plan.key_action
        self.key_count = len(plan.key_tag)
        self.key_row = np.full(len(plan.key_tag), -1, np.int64)
        self.stack = np.zeros(3 * plan.depth, np.int64)

    def run(self) -> None:
        """Read the whole message into one row of the root table."""
        with cython.nogil:
            self.add_row(1, 0, self.size)
            self.walk()

    @cython.boundscheck(False)
    def walk(self) -> cython.int:  # noqa: C901, PLR0912, PLR0915 -- one loop, one state
        """Read all fields, including those of nested messages."""
        data: cython.const[cython.uchar][::1] = self.data
        at: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t = self.size
        last: cython.Py_ssize_t
        inner: cython.int
        depth: cython.int = 0
        state: cython.int = 0
        row: cython.longlong = 0
        tag: cython.longlong
        value: cython.longlong
        action: cython.int
        kind: cython.int
        column: cython.int
        while True:
            if at >= end:
                if at > end:
                    self.give_up()
                if depth == 0:
                    return 0
                depth -= 3
                end = self.stack[depth]
                state = self.stack[depth + 1]
                row = self.stack[depth + 2]
                continue
            tag = data[at]
            at += 1
            if tag > 0x7F:
                at = self.short(at - 1, end, INT32)
                tag = self.value
            # No plan has longer tags or fixed-width numbers, so tag 0x09 represents them all.
            action = self.actions[state | (tag if tag <= 0x7F else 0x09)]
            kind = action & 0xFF
            column = action >> 16 & 0xFF
            if tag & 7 == 0:
                if at >= end:
                    self.give_up()
                value = data[at]
                at += 1
                if value > 0x7F:
                    if at < end and data[at] < 0x80:
                        value = value & 0x7F | data[at] << 7
                        at += 1
                    else:
                        at = self.number(at - 1, end)
                        value = self.value
                if kind == ord("n"):
                    self.cells[column][row] = value
                elif kind != ord("-"):
                    self.take_number(action, row, at, value)
            elif tag & 7 == 2:
                if at >= end:
                    self.give_up()
                value = data[at]
                at += 1
                if value > 0x7F:
                    at = self.short(at - 1, end, 0x7FFF_FFFF)
                    value = self.value
                last = at + value
                if last > end:
                    self.give_up()
                inner = -1
                if kind == ord("m"):
                    inner = action >> 24 << 7
                elif kind == ord("a"):
                    self.require_ascii(at, last)
                elif kind == ord("t"):
                    self.require_ascii(at, last)
                    self.cells[column][row] = at
                    self.cells[column + 1][row] = last
                elif kind == ord("e"):
                    inner = self.entry(row, at, last)
                    at = self.value
                elif kind != ord("-"):
                    self.take(action, row, at, last)
                if inner < 0:
                    at = last
                    continue
                self.stack[depth] = end
                self.stack[depth + 1] = state
                self.stack[depth + 2] = row
                depth += 3
                end = last
                state = inner
                if kind == ord("m"):
                    if column:
                        if self.cells[column][row] & (action >> 8 & 0xFF):
                            self.give_up()
                        self.cells[column][row] |= action >> 8 & 0xFF
                    elif action >> 8 & 0xFF:
                        row = self.add_row(action >> 8 & 0xFF, at, last)
            elif kind == ord("-") and tag & 7 in (1, 5):
                at += 8 if tag & 7 == 1 else 4
            else:
                self.give_up()

    # Fields that need more than storing a value.

    def take_number(
        self,
        action: cython.int,
        row: cython.longlong,
        at: cython.Py_ssize_t,
        value: cython.longlong,
    ) -> cython.int:
        """Apply the action to a number."""
        if action & 0xFF == ord("l"):
            row = self.add_row(action >> 8 & 0xFF, at, at)
        elif action & 0xFF != ord("h"):
            self.give_up()
        else:
            value = ((value & INT32) ^ SIGN) - SIGN
        self.cells[action >> 16 & 0xFF][row] = value
        return 0

    def take(  # noqa: C901 -- a table
        self,
        action: cython.int,
        row: cython.longlong,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Apply the action to the bytes from `start` to `end`."""
        kind: cython.int = action & 0xFF
        table: cython.int = action >> 8 & 0xFF
        column: cython.int = action >> 16 & 0xFF
        if kind == ord("s"):
            self.shape(action, row, start, end)
        elif kind == ord("r"):
            self.shape(action, self.add_row(self.column_table[column], start, end), start, end)
        elif kind == ord("d"):
            if table:
                row = self.add_row(table, start, end)
            if self.cells[column][row]:
                self.give_up()  # the last of two counts, but both texts would be recorded
            self.cells[column][row] = self.code(action >> 24, start, end)
        elif kind == ord("c"):
            self.cells[column + 1][row] = self.colon(start, end)
            self.cells[column][row] = start
        elif kind == ord("i"):
            self.input(table, column, start, end)
        elif kind == ord("l"):
            self.numbers(table, column, start, end)
        elif kind == ord("b"):
            # Protobuf checks both of two and keeps the last.
            if self.cells[column + 1][row]:
                self.give_up()
            self.cells[column][row] = start
            self.cells[column + 1][row] = end
        else:
            self.give_up()
        return 0

    def numbers(
        self,
        table: cython.int,
        column: cython.int,
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Read a packed list, with one row per number."""
        row: cython.longlong
        while at < end:
            at = self.number(at, end)
            if at > end:
                self.give_up()
            row = self.add_row(table, at, end)
            self.cells[column][row] = self.value
        return 0

    @cython.boundscheck(False)
    def shape(
        self,
        action: cython.int,
        row: cython.longlong,
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Read a TensorShapeProto, with one row per dim; gives up on a second one in the same row.

        The column is set to 1, or to 3 if the rank is unknown.
        """
        table: cython.int = action >> 8 & 0xFF
        column: cython.int = action >> 16 & 0xFF
        sizes: cython.int = action >> 24
        tag: cython.longlong
        first: cython.longlong = self.used[table]
        dim: cython.longlong
        if self.cells[column][row]:
            self.give_up()
        self.cells[column][row] = 1
        while at < end:
            # Fast path: most dims are a two-byte message, a tag and a one-byte size.
            if (
                end - at >= 4
                and self.data[at] == 0x12
                and self.data[at + 1] == 2
                and self.data[at + 2] == 0x08
                and self.data[at + 3] < 0x80
            ):
                dim = self.used[table]
                if dim >= self.room[table]:
                    self.grow(table, at)
                self.used[table] = dim + 1
                self.cells[sizes][dim] = self.data[at + 3]
                at += 4
                continue
            at = self.short(at, end, INT32)
            tag = self.value
            if tag == 0x12:
                at = self.dim(table, sizes, at, end)
            elif tag == 0x18:
                at = self.number(at, end)
                if at > end:
                    self.give_up()
                self.cells[column][row] = 3 if self.value else 1
            else:
                self.give_up()
        if self.cells[column][row] == 3:
            self.used[table] = first
        return 0

    def dim(
        self,
        table: cython.int,
        column: cython.int,
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Add the dim whose length is at `at`; return where it ends."""
        row: cython.longlong = self.add_row(table, at, end)
        tag: cython.longlong
        last: cython.Py_ssize_t
        at = self.short(at, end, 0x7FFF_FFFF)
        if self.value > end - at:
            self.give_up()
        last = at + self.value
        self.cells[column][row] = 0  # the row may have been used by a discarded shape
        while at < last:
            at = self.short(at, last, INT32)
            tag = self.value
            if tag == 0x08:
                at = self.number(at, last)
                if at > last:
                    self.give_up()
                self.cells[column][row] = self.value
            elif tag == 0x12:
                at = self.short(at, last, 0x7FFF_FFFF)
                if self.value > last - at:
                    self.give_up()
                self.require_ascii(at, at + self.value)
                at += self.value
            else:
                self.give_up()
        return at

    def input(
        self,
        table: cython.int,
        column: cython.int,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Add an input: `conv:1`, `conv` (slot 0), `^conv` (slot -1)."""
        name_end: cython.Py_ssize_t = self.colon(start, end)
        row: cython.longlong = self.add_row(table, start, end)
        slot: cython.longlong = 0
        if start < name_end and self.data[start] == ord("^"):
            start += 1
            slot = -1
        elif name_end < end:
            slot = self.slot(name_end + 1, end)
        self.cells[column][row] = start
        self.cells[column + 1][row] = name_end
        self.cells[column + 2][row] = slot
        return 0

    @cython.boundscheck(False)
    def entry(
        self, row: cython.longlong, at: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Read the key of an attribute and the type of its value.

        Returns the state for reading the value, which starts at `self.value`, or -2 if there is
        nothing left to read.
        """
        start: cython.Py_ssize_t
        key: cython.int
        # Only the usual form is handled: a key, then a value, and nothing else.
        if end - at < 4 or self.data[at] != 0x0A or self.data[at + 1] > 0x7F:
            self.give_up()
        start = at + 2
        at = start + self.data[at + 1]
        if end - at < 2 or self.data[at] != 0x12:
            self.give_up()
        self.require_ascii(start, at)
        key = self.key(start, at)
        at = self.short(at + 1, end, 0x7FFF_FFFF)
        if end - at != self.value:
            self.give_up()
        if key < 0:
            return -2
        if self.key_row[key] == row:
            self.give_up()
        self.key_row[key] = row
        if not self.holds(self.key_tag[key], at, end):
            return -2
        if self.key_action[key] & 0xFF == ord("m"):
            return self.key_action[key] >> 24 << 7
        self.take(self.key_action[key], row, self.value, end)
        return -2

    @cython.boundscheck(False)
    def key(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """The index of this key among the wanted keys, or -2."""
        key: cython.int
        first: cython.Py_ssize_t
        at: cython.Py_ssize_t
        if end - start > self.longest_key or not self.key_lengths >> (end - start) & 1:
            return -2
        for key in range(self.key_count):
            first = self.key_start[key] - start
            at = start
            if self.key_start[key + 1] - first == end:
                while at < end and self.data[at] == self.keys[first + at]:
                    at += 1
                if at == end:
                    return key
        return -2

    def holds(
        self, wanted: cython.longlong, at: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Whether an AttrValue contains the `wanted` message, which then starts at `self.value`."""
        tag: cython.int
        if at == end:
            return 0
        tag = self.data[at]
        at += 1
        # Numbers and bytes have nothing to check.
        if tag == 0x25:
            at += 4
        elif tag in (0x18, 0x28, 0x30):
            at = self.number(at, end)
        elif tag in (wanted, 0x12):
            at = self.short(at, end, 0x7FFF_FFFF)
            if self.value != end - at:
                self.give_up()
            self.value = at
            if tag == wanted:
                return 1
            at = end
        else:
            self.give_up()
        if at != end:
            self.give_up()
        return 0
