# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Sort names, by bytes or with the slash before all other bytes.

This module only runs compiled; `plain_names` has the same in ordinary Python. The spans of names
are checked once, on entry, so that the loops need not check every byte.
"""

from __future__ import annotations

import cython
import numpy as np

from tfprof.kernels.spans import Ints, check_spans

if not cython.compiled:
    raise ImportError("this module has to be compiled")

__all__ = ["order"]

SLASH = cython.declare(cython.uchar, 0x2F)
SMALL = cython.declare(cython.Py_ssize_t, 24)  # this many names or fewer are sorted by insertion


def order(data: bytes, starts: Ints, ends: Ints, *, slash_first: bool = False) -> Ints:
    """The rows in the byte order of their names; with `slash_first`, "/" precedes all other bytes.

    The sort is stable.
    """
    check_spans(data, starts, ends)
    return _Sorter(data, starts, ends, slash_first=slash_first).sort()


@cython.final
@cython.cclass
class _Sorter:
    """Sorts names by eight bytes at a time, as most share a long prefix."""

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
        """The sorted rows."""
        todo = [(0, self._rows.shape[0], 0)]
        while todo:
            first, last, depth = todo.pop()
            self._sort_by_key(first, last, depth)
            self._split(first, last, depth, todo)
        return np.asarray(self._rows)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _key(self, row: cython.longlong, depth: cython.Py_ssize_t) -> cython.ulonglong:
        """The eight bytes from `depth` on, as a number that sorts the same."""
        key: cython.ulonglong = 0
        at: cython.Py_ssize_t
        start: cython.Py_ssize_t = self._starts[row] + depth
        end: cython.Py_ssize_t = min(self._ends[row], start + 8)
        if self._is_slash_first:
            for at in range(start, end):
                key = key << 8 | rank_of(self._data[at])
        elif end - start == 8:
            for at in range(start, start + 8):  # compilers turn this into one load
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
        """Sort the rows from `first` to `last` by their eight bytes from `depth` on."""
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
        """Sort the rows from `first` to `last` by their keys; a stable merge sort."""
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
        """Sort a few rows by their keys, by insertion."""
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
        """Merge two sorted runs, `first` to `middle` and `middle` to `last`."""
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
        """Sort rows with equal keys by what follows: small groups now, others through `todo`."""
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
        """Move names that end within these eight bytes to the front, the shortest first.

        Returns where they end.
        """
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
        """Sort the rows from `first` to `last` by whole names, by insertion."""
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
        """Whether one name sorts before another with the same first `depth` bytes."""
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rank_of(letter: cython.uchar) -> cython.uchar:
    """The rank of a byte when the slash precedes all other bytes."""
    if letter > SLASH:
        return letter
    return 0 if letter == SLASH else letter + 1
