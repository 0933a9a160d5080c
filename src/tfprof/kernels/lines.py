# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True, show_performance_hints=False
"""Write many rows at once: numbers with units, varints, and rows joined from pieces of text.

This module only runs compiled; `plain_lines` has the same in ordinary Python. The spans of texts
are checked once, before anything is copied, so that the loops need not check every byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import cython
import numpy as np

from tfprof.kernels.plain_lines import Piece, Spans, Unit
from tfprof.kernels.spans import Ints

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
from cython.cimports.libc.math import fma
from cython.cimports.libc.string import memcpy, memset

__all__ = ["amounts", "varints", "woven"]

LONGEST_VARINT = cython.declare(cython.Py_ssize_t, 10)  # 64 bits, seven per byte
LONGEST = cython.declare(cython.Py_ssize_t, 20)  # the digits and the sign of an int64
ROWS_AT_ONCE = 2048  # few enough to stay in the cache while their pieces are copied
EXACT = cython.declare(cython.longlong, 1 << 53)  # below this a double is exact


def amounts(column: Ints, unit: Unit, after: str) -> Spans:
    """Each number of `column` in its `unit`, followed by `after`."""
    tails = [(suffix + after).encode() for suffix in unit.suffixes]
    starts, ends = np.empty(len(column), np.int64), np.empty(len(column), np.int64)
    return _write_amounts(column, tails, starts, ends), starts, ends


@cython.cfunc
def _write_amounts(
    column: cython.const[cython.longlong][:],
    tails: list[bytes],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
) -> bytes:
    """Write each number into its own slot, aligned to the end of the slot."""
    steps: cython.int = len(tails)
    if not 0 < steps <= 4:
        raise ValueError("a unit has one to four suffixes")
    tail = cython.declare(cython.p_char[4])
    tail_length = cython.declare(cython.Py_ssize_t[4])
    width: cython.Py_ssize_t = 0
    step: cython.int
    for step in range(steps):
        text: bytes = tails[step]
        tail[step] = text
        tail_length[step] = len(text)
        width = max(width, LONGEST + tail_length[step])
    data: bytes = PyBytes_FromStringAndSize(cython.NULL, column.shape[0] * width)
    target: cython.p_char = data
    memset(target, 32, column.shape[0] * width)  # the rest of each slot is blank
    end: cython.p_char = target
    start: cython.p_char
    row: cython.Py_ssize_t
    amount: cython.longlong
    for row in range(column.shape[0]):
        amount = column[row]
        step = _step(amount, steps)
        end += width
        start = end - tail_length[step]
        memcpy(start, tail[step], tail_length[step])
        if step == 0:
            start = _write_whole(amount, start)
        elif amount >= EXACT:
            start = _write_rounded(amount, step, start)
        else:
            start = _write_hundredths(_hundredths(amount, step), start)
        starts[row] = start - target
        ends[row] = end - target
    return data


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _step(amount: cython.longlong, steps: cython.int) -> cython.int:
    """The place of the suffix that an amount is written with."""
    if amount < 1_000 or steps == 1:
        return 0
    if amount < 1_000_000 or steps == 2:
        return 1
    return 2 if amount < 1_000_000_000 or steps == 3 else 3


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _hundredths(amount: cython.longlong, step: cython.int) -> cython.ulonglong:
    """An amount in hundredths of its suffix, rounded as C rounds the double of the quotient."""
    if step == 1:
        return _rounded(amount, 10, 1e3)
    if step == 2:
        return _rounded(amount, 10_000, 1e6)
    return _rounded(amount, 10_000_000, 1e9)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _rounded(
    amount: cython.ulonglong, hundredth: cython.ulonglong, scale: cython.double
) -> cython.ulonglong:
    """The number of hundredths in an amount, rounded as C rounds the double of the quotient.

    Below 2**53 integer arithmetic decides, unless the exact quotient is halfway: the rounding error
    of the double is smaller than the distance of any other quotient from a half. Halfway, the
    double may be above or below the half; if it is equal, C rounds to even.
    """
    found: cython.ulonglong = amount // hundredth
    rest: cython.ulonglong = amount - found * hundredth
    if 2 * rest == hundredth:
        whole: cython.double = cython.cast(cython.double, amount)
        excess: cython.double = fma(whole / scale, scale, -whole)
        return found + 1 if excess > 0 or (excess == 0 and found % 2 == 1) else found
    return found + 1 if 2 * rest > hundredth else found


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _write_digits(number: cython.ulonglong, end: cython.p_char) -> cython.p_char:
    """Write a number that ends at `end`, and return where it begins."""
    while True:
        end -= 1
        end[0] = 48 + cython.cast(cython.char, number % 10)
        number //= 10
        if number == 0:
            return end


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _write_whole(amount: cython.longlong, end: cython.p_char) -> cython.p_char:
    if amount >= 0:
        return _write_digits(amount, end)
    # The smallest int64 has a positive counterpart only in unsigned arithmetic.
    end = _write_digits(-cython.cast(cython.ulonglong, amount), end) - 1
    end[0] = 45  # a minus
    return end


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _write_hundredths(number: cython.ulonglong, end: cython.p_char) -> cython.p_char:
    end -= 3
    end[0] = 46  # the point
    end[1] = 48 + cython.cast(cython.char, number // 10 % 10)
    end[2] = 48 + cython.cast(cython.char, number % 10)
    return _write_digits(number // 100, end)


@cython.cfunc
def _write_rounded(amount: cython.longlong, step: cython.int, end: cython.p_char) -> cython.p_char:
    """Write an amount of any size, formatted by Python."""
    text: bytes = b"%.2f" % (float(amount) / 1_000**step)
    length: cython.Py_ssize_t = len(text)
    memcpy(end - length, cython.cast(cython.p_char, text), length)
    return end - length


def varints(column: Ints) -> Spans:
    """Each number as a varint (base 128, as in protobuf), one after the other."""
    starts, ends = np.empty(len(column), np.int64), np.empty(len(column), np.int64)
    return _write_varints(column, starts, ends), starts, ends


@cython.cfunc
def _write_varints(
    column: cython.const[cython.longlong][:],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
) -> bytes:
    data: bytes = PyBytes_FromStringAndSize(cython.NULL, column.shape[0] * LONGEST_VARINT)
    target: cython.p_char = data
    at: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    number: cython.ulonglong
    for row in range(column.shape[0]):
        number = cython.cast(cython.ulonglong, column[row])
        starts[row] = at
        while number > 127:
            target[at] = cython.cast(cython.char, (number & 127) | 128)
            number >>= 7
            at += 1
        target[at] = cython.cast(cython.char, number)
        at += 1
        ends[row] = at
    return data[:at]


def woven(pieces: Sequence[Piece], rows: int) -> Spans:
    """The rows, each of which is its pieces joined, one after the other."""
    ends = np.zeros(rows, np.int64)
    for piece in pieces:
        if isinstance(piece, bytes):
            ends += len(piece)
        else:
            _add_lengths(len(piece.data), piece.starts, piece.ends, ends)
    data: bytes = PyBytes_FromStringAndSize(cython.NULL, _lengths_to_starts(ends))
    starts = ends.copy()
    for first in range(0, rows, ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        for piece in pieces:
            if isinstance(piece, bytes):
                _copy_text(piece, data, ends[some])
            else:
                _copy_spans(piece.data, piece.starts[some], piece.ends[some], data, ends[some])
    return data, starts, ends


@cython.cfunc
def _add_lengths(
    size: cython.Py_ssize_t,
    starts: cython.const[cython.longlong][:],
    ends: cython.const[cython.longlong][:],
    lengths: cython.longlong[::1],
) -> None:
    row: cython.Py_ssize_t
    if not starts.shape[0] == ends.shape[0] == lengths.shape[0]:
        raise ValueError("a piece has a text for each row")
    for row in range(lengths.shape[0]):
        if not 0 <= starts[row] <= ends[row] <= size:
            raise ValueError("a text lies outside of its data")
        lengths[row] += ends[row] - starts[row]


@cython.cfunc
def _lengths_to_starts(lengths: cython.longlong[::1]) -> cython.longlong:
    """Replace the length of each row by its start, and return the end of the last row."""
    row: cython.Py_ssize_t
    length: cython.longlong
    total: cython.longlong = 0
    for row in range(lengths.shape[0]):
        length = lengths[row]
        lengths[row] = total
        total += length
    return total


@cython.cfunc
def _copy_text(text: bytes, data: bytes, places: cython.longlong[::1]) -> None:
    """Copy one text to the place of each row, and advance the places."""
    row: cython.Py_ssize_t
    length: cython.Py_ssize_t = len(text)
    source: cython.p_char = text
    target: cython.p_char = data
    for row in range(places.shape[0]):
        memcpy(target + places[row], source, length)
        places[row] += length


@cython.cfunc
def _copy_spans(
    texts: bytes,
    starts: cython.const[cython.longlong][:],
    ends: cython.const[cython.longlong][:],
    data: bytes,
    places: cython.longlong[::1],
) -> None:
    """Copy the text of each row to its place, and advance the places."""
    row: cython.Py_ssize_t
    length: cython.Py_ssize_t
    source: cython.p_char = texts
    target: cython.p_char = data
    for row in range(places.shape[0]):
        length = ends[row] - starts[row]
        memcpy(target + places[row], source + starts[row], length)
        places[row] += length
