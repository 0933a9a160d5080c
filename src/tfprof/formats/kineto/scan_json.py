# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Reads JSON that arrives in pieces, for `scan`.

The C types are declared in `scan_json.pxd`. Loops end at the latest at the zero after the last byte
of the buffer, which no rule of JSON accepts, so that positions never get beyond it. Functions that
read return the position after what they read, `MORE` if the buffer ends before that, or `DAMAGED`
if it is not valid JSON. As in `plain`, texts may have control characters, and the constants of
Python and C++ for what is not a number are valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memcmp, memcpy
from cython.cimports.tfprof.formats.kineto.scan_chars import (
    digits,
    is_digit,
    is_escape,
    is_hex,
    space,
)

if TYPE_CHECKING:  # otherwise from `scan_json.pxd`
    from tfprof.formats.kineto.scan_texts import TextTable

MORE, DAMAGED = -1, -2
_MORE = cython.declare(cython.int, -1)
_DAMAGED = cython.declare(cython.int, -2)

_PADDING = 16  # zeros after the buffer
_DEEPEST = cython.declare(cython.int, 128)
ONES = cython.declare(cython.ulonglong, 0x0101_0101_0101_0101)
HIGHS = cython.declare(cython.ulonglong, 0x8080_8080_8080_8080)
LONGEST_CONSTANT = cython.declare(cython.int, 9)


class JsonReader(TextTable):
    """A buffer with unread bytes."""

    def __init__(self, columns: int) -> None:
        TextTable.__init__(self, columns)
        self.at = self.end = self.base = 0
        self.buffer = np.zeros(_PADDING, np.uint8)
        self.point()

    def point(self) -> cython.int:
        """Point `octets` to the current buffer."""
        place: cython.size_t = self.buffer.ctypes.data
        self.octets = cython.cast(cython.p_uchar, place)
        return 0

    @property
    def position(self) -> int:
        """How many bytes of the file were read."""
        return self.base + self.at

    def feed(self, piece: bytes) -> None:
        """Append to the buffer, and drop what was read."""
        left: int = self.end - self.at
        size = left + len(piece)
        if size + _PADDING > len(self.buffer):
            buffer = np.zeros(max(size + _PADDING, 3 * size // 2), np.uint8)
        else:
            buffer = self.buffer
        buffer[:left] = self.buffer[self.at : self.end]
        buffer[left:size] = np.frombuffer(piece, np.uint8)
        buffer[size : size + _PADDING] = 0
        self.buffer = buffer
        self.point()
        self.base += self.at
        self.at, self.end = 0, size

    def unread(self) -> memoryview:
        """The bytes in the buffer that were not read."""
        return self.buffer.data[self.at : self.end]

    def drop(self, count: int) -> None:
        """Skip that many bytes of the buffer."""
        if not 0 <= count <= self.end - self.at:
            raise ValueError("not as many bytes")
        self.at += count

    def char(self) -> str:
        """The next character that is not whitespace; empty if there is none in the buffer."""
        self.at = space(self.octets, self.at)
        return chr(self.octets[self.at]) if self.at < self.end else ""

    def value(self) -> int:
        """The length of the value in the buffer, or `MORE` or `DAMAGED`."""
        end: cython.Py_ssize_t = self.skip(self.at, 0)
        return end - self.at if end >= 0 else end

    def fail(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """What to return if the byte at `at` is not the expected one."""
        return _MORE if at >= self.end else _DAMAGED

    def string(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:  # noqa: C901 -- one loop
        """The position of the quote that ends the text which starts at `at`."""
        word: cython.ulonglong = 0
        quotes: cython.ulonglong
        slashes: cython.ulonglong
        last: cython.Py_ssize_t
        self.is_escaped = 0
        while True:
            # Eight bytes at a time, as long as they have neither a quote nor a backslash.
            while at + 8 <= self.end:
                memcpy(cython.address(word), self.octets + at, 8)
                quotes = word ^ (ONES * 0x22)
                slashes = word ^ (ONES * 0x5C)
                if ((quotes - ONES & ~quotes) | (slashes - ONES & ~slashes)) & HIGHS:
                    break
                at += 8
            while at < self.end and self.octets[at] != ord('"') and self.octets[at] != ord("\\"):
                at += 1
            if self.octets[at] == ord('"') and at < self.end:
                return at
            if at >= self.end:
                return self.fail(at)
            self.is_escaped = 1
            at += 1
            if self.octets[at] == ord("u"):
                last = at + 4
                while at < last:
                    at += 1
                    if not is_hex(self.octets[at]):
                        return self.fail(at)
            elif not is_escape(self.octets[at]):
                return self.fail(at)
            at += 1

    def number(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The position after a number, or a constant such as `NaN`."""
        start: cython.Py_ssize_t = at
        if self.octets[at] == ord("-"):
            at += 1
        if self.octets[at] == ord("0"):
            at += 1
        elif ord("1") <= self.octets[at] <= ord("9"):
            at = digits(self.octets, at)
        else:
            return self.constant(start)
        if self.octets[at] == ord("."):
            if not is_digit(self.octets[at + 1]):
                return self.fail(at + 1)
            at = digits(self.octets, at + 1)
        if self.octets[at] == ord("e") or self.octets[at] == ord("E"):
            at += 1
            if self.octets[at] == ord("-") or self.octets[at] == ord("+"):
                at += 1
            if not is_digit(self.octets[at]):
                return self.fail(at)
            at = digits(self.octets, at)
        return self.fail(at) if at >= self.end else at

    def constant(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The position after a constant of JSON, Python or C++."""
        if (
            self.has(at, b"null", 4)
            or self.has(at, b"true", 4)
            or self.has(at, b"-inf", 4)
            or self.has(at, b"-nan", 4)
        ):
            at += 4
        elif self.has(at, b"false", 5):
            at += 5
        elif self.has(at, b"NaN", 3) or self.has(at, b"nan", 3) or self.has(at, b"inf", 3):
            at += 3
        elif self.has(at, b"Infinity", 8):
            return at + 8
        elif self.has(at, b"-Infinity", 9):
            return at + 9
        else:
            # A constant may be cut off by the end of the buffer.
            return self.fail(self.end if self.end - at < LONGEST_CONSTANT else at)
        # Windows adds what kind of NaN it is.
        return at + 5 if self.has(at - 3, b"nan(ind)", 8) else at

    def has(
        self,
        at: cython.Py_ssize_t,
        text: cython.pointer[cython.const[cython.char]],
        length: cython.Py_ssize_t,
    ) -> cython.int:
        """Whether the text is at `at`."""
        return self.end - at >= length and memcmp(self.octets + at, text, length) == 0

    def skip(self, at: cython.Py_ssize_t, depth: cython.int) -> cython.Py_ssize_t:
        """The position after the value at `at`."""
        first: cython.uchar = self.octets[at]
        if first == ord('"'):
            at = self.string(at + 1)
            return at + 1 if at >= 0 else at
        if first == ord("{") or first == ord("["):
            if depth >= _DEEPEST:
                return _DAMAGED
            if first == ord("{"):
                return self.skip_object(at + 1, depth)
            return self.skip_list(at + 1, depth)
        return self.number(at)

    def skip_list(self, at: cython.Py_ssize_t, depth: cython.int) -> cython.Py_ssize_t:
        at = space(self.octets, at)
        if self.octets[at] == ord("]"):
            return at + 1
        while True:
            at = self.skip(at, depth + 1)
            if at < 0:
                return at
            at = space(self.octets, at)
            if self.octets[at] == ord("]"):
                return at + 1
            if self.octets[at] != ord(","):
                return self.fail(at)
            at = space(self.octets, at + 1)

    def skip_object(  # noqa: PLR0911 -- the rules of JSON
        self, at: cython.Py_ssize_t, depth: cython.int
    ) -> cython.Py_ssize_t:
        at = space(self.octets, at)
        if self.octets[at] == ord("}"):
            return at + 1
        while True:
            if self.octets[at] != ord('"'):
                return self.fail(at)
            at = self.string(at + 1)
            if at < 0:
                return at
            at = space(self.octets, at + 1)
            if self.octets[at] != ord(":"):
                return self.fail(at)
            at = self.skip(space(self.octets, at + 1), depth + 1)
            if at < 0:
                return at
            at = space(self.octets, at)
            if self.octets[at] == ord("}"):
                return at + 1
            if self.octets[at] != ord(","):
                return self.fail(at)
            at = space(self.octets, at + 1)
