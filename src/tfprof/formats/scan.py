# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""A protobuf message walked once, from bytes to columns, without a message object in between.

Cython compiles this module where there is a C compiler (see setup.py); `is_compiled` tells. As
plain Python it gives the same answers, but protobuf's own reader is faster then.

What is taken from the file is said by a plan (see `scan_plan`). A scan knows the plain form of a
file, the one that programs write. What is damaged, or so unusual that protobuf's rules for it are
subtle (groups, one choice made twice, text that is not ASCII), is left to protobuf's reader: the
scan then gives None. So whatever it does give is what that reader would have found, and complaints
are made in one place.

Nothing here trusts the bytes. Every one of them is read at a place that was compared with the end
of the message that holds it, and that end with the one of the message around it. Rows are written
only after room was made for them, and columns are those that the plan has.
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
    """Whether this module runs compiled, and so is the quick way to read a file."""
    return bool(cython.compiled)


def scan(plan: Plan, data: bytes) -> dict[str, Ints] | None:
    """The columns of a plan, or None where protobuf should read the file."""
    walker = Walker(plan, data)
    try:
        walker.run()
    except UnusualError:
        return None
    return walker.columns()


INT32 = cython.declare(cython.longlong, 0xFFFF_FFFF)  # all its bits, and the one for minus
SIGN = cython.declare(cython.longlong, 0x8000_0000)


class Walker(RowWriter):
    """A message that is walked by a plan."""

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
        """Read the whole message."""
        with cython.nogil:
            self.add_row(1, 0, self.size)
            self.walk()

    @cython.boundscheck(False)
    def walk(self) -> cython.int:  # noqa: C901, PLR0912, PLR0915 -- one loop, one state
        """Read the whole file."""
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
            # No plan has longer tags, nor fixed numbers: what is done with one goes for all others.
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

    # Fields that are not only stored.

    def take_number(
        self,
        action: cython.int,
        row: cython.longlong,
        at: cython.Py_ssize_t,
        value: cython.longlong,
    ) -> cython.int:
        """Do with a number what the action says."""
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
        """Do with the bytes from `start` to `end` what the action says."""
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
                self.give_up()  # of two the last would count, but both would be kept
            self.cells[column][row] = self.code(action >> 24, start, end)
        elif kind == ord("c"):
            self.cells[column + 1][row] = self.colon(start, end)
            self.cells[column][row] = start
        elif kind == ord("i"):
            self.input(table, column, start, end)
        elif kind == ord("l"):
            self.numbers(table, column, start, end)
        elif kind == ord("b"):
            # Of two, protobuf looks at both and keeps the last.
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
        """Read a packed list, a row for each of its numbers."""
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
        """Read a TensorShapeProto, a row for each of its dims; it must not be there twice.

        It is marked with 1, and with 2 more where its rank is unknown.
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
            # Most dims are two bytes, a tag and a size of one digit.
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
        """Add a dim whose length stands at `at`; where it ends."""
        row: cython.longlong = self.add_row(table, at, end)
        tag: cython.longlong
        last: cython.Py_ssize_t
        at = self.short(at, end, 0x7FFF_FFFF)
        if self.value > end - at:
            self.give_up()
        last = at + self.value
        self.cells[column][row] = 0  # dims before an unknown rank came to nothing
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
        """Read an attribute's key and what type its value has.

        If both are wanted, the state to read the value in, which begins at `value`; or else -2.
        """
        start: cython.Py_ssize_t
        key: cython.int
        # As all programs write it: a key, then a value, and nothing else.
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
        """Which of the wanted keys this is, or -2."""
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
        """Read the head of an AttrValue of one field; whether it is the `wanted` message.

        If so, that begins at `value`.
        """
        tag: cython.int
        if at == end:
            return 0
        tag = self.data[at]
        at += 1
        # Numbers and bytes, of which nothing can be wrong.
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
