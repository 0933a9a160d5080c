# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Read numbers and texts from the bytes of a message, for `scan`.

The C types are declared in `scan_bytes.pxd`. The bytes are not trusted: every position is compared
with the end of its message before it is read.
"""

from __future__ import annotations

import sys

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

if cython.compiled:
    from cython.cimports.libc.string import memcmp, memcpy

IS_LITTLE = cython.declare(cython.int, sys.byteorder == "little")
LARGEST = cython.declare(cython.ulonglong, 0xFFFF_FFFF_FFFF_FFFF)
LARGEST_SIGNED = cython.declare(cython.ulonglong, 0x7FFF_FFFF_FFFF_FFFF)
HIGH_BITS = cython.declare(cython.ulonglong, 0x8080_8080_8080_8080)
LOW_BITS = cython.declare(cython.ulonglong, 0x0101_0101_0101_0101)
COLONS = cython.declare(cython.ulonglong, 0x3A3A_3A3A_3A3A_3A3A)
MULTIPLIER = cython.declare(cython.ulonglong, 0x9E37_79B9_7F4A_7C15)  # 2**64 / golden ratio

# Masks that join the seven-bit digits of a number: digits in alternate bytes, then alternate pairs,
# then halves. COUNTS holds the number of digits, by the byte that contains the last one.
DIGITS = cython.declare(cython.ulonglong, 0x007F_007F_007F_007F)
DIGITS_ABOVE = cython.declare(cython.ulonglong, 0x7F00_7F00_7F00_7F00)
PAIRS = cython.declare(cython.ulonglong, 0x0000_3FFF_0000_3FFF)
PAIRS_ABOVE = cython.declare(cython.ulonglong, 0x3FFF_0000_3FFF_0000)
FOURS = cython.declare(cython.ulonglong, 0x0000_0000_0FFF_FFFF)
FOURS_ABOVE = cython.declare(cython.ulonglong, 0x0FFF_FFFF_0000_0000)
COUNTS = cython.declare(cython.ulonglong, 0x0102_0304_0506_0708)


class UnusualError(ValueError):
    """The scan cannot handle the file; protobuf's reader has to."""


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(-1)
@cython.boundscheck(False)
def eight(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.ulonglong:
    """The eight bytes at `at`, which must exist, as a little-endian number."""
    found: cython.ulonglong = 0
    place: cython.Py_ssize_t
    if cython.compiled and IS_LITTLE:
        memcpy(cython.address(found), data + at, 8)
    else:
        for place in range(at + 7, at - 1, -1):
            found = found << 8 | data[place]
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(-1)
@cython.boundscheck(False)
def fewer(
    data: cython.p_const_uchar,
    size: cython.Py_ssize_t,
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> cython.ulonglong:
    """The one to seven bytes from `at` to `end`, as the upper bytes of a number."""
    found: cython.ulonglong = 0
    shift: cython.int = 64 - 8 * (end - at)
    if size - at >= 8:
        return eight(data, at) << shift & LARGEST
    while end > at:
        end -= 1
        found = found << 8 | data[end]
    return found << shift & LARGEST


class ByteReader:
    """The bytes of a message."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.octets = data
        self.size = len(data)
        self.value = 0

    def give_up(self) -> cython.int:
        """Stop scanning and leave the file to protobuf's reader."""
        raise UnusualError

    # Numbers.

    def number(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the number at `at` into `value`; return where it ends, possibly after `end`."""
        word: cython.ulonglong
        stop: cython.ulonglong
        if self.size - at < 8:
            return self.long_number(at, end)
        word = eight(self.octets, at)
        stop = ~word & HIGH_BITS
        if not stop:
            return self.long_number(at, end)
        stop &= LARGEST - stop + 1  # keep its lowest bit, the top bit of the last digit's byte
        at += ((stop >> 7) * COUNTS & LARGEST) >> 56
        word &= stop - 1
        # Join seven-bit digits into pairs, then groups of four, then all eight.
        word = word & DIGITS | (word & DIGITS_ABOVE) >> 1
        word = word & PAIRS | (word & PAIRS_ABOVE) >> 2
        self.value = word & FOURS | (word & FOURS_ABOVE) >> 4
        return at

    def long_number(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read a number of up to ten digits into `value`; return where it ends."""
        last: cython.Py_ssize_t = min(end, at + 10)
        found: cython.ulonglong = 0
        digit: cython.ulonglong = 0x80
        below: cython.longlong
        shift: cython.int = 0
        while at < last:
            digit = self.data[at]
            at += 1
            if digit < 0x80:
                break
            found |= (digit & 0x7F) << shift
            shift += 7
        if digit > 0x7F or (shift == 63 and digit > 1):
            self.give_up()
        found |= digit << shift
        if found > LARGEST_SIGNED:
            below = LARGEST - found
            self.value = -1 - below
        else:
            self.value = found
        return at

    def short(
        self, at: cython.Py_ssize_t, end: cython.Py_ssize_t, most: cython.longlong
    ) -> cython.Py_ssize_t:
        """Read a number up to `most`, in at most five bytes, into `value`; return where it ends."""
        start: cython.Py_ssize_t = at
        if at < end and self.data[at] < 0x80:
            self.value = self.data[at]
            return at + 1
        at = self.number(at, end)
        if at > end or at - start > 5 or self.value < 0 or self.value > most:
            self.give_up()
        return at

    def slot(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.longlong:
        """The decimal number from `at` to `end`; 0 if it is not a number of at most nine digits."""
        found: cython.longlong = 0
        if end - at > 9:
            return 0
        while at < end:
            if not ord("0") <= self.data[at] <= ord("9"):
                return 0
            found = 10 * found + self.data[at] - ord("0")
            at += 1
        return found

    # Texts.

    def require_ascii(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Give up if one of these bytes is not ASCII."""
        bits: cython.ulonglong = 0
        while end - at >= 8:
            bits |= eight(self.octets, at)
            at += 8
        if at < end:
            bits |= fewer(self.octets, self.size, at, end)
        if bits & HIGH_BITS:
            self.give_up()
        return 0

    def colon(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The position of the first colon in a text, or its end; gives up if it is not ASCII."""
        start: cython.Py_ssize_t = at
        bits: cython.ulonglong = 0
        colons: cython.ulonglong = 0
        word: cython.ulonglong
        while at < end:
            word = (
                eight(self.octets, at) if end - at >= 8 else fewer(self.octets, self.size, at, end)
            )
            bits |= word
            word ^= COLONS
            colons |= (word - LOW_BITS) & ~word
            at += 8
        if bits & HIGH_BITS:
            self.give_up()
        if not colons & HIGH_BITS:
            return end
        while self.data[start] != ord(":"):
            start += 1
        return start

    def is_same(
        self, start: cython.Py_ssize_t, other: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.int:
        """Whether two texts of the same size are equal."""
        if size == 0:
            return 1
        if cython.compiled:
            return (
                memcmp(cython.address(self.data[start]), cython.address(self.data[other]), size)
                == 0
            )
        return self.data[start : start + size] == self.data[other : other + size]

    def hashed(
        self, seed: cython.int, at: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.longlong:
        """The hash of a text, a non-negative number."""
        word: cython.ulonglong
        found: cython.ulonglong = end - at + seed
        while at < end:
            word = (
                eight(self.octets, at) if end - at >= 8 else fewer(self.octets, self.size, at, end)
            )
            found = (found ^ word) * MULTIPLIER & LARGEST
            found ^= found >> 29
            at += 8
        found = (found ^ found >> 32) * MULTIPLIER & LARGEST
        return found >> 2 ^ found >> 34
