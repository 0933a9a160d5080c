# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Search many names for a text, and split them at it.

This module only runs compiled; `plain_names` has the same in ordinary Python. The spans of names
are checked once, on entry, so that the loops need not check every byte.
"""

from __future__ import annotations

import cython
import numpy as np

from tfprof.kernels.spans import Bools, Ints, check_spans, check_text

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memchr, memcmp

__all__ = ["find_first", "find_last", "split", "stands_at"]


def find_first(data: bytes, starts: Ints, ends: Ints, text: bytes) -> Ints:
    """The offset of the first `text` in each name, -1 where there is none."""
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
            left = lasts[row] - firsts[row] - length + 1  # offsets at which it may begin
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
    """The offset of the last `text` in each name, -1 where there is none; `text` is not empty."""
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
    """Split each name at `text`, which is not empty.

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
    """The number of parts of each name; their spans go into `parts` unless it is empty."""
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
    """Whether `text` is at each name's place in the data, and wholly within the name."""
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
