# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""A hash table of names: each distinct name gets a number.

This module only runs compiled; `plain_names` has the same in ordinary Python. The spans of names
are checked once, on entry, so that the loops need not check every byte.
"""

from __future__ import annotations

from os import urandom

import cython
import numpy as np

from tfprof.kernels.spans import Ints, check_spans

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memcmp, memcpy

__all__ = ["SpanTable"]

_FIRST_SLOTS = 1024
_FIRST_BYTES = 1 << 16
FIRST_MIXER = cython.declare(cython.ulonglong, 0x9E37_79B9_7F4A_7C15)
SECOND_MIXER = cython.declare(cython.ulonglong, 0xD6E8_FEB8_6659_FD93)
TAG = cython.declare(cython.ulonglong, 0xFFFF_FFFF_0000_0000)
NUMBER = cython.declare(cython.ulonglong, 0x0000_0000_FFFF_FFFF)


@cython.final
@cython.cclass
class SpanTable:
    """Distinct names, numbered in the order in which they were first added."""

    _seed: cython.ulonglong
    _count: cython.Py_ssize_t
    _data: cython.uchar[::1]
    _ends: cython.longlong[::1]  # row `i + 1` has the end of name `i`; one follows another
    # Each slot: the upper half of the name's hash, and its number plus one; 0 is free.
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
        """The number of each of these names; new names get the next numbers."""
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
            # Files of the same model often list its ops in the same order.
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
        """Whether the name with that number equals the one at `at`."""
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
        """The number of the name at `at`, which may be new; -1 if unknown and not added."""
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
        """Make room for `count` more names with `length` bytes in all.

        One byte after the last name stays free, so that an empty name has an address too.
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
        """Rehash all names into `room` slots."""
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hashed(
    at: cython.pointer[cython.const[cython.uchar]],
    length: cython.Py_ssize_t,
    seed: cython.ulonglong,
) -> cython.ulonglong:
    """A hash of the name at `at`; without knowing `seed`, one cannot choose names that collide."""
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
