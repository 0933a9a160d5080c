# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""The distinct texts of several columns, each with a code, for `scan`.

This module only runs compiled, and `plain` has no need for it. The C types are declared in
`scan_texts.pxd`. A text is added only after `grow` has made room for it, and numbers of texts come
only from the table itself, so accesses through pointers need no further checks.
"""

from __future__ import annotations

from os import urandom
from typing import Any

import cython
import numpy as np

from tfprof.columns import Ints

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memcmp, memcpy
from cython.cimports.tfprof.kernels.name_table import hashed

TAG = cython.declare(cython.ulonglong, 0xFFFF_FFFF_0000_0000)
NUMBER = cython.declare(cython.ulonglong, 0x0000_0000_FFFF_FFFF)

_FIRST_BYTES = 1 << 16
_FIRST_TEXTS = 1 << 10
_MOST_TEXTS = 2**31 - 2


class TextTable:
    """Distinct texts; a mark is the column of a text and, in its lowest bit, its kind."""

    def __init__(self, columns: cython.int) -> None:
        self.seed = int.from_bytes(urandom(8), "little")
        self.count = 0
        self.columns = columns
        self.arrays = {
            "counts": np.zeros(columns, np.int32),
            "last": np.full(columns, -1, np.int64),
            "data": np.zeros(_FIRST_BYTES, np.uint8),
            "ends": np.zeros(_FIRST_TEXTS + 1, np.int64),
            "following": np.zeros(_FIRST_TEXTS, np.int64),
            "marks": np.zeros(_FIRST_TEXTS, np.int32),
            "codes": np.zeros(_FIRST_TEXTS, np.int32),
        }
        self.counts = cython.cast(cython.p_int, address(self.arrays["counts"]))
        self.last = cython.cast(cython.p_longlong, address(self.arrays["last"]))
        self.room = 0
        self.text_room = 0
        self.spread(2 * _FIRST_TEXTS)
        self.grow(0)

    def code(
        self,
        mark: cython.int,
        at: cython.pointer[cython.const[cython.uchar]],
        length: cython.Py_ssize_t,
    ) -> cython.int:
        """The code of a text in its column, from 0 in the order of first use."""
        column: cython.int = mark >> 1
        last: cython.longlong = self.last[column]
        number: cython.longlong
        if last >= 0:
            # A program repeats itself.
            number = self.following[last]
            if self.is_text(number, mark, at, length):
                self.last[column] = number
                return self.codes[number]
        number = self.find(mark, at, length)
        if last >= 0:
            self.following[last] = number
        self.last[column] = number
        return self.codes[number]

    def is_text(
        self,
        number: cython.longlong,
        mark: cython.int,
        at: cython.pointer[cython.const[cython.uchar]],
        length: cython.Py_ssize_t,
    ) -> cython.int:
        """Whether the text with that number is the one at `at`."""
        start: cython.longlong = self.ends[number]
        return (
            self.ends[number + 1] - start == length
            and self.marks[number] == mark
            and memcmp(self.data + start, at, length) == 0
        )

    def find(
        self,
        mark: cython.int,
        at: cython.pointer[cython.const[cython.uchar]],
        length: cython.Py_ssize_t,
    ) -> cython.longlong:
        """The number of a text, which is added if it is new."""
        hash_: cython.ulonglong = hashed(at, length, self.seed + mark)
        slot: cython.ulonglong = hash_ & self.mask
        start: cython.longlong
        number: cython.longlong
        while self.slots[slot]:
            number = (self.slots[slot] & NUMBER) - 1
            if (self.slots[slot] ^ hash_) & TAG == 0 and self.is_text(number, mark, at, length):
                return number
            slot = (slot + 1) & self.mask
        if (
            self.count >= self.text_room
            or self.ends[self.count] + length > self.room
            or 2 * cython.cast(cython.ulonglong, self.count) > self.mask
        ):
            self.grow(length)
            slot = hash_ & self.mask
            while self.slots[slot]:
                slot = (slot + 1) & self.mask
        number = self.count
        start = self.ends[number]
        memcpy(self.data + start, at, length)
        self.ends[number + 1] = start + length
        self.following[number] = number
        self.marks[number] = mark
        self.codes[number] = self.counts[mark >> 1]
        self.counts[mark >> 1] += 1
        self.slots[slot] = (hash_ & TAG) | cython.cast(cython.ulonglong, number + 1)
        self.count = number + 1
        return number

    def grow(self, length: cython.Py_ssize_t) -> cython.int:
        """Make room for one more text of this length."""
        arrays: dict[str, Any] = self.arrays
        size = int(self.ends[self.count]) if self.room else 0
        if size + length > self.room:
            self.room = max(_FIRST_BYTES, size + length, 3 * size // 2)
            arrays["data"].resize(self.room, refcheck=False)
        if self.count >= self.text_room:
            if self.count >= _MOST_TEXTS:
                raise MemoryError("more distinct texts than a trace can have")
            self.text_room = max(_FIRST_TEXTS, 3 * self.count // 2)
            arrays["ends"].resize(self.text_room + 1, refcheck=False)
            for name in ("following", "marks", "codes"):
                arrays[name].resize(self.text_room, refcheck=False)
        self.data = cython.cast(cython.p_uchar, address(arrays["data"]))
        self.ends = cython.cast(cython.p_longlong, address(arrays["ends"]))
        self.following = cython.cast(cython.p_longlong, address(arrays["following"]))
        self.marks = cython.cast(cython.p_int, address(arrays["marks"]))
        self.codes = cython.cast(cython.p_int, address(arrays["codes"]))
        if 2 * cython.cast(cython.ulonglong, self.count) > self.mask:
            self.spread(4 * (self.mask + 1))
        return 0

    def spread(self, size: cython.Py_ssize_t) -> cython.int:
        """Rehash all texts into `size` slots."""
        number: cython.longlong
        slot: cython.ulonglong
        hash_: cython.ulonglong
        self.arrays["slots"] = np.zeros(size, np.uint64)
        self.slots = cython.cast(cython.p_ulonglong, address(self.arrays["slots"]))
        self.mask = size - 1
        for number in range(self.count):
            hash_ = hashed(
                self.data + self.ends[number],
                self.ends[number + 1] - self.ends[number],
                self.seed + self.marks[number],
            )
            slot = hash_ & self.mask
            while self.slots[slot]:
                slot = (slot + 1) & self.mask
            self.slots[slot] = (hash_ & TAG) | cython.cast(cython.ulonglong, number + 1)
        return 0

    def texts(self) -> tuple[bytes, Ints, Ints]:
        """All texts as bytes, their ends after a 0, and their marks."""
        count: int = self.count
        ends = self.arrays["ends"][: count + 1].copy()
        data = self.arrays["data"][: int(ends[count])].tobytes()
        return data, ends, self.arrays["marks"][:count].astype(np.int64)


@cython.cfunc
def address(array: Any) -> cython.size_t:
    """The address of the first element of a numpy array."""
    found: cython.size_t = array.ctypes.data
    return found
