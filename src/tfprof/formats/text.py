# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Convert protobuf text, such as a `graph.pbtxt`, to the wire format that all readers use.

Cython compiles this module if a C compiler is available (see setup.py and `is_compiled`). As plain
Python it gives the same results, but protobuf's own reader is faster then. The text is not trusted:
bytes are read only before `size` and written only after `reserve` made room, rows come from the
schema, nesting is limited, and the output is at most a few times the size of the input.

The accepted syntax is that of protobuf's own readers. Fields missing from the schema are skipped.
"""

from __future__ import annotations

import re
import struct
from array import array

from tfprof.formats.text_schema import Schema

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

if cython.compiled:
    from cython.cimports.libc.string import memcpy, memmove

__all__ = ["NO_UTF8", "TOO_DEEP", "Schema", "TextFormatError", "is_compiled", "place", "to_wire"]

NO_UTF8 = "invalid UTF-8; save the text in that encoding"
TOO_DEEP = "its braces are nested too deeply"


class TextFormatError(ValueError):
    """The text is not a valid message, for `reason`, at `line` and `column`, counted from 1."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(f"line {line:,}, column {column:,}: {reason}")
        self.line = line
        self.column = column
        self.reason = reason


def is_compiled() -> bool:
    """Whether this module runs compiled, which makes it the fastest way to read a text."""
    return bool(cython.compiled)


def to_wire(schema: Schema, data: bytes) -> bytearray:
    """The encoded message that the text `data` describes; raises `TextFormatError`.

    Returns the output buffer itself, since a copy could take hundreds of megabytes.
    """
    return _Reader(schema, data).read()


def place(data: bytes, at: int) -> tuple[int, int]:
    """The line and column of a byte, both counted from 1; columns count characters."""
    line_start = data.rfind(b"\n", 0, at) + 1
    column = len(data[line_start:at].decode("utf-8", "replace")) + 1
    return data.count(b"\n", 0, at) + 1, column


END = cython.declare(cython.int, 256)  # represents the end of the text
DEEPEST = cython.declare(cython.int, 100)  # protobuf's limit for nested messages
LARGEST = cython.declare(cython.ulonglong, 0xFFFF_FFFF_FFFF_FFFF)
HASH = cython.declare(cython.ulonglong, 0xFFFF_FFFF)  # see `Schema`

# The same byte eight times.
LOW_BITS = cython.declare(cython.ulonglong, 0x0101_0101_0101_0101)
HIGH_BITS = cython.declare(cython.ulonglong, 0x8080_8080_8080_8080)
QUOTES = cython.declare(cython.ulonglong, 0x2222_2222_2222_2222)
APOSTROPHES = cython.declare(cython.ulonglong, 0x2727_2727_2727_2727)
BACKSLASHES = cython.declare(cython.ulonglong, 0x5C5C_5C5C_5C5C_5C5C)
LINE_BREAKS = cython.declare(cython.ulonglong, 0x0A0A_0A0A_0A0A_0A0A)

# Classes of characters, by the tokens they can be part of.
LETTER = cython.declare(cython.int, 1)
DIGIT = cython.declare(cython.int, 2)
SIGN = cython.declare(cython.int, 4)
DOT = cython.declare(cython.int, 8)
BLANK = cython.declare(cython.int, 16)
WORD = cython.declare(cython.int, 7)
NUMBER = cython.declare(cython.int, 15)

_CLASSES = bytearray(256)
for _class, _bytes in {
    1: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_",
    2: b"0123456789",
    4: b"+-",
    8: b".",
    16: b" \t\n\v\f\r",
}.items():
    for _byte in _bytes:
        _CLASSES[_byte] = _class

_DIGITS = bytearray([255]) * 256
for _value in range(16):
    _DIGITS[ord(f"{_value:x}")] = _DIGITS[ord(f"{_value:X}")] = _value

_ESCAPES = bytearray(256)
for _byte, _value in zip(b"nrtabfv\\'\"?", b"\n\r\t\a\b\f\v\\'\"?", strict=True):
    _ESCAPES[_byte] = _value

_REAL = re.compile(
    rb"([-+]?(?:inf(?:inity)?|nan|(?!0\d)(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?))f*", re.IGNORECASE
)
_WHOLE = re.compile(rb"[-+]?(?:0x[\da-f]+|0[0-7]+)", re.IGNORECASE)
_PRINTED = re.compile(r"[\w.+-]+|.", re.ASCII)  # the part of the text that an error quotes


@cython.final
@cython.cclass
class _Reader:
    """A text, read up to `at`, and the encoded message so far."""

    text: bytes
    data: cython.const[cython.uchar][::1]
    size: cython.Py_ssize_t
    at: cython.Py_ssize_t

    buffer: bytearray
    out: cython.uchar[::1]  # a view of `buffer`, of whose `room` bytes `used` are written
    room: cython.Py_ssize_t
    used: cython.Py_ssize_t
    width: cython.int[::1]  # the number of digits of the last length, by row
    rows: cython.int
    words: cython.int
    # Predicted rows: the last one to follow a row, then to start a table, then to be a row's value.
    expected: cython.int[::1]

    classes: cython.const[cython.uchar][::1]
    digits: cython.const[cython.uchar][::1]
    escapes: cython.const[cython.uchar][::1]

    # The columns of the schema.
    names: cython.const[cython.uchar][::1]
    slots: cython.const[cython.int][::1]
    slot_start: cython.const[cython.int][::1]
    slot_mask: cython.const[cython.int][::1]
    name_start: cython.const[cython.int][::1]
    tag: cython.const[cython.int][::1]
    kind: cython.const[cython.int][::1]
    table: cython.const[cython.int][::1]
    is_repeated: cython.const[cython.int][::1]
    is_packed: cython.const[cython.int][::1]
    has_presence: cython.const[cython.int][::1]
    lowest: cython.const[cython.ulonglong][::1]
    highest: cython.const[cython.ulonglong][::1]
    bit: cython.const[cython.ulonglong][::1]
    rivals: cython.const[cython.ulonglong][::1]

    def __init__(self, schema: Schema, data: bytes) -> None:
        self.text = data
        self.data = data
        self.size = len(data)
        self.at = 0
        # Most messages are less than half the size of their text; unwritten memory costs nothing.
        self.buffer = bytearray(len(data) // 2 + 64)
        self.out = self.buffer
        self.room = len(self.buffer)
        self.used = 0
        self.width = array("i", [1]) * len(schema.kind)
        self.rows = len(schema.kind)
        self.words = len(schema.kind) + len(schema.slot_start)
        self.expected = array("i", [-2]) * (2 * len(schema.kind) + len(schema.slot_start))
        self.classes, self.digits, self.escapes = _CLASSES, _DIGITS, _ESCAPES
        self.names, self.name_start = schema.names, schema.name_start
        self.slots, self.slot_start = schema.slots, schema.slot_start
        self.slot_mask = schema.slot_mask
        self.tag, self.kind, self.table = schema.tag, schema.kind, schema.table
        self.is_repeated, self.is_packed = schema.is_repeated, schema.is_packed
        self.has_presence = schema.has_presence
        self.lowest, self.highest = schema.lowest, schema.highest
        self.bit, self.rivals = schema.bit, schema.rivals

    def read(self) -> bytearray:
        """Read the text and return the encoded message."""
        if not self.text.isascii():
            try:
                self.text.decode("utf-8")
            except UnicodeDecodeError as error:
                raise TextFormatError(*place(self.text, error.start), NO_UTF8) from None
        with cython.nogil:
            self.message(0, END, 0)
        self.out = None
        del self.buffer[self.used :]
        return self.buffer

    # Messages and their fields.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def message(  # noqa: C901 -- one loop, one state
        self, table: cython.int, closer: cython.int, depth: cython.int
    ) -> cython.int:
        """Read fields up to and including `closer`."""
        seen: cython.ulonglong = 0
        row: cython.int
        first: cython.int
        start: cython.Py_ssize_t  # of the name
        previous: cython.int = self.rows + table  # the last field's row; initially for the table
        run: cython.int = -1  # the row of the packed list being written
        run_head: cython.Py_ssize_t = 0
        run_start: cython.Py_ssize_t = 0
        if depth > DEEPEST:
            self.fail(self.at, b"its braces are nested too deeply")
        while True:
            first = self.token()
            if first == closer:
                break
            start = self.at
            row = self.name(table, first, previous)
            previous = row if row >= 0 else previous
            if run >= 0 and row != run:
                self.close(run, run_head, run_start)
                run = -1
            if row < 0:
                self.skip_contents(depth)
            else:
                if seen & (self.bit[row] | self.rivals[row]):
                    self.fail_again(start, row, seen)
                if run < 0 and self.is_packed[row]:
                    run = row
                    run_head = self.open(row)
                    run_start = self.used
                if self.field(row, depth) or self.has_presence[row]:
                    seen |= self.bit[row]
            self.skip_separator()
        if run >= 0:
            self.close(run, run_head, run_start)
        if closer != END:
            self.at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def name(self, table: cython.int, first: cython.int, previous: cython.int) -> cython.int:
        """Read the name of a field; return its row, or -2 if the schema has none.

        `previous` is the preceding field, used to predict this one, or negative if unknown.
        """
        if first == END or not self.classes[first] & (LETTER | DIGIT):
            self.fail(self.at, b"expected a field or the end of the message, found `{}`")
        return self.guess(table, previous) if previous >= 0 else self.find(table)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def field(self, row: cython.int, depth: cython.int) -> cython.int:
        """Read what follows the name of a field; return whether it is not a default value."""
        first: cython.int = self.token()
        if first == ord(":"):
            self.at += 1
            first = self.token()
        elif self.kind[row] != ord("m"):
            self.fail(self.at, b"expected a `:` between this field and its value")
        if first != ord("[") or not self.is_repeated[row]:
            return self.value(row, depth)
        self.at += 1
        if self.token() == ord("]"):
            self.at += 1
            return 0
        while True:
            self.value(row, depth)
            if self.is_last():
                return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def is_last(self) -> cython.int:
        """Read the separator after an item of a list; return whether it ends the list."""
        first: cython.int = self.token()
        if first == ord("]"):
            self.at += 1
            return 1
        if first != ord(","):
            self.fail(self.at, b"expected a `,` or `]` after an item of a list")
        self.at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def value(self, row: cython.int, depth: cython.int) -> cython.int:
        """Read one value; return whether it differs from the default."""
        kind: cython.int = self.kind[row]
        head: cython.Py_ssize_t
        start: cython.Py_ssize_t
        closer: cython.int
        is_filled: cython.int
        if kind == ord("m"):
            closer = self.opening()
            head = self.open(row)
            start = self.used
            self.message(self.table[row], closer, depth + 1)
            self.close(row, head, start)
            return 1
        if kind == ord("s") or kind == ord("y"):
            head = self.open(row)
            start = self.used
            if self.string() and kind == ord("s"):
                self.require_utf8(start)
            is_filled = self.used > start
            self.close(row, head, start)
            return is_filled
        if not self.is_packed[row]:
            self.reserve(16)
            self.varint(self.tag[row])
        return self.number(row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def opening(self) -> cython.int:
        """Read the brace that opens a message; return the one that closes it."""
        first: cython.int = self.token()
        if first != ord("{") and first != ord("<"):
            self.fail(self.at, b"expected a message between `{` and `}`")
        self.at += 1
        return ord("}") if first == ord("{") else ord(">")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def skip_separator(self) -> cython.int:
        """Skip an optional comma or semicolon between two fields."""
        first: cython.int = self.token()
        if first == ord(",") or first == ord(";"):
            self.at += 1
        return 0

    # Fields missing from the schema.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def skip_contents(self, depth: cython.int) -> cython.int:
        """Skip what follows the name of a field."""
        first: cython.int = self.token()
        if first != ord(":"):
            return self.skip_message(depth)
        self.at += 1
        first = self.token()
        if first != ord("["):
            return self.skip_value(first, depth)
        self.at += 1
        first = self.token()
        if first == ord("]"):
            self.at += 1
            return 0
        while True:
            self.skip_value(first, depth)
            if self.is_last():
                return 0
            first = self.token()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def skip_message(self, depth: cython.int) -> cython.int:
        """Skip a message of unknown type."""
        closer: cython.int = self.opening()
        first: cython.int
        if depth >= DEEPEST:
            self.fail(self.at, b"its braces are nested too deeply")
        while True:
            first = self.token()
            if first == closer:
                self.at += 1
                return 0
            if first == ord("["):
                self.skip_long_name()
            else:
                self.name(0, first, -1)
            self.skip_contents(depth + 1)
            self.skip_separator()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def skip_long_name(self) -> cython.int:
        """Skip the name of an extension or of a type, such as `[type.googleapis.com/a.B]`."""
        first: cython.int
        while True:
            self.at += 1
            first = self.token()
            if first == END or self.classes[first] != LETTER:
                self.fail(self.at, b"expected a name between `[` and `]`")
            self.find(0)
            first = self.token()
            if first == ord("]"):
                self.at += 1
                return 0
            if first != ord(".") and first != ord("/"):
                self.fail(self.at, b"expected a `]` after the name that started with `[`")

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def skip_value(self, first: cython.int, depth: cython.int) -> cython.int:
        """Skip a value of any kind."""
        used: cython.Py_ssize_t = self.used
        if first == ord("{") or first == ord("<"):
            return self.skip_message(depth)
        if first == ord('"') or first == ord("'"):
            self.string()
            self.used = used
            return 0
        if first != END and self.classes[first] == LETTER:
            self.find(0)
            return 0
        return self.skip_number(first)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def skip_number(self, first: cython.int) -> cython.int:
        """Skip a number, with a fast path for decimals without an exponent."""
        start: cython.Py_ssize_t = self.at
        at: cython.Py_ssize_t = start
        dots: cython.int = 0
        part: cython.int
        if first == ord("-"):
            at += 1
        if at < self.size and ord("1") <= self.data[at] <= ord("9"):
            while at < self.size:
                part = self.classes[self.data[at]]
                if part == DOT:
                    dots += 1
                elif part != DIGIT:
                    break
                at += 1
            if dots <= 1 and (at == self.size or not self.classes[self.data[at]] & NUMBER):
                self.at = at
                return 0
        self.number_end()
        return self.check_number(start)

    # Words and numbers.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def token(self) -> cython.int:
        """Skip blanks and comments; return the next byte, or `END`."""
        at: cython.Py_ssize_t = self.at
        size: cython.Py_ssize_t = self.size
        byte: cython.int = END
        while at < size:
            byte = self.data[at]
            if byte == ord("#"):
                while at < size and self.data[at] != ord("\n"):
                    at += 1
                continue
            if byte > ord(" ") or (byte != ord(" ") and self.classes[byte] != BLANK):
                break
            at += 1
        self.at = at
        return byte if at < size else END

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def guess(self, table: cython.int, place: cython.int) -> cython.int:
        """Like `find`, but try the row last found in this place first."""
        row: cython.int = self.expected[place]
        start: cython.Py_ssize_t = self.at
        end: cython.Py_ssize_t
        if row >= 0:
            end = start + self.name_start[row + 1] - self.name_start[row]
            if (
                end < self.size
                and not self.classes[self.data[end]] & NUMBER
                and self.is_named(row, start, end)
            ):
                self.at = end
                return row
        row = self.find(table)
        self.expected[place] = row
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def find(self, table: cython.int) -> cython.int:
        """Read the word that starts here; return its row in `table`, or -2 if it has none."""
        start: cython.Py_ssize_t = self.at
        at: cython.Py_ssize_t = start
        parts: cython.int = WORD if self.classes[self.data[at]] == LETTER else NUMBER
        found: cython.ulonglong = 0
        byte: cython.int
        slot: cython.int
        row: cython.int
        while at < self.size:
            byte = self.data[at]
            if not self.classes[byte] & parts:
                break
            found = (found * 33 + byte) & HASH
            at += 1
        self.at = at
        slot = found & self.slot_mask[table]
        while True:
            row = self.slots[self.slot_start[table] + slot]
            if row < 0 or self.is_named(row, start, at):
                return row
            slot = (slot + 1) & self.slot_mask[table]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def is_named(
        self, row: cython.int, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Whether the word from `start` to `end` is the name of `row`."""
        shift: cython.Py_ssize_t = self.name_start[row] - start
        if self.name_start[row + 1] - shift != end:
            return 0
        while start < end and self.names[start + shift] == self.data[start]:
            start += 1
        return start == end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def number(self, row: cython.int) -> cython.int:
        """Write the number, enum or bool that starts here; return whether it is not zero."""
        kind: cython.int = self.kind[row]
        first: cython.int = self.token()
        start: cython.Py_ssize_t = self.at
        word: cython.int
        if first == END or not self.classes[first] & NUMBER:
            self.fail(start, b"expected a value, found `{}`")
        if kind == ord("f") or kind == ord("d"):
            self.number_end()
            return self.real(start, kind)
        if kind == ord("i") or (kind == ord("e") and self.classes[first] != LETTER):
            return self.integer(row, first)
        word = self.guess(self.table[row], self.words + row)
        if word < 0:
            self.fail(start, b"`{}` is not a valid value for this field")
        return self.signed(self.tag[word] < 0, abs(self.tag[word]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def integer(self, row: cython.int, first: cython.int) -> cython.int:
        """Write an integer, such as 31, 0x1F or 037; return whether it is not zero."""
        start: cython.Py_ssize_t = self.at
        at: cython.Py_ssize_t = start
        is_negative: cython.int = first == ord("-")
        base: cython.uint = 10
        digit: cython.uint
        found: cython.ulonglong = 0
        if self.classes[first] == SIGN:
            at += 1
        if at + 1 < self.size and self.data[at] == ord("0"):
            if self.data[at + 1] in (ord("x"), ord("X")):
                base = 16
                at += 2
            elif self.classes[self.data[at + 1]] == DIGIT:
                base = 8
                at += 1
        self.at = at
        while at < self.size:
            digit = self.digits[self.data[at]]
            if digit >= base:
                break
            # The division is reached only at the last digit of very large numbers.
            if found >> 59 and found > (LARGEST - digit) // base:
                self.fail(start, b"`{}` is too large for this field")
            found = found * base + digit
            at += 1
        if at == self.at or (at < self.size and self.classes[self.data[at]] & NUMBER):
            self.fail(start, b"`{}` is not an integer")
        self.at = at
        if found > (self.lowest[row] if is_negative else self.highest[row]):
            self.fail(start, b"`{}` is too large for this field")
        return self.signed(is_negative, found)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def number_end(self) -> cython.int:
        """Skip all characters that can be part of a number or a word."""
        while self.at < self.size and self.classes[self.data[self.at]] & NUMBER:
            self.at += 1
        return 0

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def real(self, start: cython.Py_ssize_t, kind: cython.int) -> cython.int:
        """Write the floating-point number that ends here; return whether it is not zero."""
        match = _REAL.fullmatch(self.text[start : self.at])
        if match is None:
            return self.fail(start, b"`{}` is not a number")
        number = float(match[1])
        try:
            encoded = struct.pack("<d" if kind == ord("d") else "<f", number)
        except OverflowError:
            encoded = struct.pack("<f", number * float("inf"))
        self.reserve(8)
        for byte in encoded:
            self.out[self.used] = byte
            self.used += 1
        return any(encoded)

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def check_number(self, start: cython.Py_ssize_t) -> cython.int:
        """Fail unless the token that ends here is a number of some kind."""
        token = self.text[start : self.at]
        if not token:
            self.fail(start, b"expected a value, found `{}`")
        if _REAL.fullmatch(token) is None and _WHOLE.fullmatch(token) is None:
            self.fail(start, b"`{}` is not a number")
        return 0

    # Strings.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def string(self) -> cython.int:
        """Write a string of one or more pieces; return whether escapes may make it bad UTF-8."""
        first: cython.int = self.token()
        has_bytes: cython.int = 0
        if first != ord('"') and first != ord("'"):
            self.fail(self.at, b"expected a string in quotes")
        while first == ord('"') or first == ord("'"):
            has_bytes |= self.piece(first)
            first = self.token()
        return has_bytes

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def piece(self, quote: cython.int) -> cython.int:
        """Write the text between two quotes; return whether escapes may make it bad UTF-8."""
        opened: cython.Py_ssize_t = self.at
        start: cython.Py_ssize_t
        at: cython.Py_ssize_t
        byte: cython.int
        has_bytes: cython.int = 0
        self.at += 1
        while True:
            start = self.at
            at = self.plain_end(start, quote)
            self.copy(start, at - start)
            self.at = at
            if at == self.size:
                self.fail(
                    opened, b"the text ends inside a string; was the program still writing it?"
                )
            byte = self.data[at]
            if byte == ord("\n"):
                self.fail(opened, b"the line ends inside a string; write a line break as \\n")
            if byte == quote:
                self.at += 1
                return has_bytes
            has_bytes |= self.escape()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def plain_end(self, at: cython.Py_ssize_t, quote: cython.int) -> cython.Py_ssize_t:
        """The position of the next quote, backslash or line break, or the end of the text."""
        byte: cython.int
        word: cython.ulonglong = 0
        other: cython.ulonglong
        found: cython.ulonglong
        if cython.compiled:
            # Eight bytes at a time: XOR with the wanted byte gives zero where it occurs.
            while self.size - at >= 8:
                memcpy(cython.address(word), cython.address(self.data[at]), 8)
                other = word ^ (QUOTES if quote == ord('"') else APOSTROPHES)
                found = (other - LOW_BITS) & ~other
                other = word ^ BACKSLASHES
                found |= (other - LOW_BITS) & ~other
                other = word ^ LINE_BREAKS
                found |= (other - LOW_BITS) & ~other
                if found & HIGH_BITS:
                    break
                at += 8
        while at < self.size:
            byte = self.data[at]
            if byte == quote or byte == ord("\\") or byte == ord("\n"):
                break
            at += 1
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def escape(self) -> cython.int:
        """Write the bytes of an escape; return whether they may be bad UTF-8."""
        start: cython.Py_ssize_t = self.at
        byte: cython.int
        found: cython.uint
        self.at += 1
        if self.at == self.size:
            self.fail(start, b"the text ends inside a string; was the program still writing it?")
        byte = self.data[self.at]
        self.reserve(4)
        if self.escapes[byte]:
            self.put(self.escapes[byte])
            self.at += 1
            return 0
        if byte in (ord("u"), ord("U")):
            self.at += 1
            return self.character(self.code(16, 4 if byte == ord("u") else 8, start), start)
        if byte == ord("x"):
            self.at += 1
            found = self.code(16, 2, start)
        else:
            found = self.code(8, 3, start)
        if found > 255:
            self.fail(start, b"this escape is not a byte: the largest is \\377")
        self.put(found)
        return found > 127

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def code(
        self, base: cython.uint, most: cython.int, start: cython.Py_ssize_t
    ) -> cython.longlong:
        """The number in up to `most` digits of an escape; 4 or 8 digits must be complete."""
        found: cython.longlong = 0
        count: cython.int = 0
        digit: cython.uint
        while count < most and self.at < self.size:
            digit = self.digits[self.data[self.at]]
            if digit >= base:
                break
            found = found * base + digit
            count += 1
            self.at += 1
        if count == 0 or (most >= 4 and count < most):
            self.fail(start, b"invalid escape; write a backslash as \\\\")
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def character(self, code: cython.longlong, start: cython.Py_ssize_t) -> cython.int:
        """Write a Unicode character as UTF-8."""
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            self.fail(start, b"this escape is not a Unicode character")
        if code < 0x80:
            self.put(code)
            return 0
        if code < 0x800:
            self.put(0xC0 | code >> 6)
        else:
            if code < 0x10000:
                self.put(0xE0 | code >> 12)
            else:
                self.put(0xF0 | code >> 18)
                self.put(0x80 | code >> 12 & 0x3F)
            self.put(0x80 | code >> 6 & 0x3F)
        self.put(0x80 | code & 0x3F)
        return 0

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def require_utf8(self, start: cython.Py_ssize_t) -> cython.int:
        """Fail if the escapes of the string make it invalid UTF-8."""
        try:
            self.buffer[start : self.used].decode("utf-8")
        except UnicodeDecodeError:
            self.fail(self.at, b"the escapes in the preceding string are not valid UTF-8")
        return 0

    # Writing.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def open(self, row: cython.int) -> cython.Py_ssize_t:
        """Write a tag and leave room for a length; return the position of the length."""
        head: cython.Py_ssize_t
        self.reserve(32)
        self.varint(self.tag[row])
        head = self.used
        self.used += self.width[row]
        return head

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def close(
        self, row: cython.int, head: cython.Py_ssize_t, start: cython.Py_ssize_t
    ) -> cython.int:
        """Write the length of everything after `start` at `head`, moving it if necessary."""
        length: cython.Py_ssize_t = self.used - start
        width: cython.int = 1
        while length >> 7 * width:
            width += 1
        if head + width != start:
            self.reserve(16)
            if cython.compiled:
                memmove(
                    cython.address(self.out[head + width]), cython.address(self.out[start]), length
                )
            else:
                self.out[head + width : head + width + length] = self.out[start : start + length]
            self.width[row] = width
        self.used = head
        self.varint(length)
        self.used += length
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def signed(self, is_negative: cython.int, size: cython.ulonglong) -> cython.int:
        """Write the number with this sign and magnitude; return whether it is not zero."""
        self.reserve(16)
        self.varint(LARGEST - size + 1 if is_negative and size else size)
        return size != 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def varint(self, number: cython.ulonglong) -> cython.int:
        """Write a number in base 128; requires reserved room."""
        while number > 0x7F:
            self.put(number & 0x7F | 0x80)
            number >>= 7
        return self.put(number)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def put(self, byte: cython.uint) -> cython.int:
        """Write a byte; requires reserved room."""
        self.out[self.used] = byte
        self.used += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def copy(self, start: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.int:
        """Write `length` bytes of the text, starting at `start`."""
        self.reserve(length)
        if cython.compiled:
            memcpy(cython.address(self.out[self.used]), cython.address(self.data[start]), length)
        else:
            self.out[self.used : self.used + length] = self.data[start : start + length]
        self.used += length
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def reserve(self, count: cython.Py_ssize_t) -> cython.int:
        """Make room for `count` more bytes."""
        if self.used + count > self.room:
            return self.grow(count)
        return 0

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def grow(self, count: cython.Py_ssize_t) -> cython.int:
        """Enlarge the buffer by `count` bytes and some reserve."""
        self.out = None  # a bytearray with an active view cannot be resized
        self.buffer.extend(bytes(count + len(self.buffer) // 4))
        self.out = self.buffer
        self.room = len(self.buffer)
        return 0

    # Errors.

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def fail_again(
        self, at: cython.Py_ssize_t, row: cython.int, seen: cython.ulonglong
    ) -> cython.int:
        """Fail because of a second value of a field or of a oneof."""
        if seen & self.bit[row]:
            return self.fail(at, b"`{}` is given twice in one message")
        return self.fail(at, b"`{}` is given together with a field that excludes it")

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def fail(self, at: cython.Py_ssize_t, reason: cython.p_const_char) -> cython.int:
        """Raise `TextFormatError` for position `at`; its word replaces {} in `reason`."""
        found = reason.decode("ascii")
        if at >= self.size:
            found = "the text ends inside a message; was the program still writing it?"
        word = _PRINTED.match(self.text[at : at + 40].decode("utf-8", "ignore"))
        shown = word[0].encode("unicode_escape").decode("ascii") if word else ""
        raise TextFormatError(*place(self.text, at), found.replace("{}", shown))
