# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""The members of an event of a Kineto trace and of its arguments, for `scan`.

The C types are declared in `scan_fields.pxd`. Each member that is of interest is a field: where its
value starts and ends in the buffer. The functions that return values take only numbers of fields.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import cython

from tfprof.formats.kineto import fields

if not cython.compiled:
    raise ImportError("this module has to be compiled")

from cython.cimports.libc.string import memchr, memcmp, memset
from cython.cimports.tfprof.formats.kineto.scan_chars import is_digit, space
from cython.cimports.tfprof.formats.kineto.scan_fields import (
    ARGS,
    CAT,
    COLLECTIVE_NUMBERS,
    COLLECTIVE_TEXTS,
    DUR,
    FIELDS,
    ID,
    IMPOSSIBLE,
    LAUNCH_NUMBERS,
    LAUNCH_TEXTS,
    MEMORY_NUMBERS,
    NAME,
    NAMES,
    PH,
    PID,
    SLICE_NUMBERS,
    SLICE_TEXTS,
    TID,
    TS,
)

if TYPE_CHECKING:  # otherwise from `scan_fields.pxd`
    from tfprof.formats.kineto.scan_json import JsonReader

_EVENT_KEYS = {
    "ph": PH,
    "cat": CAT,
    "name": NAME,
    "pid": PID,
    "tid": TID,
    "ts": TS,
    "dur": DUR,
    "id": ID,
    "args": ARGS,
}
# The first field of each group of arguments, and their columns by key.
_GROUPS = (
    (SLICE_NUMBERS, fields.SLICE_NUMBERS),
    (SLICE_TEXTS, fields.SLICE_TEXTS),
    (COLLECTIVE_NUMBERS, fields.COLLECTIVE_NUMBERS),
    (COLLECTIVE_TEXTS, fields.COLLECTIVE_TEXTS),
    (MEMORY_NUMBERS, fields.MEMORY_NUMBERS),
    (NAMES, {"name": "name", "labels": "labels"}),
    (LAUNCH_NUMBERS, fields.LAUNCH_NUMBERS),
    (LAUNCH_TEXTS, fields.LAUNCH_TEXTS),
)


def _fields() -> dict[tuple[int, str], int]:
    """The field of each key of an event (level 0) and of its arguments (level 1)."""
    found = {(0, key): field for key, field in _EVENT_KEYS.items()}
    for first, group in _GROUPS:
        columns = list(dict.fromkeys(group.values()))
        found |= {(1, key): first + columns.index(column) for key, column in group.items()}
    return found


FIELDS_OF = _fields()
LATEST = cython.declare(cython.ulonglong, fields.LATEST_NS)


class FieldReader(JsonReader):
    """The fields of the event that is being read."""

    def __init__(self, columns: int) -> None:
        JsonReader.__init__(self, columns)
        self.learn_keys()

    def learn_keys(self) -> cython.int:
        """Fill the table of keys."""
        start: cython.int = 0
        number: cython.int = 0
        slot: cython.int
        self.key_bytes = b"".join(key.encode() for _, key in FIELDS_OF)
        self.keys = cython.cast(cython.p_uchar, self.key_bytes)
        memset(self.key_slots, 0, 256)
        for (level, key), field in FIELDS_OF.items():
            self.key_starts[number] = start
            self.key_fields[number] = field
            start += len(key)
            number += 1
            slot = level << 7 | key_slot(ord(key[0]), ord(key[len(key) - 1]), len(key))
            while self.key_slots[slot]:
                slot = slot & 128 | slot + 1 & 127
            self.key_slots[slot] = number
        self.key_starts[number] = start
        return 0

    def members(  # noqa: C901, PLR0911 -- the rules of JSON, and one loop
        self, at: cython.Py_ssize_t, level: cython.int
    ) -> cython.Py_ssize_t:
        """Read the members of an event (level 0) or its arguments (level 1)."""
        start: cython.Py_ssize_t
        field: cython.int
        first: cython.uchar
        at = space(self.octets, at)
        if self.octets[at] == ord("}"):
            return at + 1
        while True:
            if self.octets[at] != ord('"'):
                return self.fail(at)
            start = at + 1
            at = self.string(start)
            if at < 0:
                return at
            field = self.key(level, start, at)
            at = space(self.octets, at + 1)
            if self.octets[at] != ord(":"):
                return self.fail(at)
            at = space(self.octets, at + 1)
            start = at
            first = self.octets[at]
            if field == ARGS:
                memset(self.kinds + ARGS, 0, FIELDS - ARGS)
            if field == ARGS and first == ord("{"):
                at = self.members(at + 1, 1)
            else:
                at = self.skip(at, level + 1)
            if at < 0:
                return at
            if field >= 0:
                # The last of equal keys counts.
                self.kinds[field] = first
                self.starts[field] = start + 1 if first == ord('"') else start
                self.stops[field] = at - 1 if first == ord('"') else at
            at = space(self.octets, at)
            if self.octets[at] == ord("}"):
                return at + 1
            if self.octets[at] != ord(","):
                return self.fail(at)
            at = space(self.octets, at + 1)

    def key(
        self, level: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """The field of a key, or -1."""
        length: cython.Py_ssize_t = end - start
        slot: cython.int
        number: cython.int
        if length == 0:
            return -1
        if self.is_escaped:
            return self.escaped_key(level, start, end)
        slot = level << 7 | key_slot(self.octets[start], self.octets[end - 1], length)
        while True:
            number = self.key_slots[slot] - 1
            if number < 0:
                return -1
            if self.key_starts[number + 1] - self.key_starts[number] == length and not memcmp(
                self.keys + self.key_starts[number], self.octets + start, length
            ):
                return self.key_fields[number]
            slot = slot & 128 | slot + 1 & 127

    def escaped_key(
        self, level: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        text: str = unescaped(self.octets[start:end])
        return FIELDS_OF.get((level, text), -1)

    # Values.

    def is_(
        self,
        field: cython.int,
        text: cython.pointer[cython.const[cython.char]],
        length: cython.Py_ssize_t,
    ) -> cython.int:
        """Whether a field is this text."""
        at: cython.pointer[cython.const[cython.uchar]] = self.octets + self.starts[field]
        size: cython.Py_ssize_t
        if self.kinds[field] != ord('"'):
            return False
        size = self.stops[field] - self.starts[field]
        if size > length and memchr(at, ord("\\"), size) != cython.NULL:
            return self.is_escaped_text(field, text, length)
        return size == length and memcmp(at, text, length) == 0

    def is_escaped_text(
        self,
        field: cython.int,
        text: cython.pointer[cython.const[cython.char]],
        length: cython.Py_ssize_t,
    ) -> cython.int:
        return self.token(field) == text[:length].decode()

    def token(self, field: cython.int) -> str:
        """The text or number in a field; empty for anything else."""
        text: bytes = self.octets[self.starts[field] : self.stops[field]]
        if self.kinds[field] == ord('"'):
            return unescaped(text)
        return (
            text.decode() if self.kinds[field] and chr(self.kinds[field]) in "-0123456789" else ""
        )

    def time(self, field: cython.int) -> cython.longlong:
        """Microseconds as nanoseconds, rounded to the nearest, or `IMPOSSIBLE`."""
        at: cython.Py_ssize_t = self.starts[field]
        end: cython.Py_ssize_t = self.stops[field]
        last: cython.Py_ssize_t
        is_negative: cython.bint
        found: cython.ulonglong = 0
        if self.kinds[field] == 0:
            return IMPOSSIBLE
        is_negative = self.octets[at] == ord("-")
        at += is_negative
        last = at + 16
        while at < end and at < last and is_digit(self.octets[at]):
            found = 10 * found + self.octets[at] - 48
            at += 1
        if at == last or at == self.starts[field] + is_negative:
            return self.unusual_time(field)
        found *= 1000
        if at < end:
            if self.octets[at] != ord("."):
                return self.unusual_time(field)
            found += self.decimals(at + 1, end)
            at += 1
            while at < end:
                if not is_digit(self.octets[at]):
                    return self.unusual_time(field)
                at += 1
        if found > LATEST:
            return IMPOSSIBLE
        return (
            -cython.cast(cython.longlong, found)
            if is_negative
            else cython.cast(cython.longlong, found)
        )

    def decimals(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.ulonglong:
        """The first three decimals as a number, rounded by the fourth."""
        found: cython.ulonglong = 0
        place: cython.int
        for place in range(3):
            found = 10 * found + (self.octets[at + place] - 48 if at + place < end else 0)
        return found + (at + 3 < end and self.octets[at + 3] >= ord("5"))

    def unusual_time(self, field: cython.int) -> cython.longlong:
        found = fields.nanoseconds(self.token(field))
        return IMPOSSIBLE if found is None else found

    def whole(self, field: cython.int) -> cython.longlong:
        """A whole number, or -1."""
        at: cython.Py_ssize_t = self.starts[field]
        end: cython.Py_ssize_t = self.stops[field]
        is_negative: cython.bint
        found: cython.longlong = 0
        if self.kinds[field] == 0 or self.kinds[field] == ord("n"):
            return -1
        is_negative = self.octets[at] == ord("-")
        at += is_negative
        if at == end or end - at > 18:
            return self.unusual_whole(field)
        while at < end:
            if not is_digit(self.octets[at]):
                return self.unusual_whole(field)
            found = 10 * found + self.octets[at] - 48
            at += 1
        return -found if is_negative else found

    def unusual_whole(self, field: cython.int) -> cython.longlong:
        return fields.whole_number(self.token(field))

    def text(self, column: cython.int, field: cython.int, is_json: cython.bint) -> cython.int:
        """The code of a text or number, or with `is_json` of any list or object, else 0."""
        kind: cython.uchar = self.kinds[field]
        is_text: cython.bint = kind == ord('"')
        start: cython.Py_ssize_t = self.starts[field]
        if kind == 0:
            return 0
        if not is_text and not is_digit(kind):
            if kind == ord("-"):
                if not is_digit(self.octets[start + 1]):
                    return 0
                if self.octets[start + 1] == ord("0") and self.stops[field] - start == 2:
                    start += 1  # -0 is 0
            elif not (is_json and (kind == ord("[") or kind == ord("{"))):
                return 0
        return self.code(column << 1 | is_text, self.octets + start, self.stops[field] - start)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def key_slot(first: cython.uchar, last: cython.uchar, length: cython.Py_ssize_t) -> cython.int:
    """Where the search for a key begins."""
    return cython.cast(cython.int, (first + 5 * last + 11 * length) & 127)


def unescaped(text: bytes) -> str:
    """The text of a string of JSON, without quotes."""
    decoded = text.decode("utf-8", "replace")
    return str(json.loads(f'"{decoded}"', strict=False)) if "\\" in decoded else decoded
