# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""The columns that a scan fills row by row, including codes for distinct texts, for `scan`.

The C types are declared in `scan_rows.pxd`. A row is added only if there is room for it, and only
columns of the plan are written, so accesses to `cells` need no further checks.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.formats.scan_plan import Plan

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

if not cython.compiled:
    from tfprof.formats.scan_bytes import ByteReader

MOST_CLASHES = cython.declare(cython.int, 500)
_FIRST_ROWS = 128
_FIRST_SLOTS = 256


class RowWriter(ByteReader):
    """The bytes of a message, and the columns filled so far."""

    def __init__(self, plan: Plan, data: bytes) -> None:
        ByteReader.__init__(self, data)
        self.plan = plan
        self.links, self.link_start, self.place = plan.links, plan.link_start, plan.place
        self.used = np.zeros(len(plan.tables), np.int64)
        self.room = np.full(len(plan.tables), _FIRST_ROWS, np.int64)
        # One extra cell for the final offset, which has no row of its own.
        self.arrays = [np.zeros(_FIRST_ROWS + 1, np.int64) for _ in plan.columns]
        self.point()
        self.slots = np.full(_FIRST_SLOTS, -1, np.int64)
        self.set_size = np.zeros(len(plan.sets), np.int64)
        self.last = np.full(len(plan.sets), -1, np.int64)

    def point(self) -> cython.int:
        """Point `cells` to the current arrays."""
        if cython.compiled:
            self.places = np.array([array.ctypes.data for array in self.arrays], np.uintp)
            self.cells = cython.cast(
                cython.pp_longlong, cython.cast(cython.size_t, self.places.ctypes.data)
            )
        else:
            self.cells = self.arrays
        return 0

    def columns(self) -> dict[str, Ints]:
        """All columns of the plan; columns of offsets end with one more, the final offset."""
        found = {}
        for name, column in self.plan.columns.items():
            count = self.used[self.plan.column_table[column]]
            if column in self.plan.offsets:
                self.arrays[column][count] = self.used[self.plan.offsets[column]]
                count += 1
            found[name] = ints(self.arrays[column][:count])
        return found

    @cython.boundscheck(False)
    def add_row(
        self, table: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.longlong:
        """Add a row for the message from `start` to `end`; return its number."""
        row: cython.longlong = self.used[table]
        at: cython.int
        column: cython.int = self.place[table]
        if row >= self.room[table]:
            self.grow(table, start)
        self.used[table] = row + 1
        for at in range(self.link_start[table], self.link_start[table + 1], 3):
            self.cells[self.links[at]][row] = self.used[self.links[at + 1]] - self.links[at + 2]
        if column:
            self.cells[column][row] = start
            self.cells[column + 1][row] = end
        return row

    def grow(self, table: cython.int, at: cython.Py_ssize_t) -> cython.int:
        """Make room for the rows expected in the rest of the file."""
        used = self.used[table]
        # Rows that are never written take no memory and are zero.
        guess = used * self.size * 5 // (4 * max(at, 1))
        room = max(2 * used, min(guess, self.size // 16))
        for column, of_table in enumerate(self.plan.column_table):
            if of_table == table:
                array = np.zeros(room + 1, np.int64)
                array[:used] = self.arrays[column][:used]
                self.arrays[column] = array
        self.point()
        self.room[table] = room
        return 0

    # Texts.

    @cython.boundscheck(False)
    def code(
        self, texts: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.longlong:
        """The code of a text in its set, from 1; the lowest bit of `texts` allows any bytes."""
        number: cython.longlong = self.last[texts >> 1]
        if number < 0 or not self.is_text(number, start, end):
            number = self.text(texts, start, end)
            self.last[texts >> 1] = number
        return self.cells[4][number]

    def is_text(
        self, number: cython.longlong, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Whether the bytes from `start` to `end` are text `number`."""
        known: cython.Py_ssize_t = self.cells[0][number]
        return self.cells[1][number] - known == end - start and self.is_same(
            known, start, end - start
        )

    def text(
        self, texts: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.longlong:
        """The number of a text among the texts of all sets."""
        found: cython.longlong = self.hashed(texts, start, end)
        mask: cython.ulonglong = self.slots.shape[0] - 1
        slot: cython.ulonglong = found & mask
        number: cython.longlong
        clashes: cython.int = 0
        while True:
            number = self.slots[slot]
            if number < 0:
                if not texts & 1:
                    self.require_ascii(start, end)
                return self.learn(texts >> 1, start, end, found, slot)
            if (
                self.cells[2][number] == found
                and self.cells[3][number] == texts >> 1
                and self.is_text(number, start, end)
            ):
                return number
            # The texts may be crafted to collide, which Python's dict withstands.
            clashes += 1
            if clashes > MOST_CLASHES:
                self.give_up()
            slot = (slot + 1) & mask

    def learn(
        self,
        texts: cython.int,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        found: cython.longlong,
        slot: cython.ulonglong,
    ) -> cython.longlong:
        """Record a new text; return its number."""
        number: cython.longlong = self.add_row(0, start, end)
        self.slots[slot] = number
        self.set_size[texts] += 1
        self.cells[0][number] = start
        self.cells[1][number] = end
        self.cells[2][number] = found
        self.cells[3][number] = texts
        self.cells[4][number] = self.set_size[texts]
        if 2 * self.used[0] > self.slots.shape[0]:
            self.spread()
        return number

    def spread(self) -> cython.int:
        """Quadruple the size of the hash table."""
        mask: cython.ulonglong = 4 * self.slots.shape[0] - 1
        number: cython.Py_ssize_t
        slot: cython.ulonglong
        self.slots = np.full(4 * self.slots.shape[0], -1, np.int64)
        for number in range(self.used[0]):
            slot = self.cells[2][number] & mask
            while self.slots[slot] >= 0:
                slot = (slot + 1) & mask
            self.slots[slot] = number
        return 0
