# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Loops over the bytes of many names: finding, ordering, searching, splitting at slashes.

This module only runs compiled; `plain_names` has the same in ordinary Python. A column of names is
`data` with the places where each begins and ends. Those are checked once, at the door, so that the
loops within need not check every byte.
"""

from __future__ import annotations

from os import urandom

import cython
import numpy as np

from tfprof.kernels.spans import Bools, Ints, check_spans, check_text

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memchr, memcmp, memcpy

__all__ = ["SpanTable", "find_first", "find_last", "order", "scope_rows", "split", "stands_at"]

_FIRST_SLOTS = 1024
_FIRST_BYTES = 1 << 16
FIRST_MIXER = cython.declare(cython.ulonglong, 0x9E37_79B9_7F4A_7C15)
SECOND_MIXER = cython.declare(cython.ulonglong, 0xD6E8_FEB8_6659_FD93)
TAG = cython.declare(cython.ulonglong, 0xFFFF_FFFF_0000_0000)
NUMBER = cython.declare(cython.ulonglong, 0x0000_0000_FFFF_FFFF)
SLASH = cython.declare(cython.uchar, 0x2F)
SMALL = cython.declare(cython.Py_ssize_t, 24)  # so few names are sorted by insertion


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hashed(
    at: cython.pointer[cython.const[cython.uchar]],
    length: cython.Py_ssize_t,
    seed: cython.ulonglong,
) -> cython.ulonglong:
    """A number that differs for different names; nobody who does not know `seed` can tell how."""
    word: cython.ulonglong = 0
    found: cython.ulonglong = seed ^ cython.cast(cython.ulonglong, length) * SECOND_MIXER
    while length >= 8:
        memcpy(cython.address(word), at, 8)
        found = (found ^ word) * FIRST_MIXER
        found ^= found >> 32
        at += 8
        length -= 8
    word = 0
    memcpy(cython.address(word), at, length)
    found = (found ^ word) * SECOND_MIXER
    found ^= found >> 29
    found *= FIRST_MIXER
    return found ^ found >> 32


@cython.final
@cython.cclass
class SpanTable:
    """Distinct names, numbered in the order in which they became known."""

    _seed: cython.ulonglong
    _count: cython.Py_ssize_t
    _data: cython.uchar[::1]
    _ends: cython.longlong[::1]  # row `i + 1` has the end of name `i`; they follow on each other
    # One cell a place: the upper half of the name's hash, and its number plus one; 0 is free.
    _slots: cython.ulonglong[::1]

    def __init__(self) -> None:
        self._seed = int.from_bytes(urandom(8), "little")
        self._count = 0
        self._data = np.empty(_FIRST_BYTES, np.uint8)
        self._ends = np.zeros(_FIRST_SLOTS, np.int64)
        self._slots = np.zeros(_FIRST_SLOTS, np.uint64)

    def __len__(self) -> int:
        return int(self._count)

    def add(self, data: bytes, starts: Ints, ends: Ints) -> Ints:
        """The number of each of these names; new ones count on."""
        check_spans(data, starts, ends)
        self._reserve(len(starts), int((ends - starts).sum()))
        return self._numbers(data, starts, ends, is_new_added=True)

    def find(self, data: bytes, starts: Ints, ends: Ints) -> Ints:
        """The number of each of these names, -1 where it is unknown."""
        check_spans(data, starts, ends)
        return self._numbers(data, starts, ends, is_new_added=False)

    def spans(self) -> tuple[bytes, Ints, Ints]:
        """All names, in the order of their numbers."""
        size: cython.Py_ssize_t = self._ends[self._count]
        ends = np.array(self._ends[: self._count + 1])
        return bytes(self._data[:size]), ends[: self._count], ends[1:]

    def _numbers(self, data: bytes, starts: Ints, ends: Ints, is_new_added: cython.bint) -> Ints:
        numbers = np.empty(len(starts), np.int64)
        if len(starts) == 0:
            return numbers
        place: cython.const[cython.uchar][::1] = data or b"\0"
        bytes_: cython.pointer[cython.const[cython.uchar]] = cython.address(place[0])
        firsts: cython.const[cython.longlong][::1] = starts
        lasts: cython.const[cython.longlong][::1] = ends
        found: cython.longlong[::1] = numbers
        row: cython.Py_ssize_t
        length: cython.Py_ssize_t
        number: cython.longlong = -1
        for row in range(firsts.shape[0]):
            length = lasts[row] - firsts[row]
            # Files about the same ops often name them in the same order.
            if not self._is_at(number + 1, bytes_ + firsts[row], length):
                number = self._number(bytes_ + firsts[row], length, is_new_added)
            else:
                number += 1
            found[row] = number
        return numbers

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_at(
        self,
        number: cython.longlong,
        at: cython.pointer[cython.const[cython.uchar]],
        length: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether the name of that number is the one at `at`."""
        start: cython.longlong
        if number >= self._count:
            return False
        start = self._ends[number]
        if self._ends[number + 1] - start != length:
            return False
        return memcmp(cython.address(self._data[start]), at, length) == 0

    @cython.cfunc
    @cython.exceptval(-2)
    def _number(
        self,
        at: cython.pointer[cython.const[cython.uchar]],
        length: cython.Py_ssize_t,
        is_new_added: cython.bint,
    ) -> cython.longlong:
        """The number of the name at `at`, given now or before; -1 where it has none."""
        code: cython.ulonglong = hashed(at, length, self._seed)
        mask: cython.ulonglong = self._slots.shape[0] - 1
        slot: cython.ulonglong = code & mask
        cell: cython.ulonglong = self._slots[slot]
        while cell:
            if (cell ^ code) & TAG == 0 and self._is_at((cell & NUMBER) - 1, at, length):
                return (cell & NUMBER) - 1
            slot = (slot + 1) & mask
            cell = self._slots[slot]
        if not is_new_added:
            return -1
        start: cython.longlong = self._ends[self._count]
        memcpy(cython.address(self._data[start]), at, length)
        self._count += 1
        self._ends[self._count] = start + length
        self._slots[slot] = (code & TAG) | cython.cast(cython.ulonglong, self._count)
        return self._count - 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _reserve(self, count: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.int:
        """Let so many more names of that length in all fit; memory that is not used costs nothing.

        A byte stays free behind the last, so that every name has a place, be it empty.
        """
        size: cython.longlong = self._ends[self._count]
        room: cython.Py_ssize_t = self._slots.shape[0]
        if size + length >= self._data.shape[0]:
            data = np.empty(max(2 * self._data.shape[0], size + length + 1), np.uint8)
            data[:size] = self._data[:size]
            self._data = data
        if self._count + count >= self._ends.shape[0]:
            ends = np.empty(max(2 * self._ends.shape[0], self._count + count + 1), np.int64)
            ends[: self._count + 1] = self._ends[: self._count + 1]
            self._ends = ends
        while room < 2 * (self._count + count):
            room *= 2
        if room > self._slots.shape[0]:
            self._spread(room)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _spread(self, room: cython.Py_ssize_t) -> cython.int:
        """Put all numbers into a table of that size."""
        slots = np.zeros(room, np.uint64)
        cells: cython.ulonglong[::1] = slots
        mask: cython.ulonglong = cells.shape[0] - 1
        number: cython.Py_ssize_t
        code: cython.ulonglong
        slot: cython.ulonglong
        start: cython.longlong
        for number in range(self._count):
            start = self._ends[number]
            code = hashed(
                cython.address(self._data[start]), self._ends[number + 1] - start, self._seed
            )
            slot = code & mask
            while cells[slot]:
                slot = (slot + 1) & mask
            cells[slot] = (code & TAG) | cython.cast(cython.ulonglong, number + 1)
        self._slots = slots
        return 0


def find_first(data: bytes, starts: Ints, ends: Ints, text: bytes) -> Ints:
    """How far into each name `text` first stands, -1 where it does not."""
    check_spans(data, starts, ends)
    found = np.full(len(starts), -1, np.int64)
    if len(starts) == 0:
        return found
    if not text:
        return np.zeros(len(starts), np.int64)
    place: cython.const[cython.uchar][::1] = data or b"\0"
    wanted: cython.const[cython.uchar][::1] = text
    needle: cython.pointer[cython.const[cython.uchar]] = cython.address(wanted[0])
    length: cython.Py_ssize_t = wanted.shape[0]
    firsts: cython.const[cython.longlong][::1] = starts
    lasts: cython.const[cython.longlong][::1] = ends
    cells: cython.longlong[::1] = found
    row: cython.Py_ssize_t
    at: cython.pointer[cython.const[cython.uchar]]
    start: cython.pointer[cython.const[cython.uchar]]
    left: cython.Py_ssize_t
    with cython.nogil:
        for row in range(firsts.shape[0]):
            start = cython.address(place[0]) + firsts[row]
            at = start
            left = lasts[row] - firsts[row] - length + 1  # places where it may begin
            while left > 0:
                at = cython.cast(
                    cython.pointer[cython.const[cython.uchar]], memchr(at, needle[0], left)
                )
                if at == cython.NULL:
                    break
                if memcmp(at, needle, length) == 0:
                    cells[row] = at - start
                    break
                at += 1
                left = lasts[row] - firsts[row] - length + 1 - (at - start)
    return found


def find_last(data: bytes, starts: Ints, ends: Ints, text: bytes) -> Ints:
    """How far into each name `text`, which is not empty, last stands, -1 where it does not."""
    check_spans(data, starts, ends)
    check_text(text)
    found = np.full(len(starts), -1, np.int64)
    place: cython.const[cython.uchar][::1] = data or b"\0"
    wanted: cython.const[cython.uchar][::1] = text
    firsts: cython.const[cython.longlong][:] = starts
    lasts: cython.const[cython.longlong][:] = ends
    cells: cython.longlong[::1] = found
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    length: cython.Py_ssize_t = wanted.shape[0]
    with cython.nogil:
        for row in range(firsts.shape[0]):
            at = lasts[row] - length
            while at >= firsts[row]:
                if (
                    place[at] == wanted[0]
                    and memcmp(cython.address(place[at]), cython.address(wanted[0]), length) == 0
                ):
                    cells[row] = at - firsts[row]
                    break
                at -= 1
    return found


def split(data: bytes, starts: Ints, ends: Ints, text: bytes) -> tuple[Ints, Ints, Ints]:
    """The parts between `text`, which is not empty, of each name.

    Three columns: how many parts each name has, and where in the data each part begins and ends.
    """
    check_spans(data, starts, ends)
    check_text(text)
    counts = _split(data or b"\0", starts, ends, text, np.empty((2, 0), np.int64))
    parts = np.empty((2, int(counts.sum())), np.int64)
    _split(data or b"\0", starts, ends, text, parts)
    return counts, parts[0], parts[1]


@cython.cfunc
def _split(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][:],
    ends: cython.const[cython.longlong][:],
    text: cython.const[cython.uchar][::1],
    parts: cython.longlong[:, ::1],
) -> object:
    """How many parts each name has; where they are is written down if there is room for it."""
    found = np.empty(starts.shape[0], np.int64)
    counts: cython.longlong[::1] = found
    is_kept: cython.bint = parts.shape[1] > 0
    length: cython.Py_ssize_t = text.shape[0]
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    start: cython.Py_ssize_t
    part: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    for row in range(starts.shape[0]):
        at = start = starts[row]
        count = 1
        while at + length <= ends[row]:
            if (
                data[at] == text[0]
                and memcmp(cython.address(data[at]), cython.address(text[0]), length) == 0
            ):
                if is_kept:
                    parts[0, part] = start
                    parts[1, part] = at
                    part += 1
                count += 1
                at += length
                start = at
            else:
                at += 1
        if is_kept:
            parts[0, part] = start
            parts[1, part] = ends[row]
            part += 1
        counts[row] = count
    return found


def stands_at(data: bytes, starts: Ints, ends: Ints, places: Ints, text: bytes) -> Bools:
    """Whether `text` stands at each name's place in the data, all of it within the name."""
    check_spans(data, starts, ends)
    is_within = (starts <= places) & (places + len(text) <= ends)
    if not text:
        return is_within
    place: cython.const[cython.uchar][::1] = data or b"\0"
    wanted: cython.const[cython.uchar][::1] = text
    at: cython.const[cython.longlong][::1] = places
    flags: cython.uchar[::1] = is_within.view(np.uint8)
    difference: cython.int
    row: cython.Py_ssize_t
    with cython.nogil:
        for row in range(flags.shape[0]):
            if flags[row]:
                difference = memcmp(
                    cython.address(place[at[row]]), cython.address(wanted[0]), wanted.shape[0]
                )
                flags[row] = difference == 0
    return is_within


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rank_of(letter: cython.uchar) -> cython.uchar:
    """The letter in the order that has the slash first."""
    if letter > SLASH:
        return letter
    return 0 if letter == SLASH else letter + 1


@cython.final
@cython.cclass
class _Sorter:
    """Puts names in order eight letters at a time: most share a long beginning."""

    _data: cython.const[cython.uchar][::1]
    _starts: cython.const[cython.longlong][::1]
    _ends: cython.const[cython.longlong][::1]
    _rows: cython.longlong[::1]
    _keys: cython.ulonglong[::1]
    _other_rows: cython.longlong[::1]
    _other_keys: cython.ulonglong[::1]
    _is_slash_first: cython.bint

    def __init__(self, data: bytes, starts: Ints, ends: Ints, *, slash_first: bool) -> None:
        self._data = data or b"\0"
        self._starts = starts
        self._ends = ends
        self._rows = np.arange(len(starts), dtype=np.int64)
        self._keys = np.empty(len(starts), np.uint64)
        self._other_rows = np.empty(len(starts), np.int64)
        self._other_keys = np.empty(len(starts), np.uint64)
        self._is_slash_first = slash_first

    def sort(self) -> Ints:
        """The rows in order."""
        todo = [(0, self._rows.shape[0], 0)]
        while todo:
            first, last, depth = todo.pop()
            self._sort_by_key(first, last, depth)
            self._split(first, last, depth, todo)
        return np.asarray(self._rows)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _key(self, row: cython.longlong, depth: cython.Py_ssize_t) -> cython.ulonglong:
        """The eight letters from `depth` on, as a number in the same order."""
        key: cython.ulonglong = 0
        at: cython.Py_ssize_t
        start: cython.Py_ssize_t = self._starts[row] + depth
        end: cython.Py_ssize_t = min(self._ends[row], start + 8)
        if self._is_slash_first:
            for at in range(start, end):
                key = key << 8 | rank_of(self._data[at])
        elif end - start == 8:
            for at in range(start, start + 8):  # one load, to a compiler
                key = key << 8 | self._data[at]
            return key
        else:
            for at in range(start, end):
                key = key << 8 | self._data[at]
        return key << 8 * (8 - (end - start)) if end > start else 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _sort_by_key(
        self, first: cython.Py_ssize_t, last: cython.Py_ssize_t, depth: cython.Py_ssize_t
    ) -> cython.int:
        """Order the rows from `first` to `last` by their letters from `depth` on."""
        at: cython.Py_ssize_t
        is_ordered: cython.bint = True
        for at in range(first, last):
            self._keys[at] = self._key(self._rows[at], depth)
            if at > first and self._keys[at] < self._keys[at - 1]:
                is_ordered = False
        if not is_ordered:
            self._merge_runs(first, last)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _merge_runs(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Order the rows from `first` to `last` by their keys; equal ones stay as they were."""
        at: cython.Py_ssize_t
        width: cython.Py_ssize_t = SMALL
        for at in range(first, last, width):
            self._insert_keys(at, min(at + width, last))
        while width < last - first:
            for at in range(first, last - width, 2 * width):
                self._merge(at, at + width, min(at + 2 * width, last))
            width *= 2
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _insert_keys(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Order a few rows by their keys."""
        at: cython.Py_ssize_t
        place: cython.Py_ssize_t
        key: cython.ulonglong
        row: cython.longlong
        for at in range(first + 1, last):
            key = self._keys[at]
            row = self._rows[at]
            place = at
            while place > first and self._keys[place - 1] > key:
                self._keys[place] = self._keys[place - 1]
                self._rows[place] = self._rows[place - 1]
                place -= 1
            self._keys[place] = key
            self._rows[place] = row
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _merge(
        self, first: cython.Py_ssize_t, middle: cython.Py_ssize_t, last: cython.Py_ssize_t
    ) -> cython.int:
        """Order the rows from `first` to `last`, of which both parts are in order."""
        left: cython.Py_ssize_t
        right: cython.Py_ssize_t = middle
        to: cython.Py_ssize_t = first
        if self._keys[middle - 1] <= self._keys[middle]:
            return 0
        for left in range(first, middle):
            self._other_keys[left] = self._keys[left]
            self._other_rows[left] = self._rows[left]
        left = first
        while left < middle:
            if right < last and self._keys[right] < self._other_keys[left]:
                self._keys[to] = self._keys[right]
                self._rows[to] = self._rows[right]
                right += 1
            else:
                self._keys[to] = self._other_keys[left]
                self._rows[to] = self._other_rows[left]
                left += 1
            to += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _split(
        self,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        depth: cython.Py_ssize_t,
        todo: list[tuple[int, int, int]],
    ) -> cython.int:
        """Sort what has equal keys by what follows: at once where that is little."""
        at: cython.Py_ssize_t = first
        end: cython.Py_ssize_t
        while at < last:
            end = at + 1
            while end < last and self._keys[end] == self._keys[at]:
                end += 1
            if end - at <= SMALL:
                self._sort_few(at, end, depth)
            else:
                at = self._ended_first(at, end, depth)
                todo.append((at, end, depth + 8))
            at = end
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _ended_first(
        self, first: cython.Py_ssize_t, last: cython.Py_ssize_t, depth: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Put names that end within the eight letters first, the shortest before; how far."""
        at: cython.Py_ssize_t
        length: cython.longlong
        place: cython.Py_ssize_t = first
        for at in range(first, last):
            length = self._ends[self._rows[at]] - self._starts[self._rows[at]] - depth
            self._keys[at] = min(max(length, 0), 9)
            place += self._keys[at] < 9
        if place > first:
            self._merge_runs(first, last)
        return place

    @cython.cfunc
    @cython.exceptval(check=False)
    def _sort_few(
        self, first: cython.Py_ssize_t, last: cython.Py_ssize_t, depth: cython.Py_ssize_t
    ) -> cython.int:
        """Order the rows from `first` to `last` by insertion."""
        at: cython.Py_ssize_t
        place: cython.Py_ssize_t
        row: cython.longlong
        for at in range(first + 1, last):
            row = self._rows[at]
            place = at
            while place > first and self._is_before(row, self._rows[place - 1], depth):
                self._rows[place] = self._rows[place - 1]
                place -= 1
            self._rows[place] = row
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_before(
        self, row: cython.longlong, other: cython.longlong, depth: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether one name goes before another that has the same first `depth` letters."""
        at: cython.Py_ssize_t = self._starts[row] + depth
        there: cython.Py_ssize_t = self._starts[other] + depth
        end: cython.Py_ssize_t = self._ends[row]
        other_end: cython.Py_ssize_t = self._ends[other]
        while at < end and there < other_end and self._data[at] == self._data[there]:
            at += 1
            there += 1
        if at >= end or there >= other_end:
            return end - at < other_end - there
        if self._is_slash_first:
            return rank_of(self._data[at]) < rank_of(self._data[there])
        return self._data[at] < self._data[there]


def order(data: bytes, starts: Ints, ends: Ints, *, slash_first: bool = False) -> Ints:
    """The rows in the byte order of their names; `slash_first` puts that letter before others.

    Equal names stay as they were.
    """
    check_spans(data, starts, ends)
    return _Sorter(data, starts, ends, slash_first=slash_first).sort()


def scope_rows(data: bytes, starts: Ints, ends: Ints, rows: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The tree of scopes, each followed by what it holds, for `rows` ordered with slashes first.

    Four columns: a name that the scope or op begins, where in the data its own name ends, how deep
    it is (1 is the top), and the row of the op that it is, -1 for a scope that is none.
    """
    check_spans(data, starts, ends)
    return _Scopes(data, starts, ends, rows).columns()


@cython.final
@cython.cclass
class _Scopes:
    """Walks names in tree order: what one shares with the one before was there already."""

    _data: cython.const[cython.uchar][::1]
    _starts: cython.const[cython.longlong][::1]
    _ends: cython.const[cython.longlong][::1]
    _rows: cython.const[cython.longlong][::1]
    _columns: cython.longlong[:, ::1]
    _count: cython.Py_ssize_t

    def __init__(self, data: bytes, starts: Ints, ends: Ints, rows: Ints) -> None:
        self._data = data or b"\0"
        self._starts = starts
        self._ends = ends
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(starts):
            raise ValueError("no such row")
        self._rows = rows
        self._columns = np.empty((4, 2 * len(rows) + 16), np.int64)
        self._count = 0

    def columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        before: cython.longlong = -1
        row: cython.longlong
        place: cython.Py_ssize_t
        at: cython.Py_ssize_t
        depth: cython.Py_ssize_t
        for place in range(self._rows.shape[0]):
            row = self._rows[place]
            at = self._shared(before, row)
            depth = self._depth(row, at)
            at += 1
            while at < self._ends[row]:
                if self._data[at] == SLASH:
                    depth += 1
                    self._add(row, at, depth, -1)
                at += 1
            self._add(row, self._ends[row], depth + 1, row)
            before = row
        found = np.asarray(self._columns)[:, : self._count]
        return found[0].copy(), found[1].copy(), found[2].copy(), found[3].copy()

    @cython.cfunc
    @cython.exceptval(-2)
    def _shared(self, before: cython.longlong, row: cython.longlong) -> cython.Py_ssize_t:
        """Where the scopes end that both names are in; just before the name where there is none."""
        start: cython.Py_ssize_t = self._starts[row]
        at: cython.Py_ssize_t = start
        last: cython.Py_ssize_t = start - 1
        if before < 0:
            return last
        there: cython.Py_ssize_t = self._starts[before]
        while True:
            here_ends: cython.bint = at == self._ends[row]
            there_ends: cython.bint = there == self._ends[before]
            if (here_ends or self._data[at] == SLASH) and (
                there_ends or self._data[there] == SLASH
            ):
                last = at
            if here_ends or there_ends or self._data[at] != self._data[there]:
                return last
            at += 1
            there += 1

    @cython.cfunc
    @cython.exceptval(-2)
    def _depth(self, row: cython.longlong, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How deep the scope is that ends at `end`."""
        at: cython.Py_ssize_t
        depth: cython.Py_ssize_t = 1
        if end < self._starts[row]:
            return 0
        for at in range(self._starts[row], end):
            depth += self._data[at] == SLASH
        return depth

    @cython.cfunc
    @cython.exceptval(-1)
    def _add(
        self,
        row: cython.longlong,
        end: cython.Py_ssize_t,
        depth: cython.Py_ssize_t,
        op: cython.longlong,
    ) -> cython.int:
        if self._count == self._columns.shape[1]:
            columns = np.empty((4, 2 * self._count), np.int64)
            columns[:, : self._count] = self._columns
            self._columns = columns
        self._columns[0, self._count] = row
        self._columns[1, self._count] = end
        self._columns[2, self._count] = depth
        self._columns[3, self._count] = op
        self._count += 1
        return 0
