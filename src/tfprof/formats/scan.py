# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""TensorFlow's binary files walked once, from bytes to columns, without a message in between.

Cython compiles this module where there is a C compiler (see setup.py); `is_compiled` tells. As
plain Python it gives the same answers, but protobuf's own reader is faster then.

The scanners know the plain form of each file, the one that programs write. What is damaged, or so
unusual that protobuf's rules for it are subtle (groups, one choice made twice, text that is not
ASCII), they leave to protobuf's reader: a scan then gives None. So whatever they do give is what
that reader would have found, and complaints are made in one place. Nothing here trusts the bytes:
every index is checked, and every length against the end of the message that holds it.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.formats.scanned import GraphScan, LogScan, RunScan

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

__all__ = ["is_compiled", "scan_graph", "scan_log", "scan_runs", "scan_strings"]


def is_compiled() -> bool:
    """Whether this module runs compiled, and so is the quick way to read a file."""
    return bool(cython.compiled)


def scan_graph(data: bytes) -> GraphScan | None:
    """The nodes of a GraphDef, or None where protobuf should read it."""
    return _Graph(data).scan()


def scan_runs(data: bytes) -> RunScan | None:
    """What a RunMetadata holds of runs, or None where protobuf should read it."""
    return _Runs(data).scan()


def scan_log(data: bytes) -> LogScan | None:
    """The entries of an OpLogProto, or None where protobuf should read it."""
    return _Log(data).scan()


def scan_strings(data: bytes) -> tuple[Ints, Ints, Ints] | None:
    """Ids, starts and ends of an OpLogProto's strings, or None where protobuf should read it.

    They are not looked into: one may be no UTF-8.
    """
    return _LogStrings(data).scan()


LARGEST = cython.declare(cython.ulonglong, 0xFFFF_FFFF_FFFF_FFFF)
LARGEST_SIGNED = cython.declare(cython.ulonglong, 0x7FFF_FFFF_FFFF_FFFF)
LOW_BITS = cython.declare(cython.longlong, 0xFFFF_FFFF)  # of an int32, and its sign
SIGN_BIT = cython.declare(cython.longlong, 0x8000_0000)
LONGEST = cython.declare(cython.longlong, 0x7FFF_FFFF)  # bytes, of what protobuf reads
MOST_CLASHES = cython.declare(cython.int, 500)
MULTIPLIER = cython.declare(cython.ulonglong, 0x100_0000_01B3)  # of the FNV hash
MIXER = cython.declare(cython.ulonglong, 0x9E37_79B9_7F4A_7C15)  # 2**64 by the golden ratio
_FIRST_CELLS = 256
_FIRST_SLOTS = 256


class _UnusualError(ValueError):
    """The file is one for protobuf's reader."""


@cython.final
@cython.cclass
class _Column:
    """Numbers that become more."""

    cells: cython.longlong[::1]
    used: cython.Py_ssize_t

    def __init__(self, room: int = _FIRST_CELLS) -> None:
        self.cells = np.empty(room, np.int64)
        self.used = 0

    @cython.inline
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def add(self, value: cython.longlong) -> cython.int:
        """Append a number."""
        if self.used == self.cells.shape[0]:
            self.grow()
        self.cells[self.used] = value
        self.used += 1
        return 0

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def grow(self) -> cython.int:
        """Make room for as many again."""
        array = np.empty(2 * self.used + 1, np.int64)
        array[: self.used] = self.cells
        self.cells = array
        return 0

    def numbers(self) -> Ints:
        """All of them."""
        return ints(np.asarray(self.cells)[: self.used])


@cython.final
@cython.cclass
class _Texts:
    """Distinct texts among the spans of a file, numbered in order of first use."""

    data: cython.const[cython.uchar][::1]
    size: cython.Py_ssize_t
    starts: _Column
    ends: _Column
    hashes: _Column
    slots: cython.longlong[::1]  # numbers of texts at the places that their hashes give, or -1

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)
        self.starts, self.ends, self.hashes = _Column(), _Column(), _Column()
        self.slots = np.full(_FIRST_SLOTS, -1, np.int64)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def code(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.longlong:
        """The number of the text from `start` to `end`."""
        mask: cython.ulonglong = self.slots.shape[0] - 1
        found: cython.longlong = self.hashed(start, end)
        slot: cython.ulonglong = (found ^ found >> 32) & mask
        number: cython.longlong
        clashes: cython.int = 0
        while True:
            number = self.slots[slot]
            if number < 0:
                return self.learn(start, end, found, slot)
            if self.hashes.cells[number] == found and self.is_at(number, start, end):
                return number
            # Texts may have been made to clash, for which Python's own dict has a remedy.
            clashes += 1
            if clashes > MOST_CLASHES:
                give_up()
            slot = (slot + 1) & mask

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def learn(
        self,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        found: cython.longlong,
        slot: cython.ulonglong,
    ) -> cython.longlong:
        """Number a new text."""
        number: cython.longlong = self.starts.used
        self.slots[slot] = number
        self.starts.add(start)
        self.ends.add(end)
        self.hashes.add(found)
        if 2 * self.starts.used > self.slots.shape[0]:
            self.spread()
        return number

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(-1)
    def spread(self) -> cython.int:
        """Put the numbers into a table of four times the size."""
        mask: cython.ulonglong = 4 * self.slots.shape[0] - 1
        number: cython.Py_ssize_t
        slot: cython.ulonglong
        found: cython.ulonglong
        self.slots = np.full(4 * self.slots.shape[0], -1, np.int64)
        for number in range(self.starts.used):
            found = self.hashes.cells[number]
            slot = (found ^ found >> 32) & mask
            while self.slots[slot] >= 0:
                slot = (slot + 1) & mask
            self.slots[slot] = number
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def hashed(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.longlong:
        """The hash of a text, not negative."""
        # Four bytes a turn, as one step would have to wait for the last.
        first: cython.ulonglong = end - start
        second: cython.ulonglong = 0
        third: cython.ulonglong = 0
        fourth: cython.ulonglong = 0
        at: cython.Py_ssize_t = start
        while end - at >= 4:
            first = (first * MULTIPLIER + self.data[at]) & LARGEST
            second = (second * MULTIPLIER + self.data[at + 1]) & LARGEST
            third = (third * MULTIPLIER + self.data[at + 2]) & LARGEST
            fourth = (fourth * MULTIPLIER + self.data[at + 3]) & LARGEST
            at += 4
        while at < end:
            first = (first * MULTIPLIER + self.data[at]) & LARGEST
            at += 1
        first = (first * MIXER + second) & LARGEST
        first = (first * MIXER + third) & LARGEST
        first = (first * MIXER + fourth) & LARGEST
        return ((first ^ first >> 29) * MIXER & LARGEST) >> 2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def is_at(
        self, number: cython.longlong, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Whether the text from `start` to `end` is the one of that number."""
        known: cython.Py_ssize_t
        known_end: cython.Py_ssize_t
        at: cython.Py_ssize_t
        difference: cython.uchar = 0
        # The ends are checked instead of each byte, so that many are compared in one go.
        if not 0 <= number < self.starts.used <= self.ends.used:
            give_up()
        known = self.starts.cells[number]
        known_end = self.ends.cells[number]
        if known_end - known != end - start:
            return 0
        if not (0 <= known <= known_end <= self.size and 0 <= start <= end <= self.size):
            give_up()
        for at in range(end - start):
            difference |= self.data[known + at] ^ self.data[start + at]
        return difference == 0


def rows_of(data: bytes) -> int:
    """More rows than most files of this size have; memory that is not written costs nothing."""
    return _FIRST_CELLS + len(data) // 64


@cython.cfunc
@cython.with_gil
@cython.exceptval(-1)
def give_up() -> cython.int:
    """Leave the file to protobuf's reader."""
    raise _UnusualError


@cython.cclass
class _Walker:
    """A file that is read up to `at`.

    Tags are written as the format has them: eight times the number of the field, and its wire
    type; so 0x0A is a string or a message in field 1, and 0x10 a number in field 2. A field whose
    wire type is not that of the schema is skipped, as one that the schema does not have.
    """

    data: cython.const[cython.uchar][::1]
    size: cython.Py_ssize_t
    at: cython.Py_ssize_t
    value: cython.longlong  # the number that was read last
    start: cython.Py_ssize_t  # of the text that was read last, which ends at `at`

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0
        self.value = 0
        self.start = 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def tag(self, end: cython.Py_ssize_t) -> cython.longlong:
        """Read a tag; the message must go on."""
        byte: cython.longlong = self.data[self.at]
        self.at += 1
        if byte > 0x7F:
            self.at -= 1
            byte = self.short(end, LOW_BITS)
        if byte < 8:
            give_up()
        return byte

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def short(self, end: cython.Py_ssize_t, most: cython.longlong) -> cython.longlong:
        """Read a number of 32 bits at most, in five bytes at most."""
        start: cython.Py_ssize_t = self.at
        self.number(end)
        if self.at - start > 5 or self.value < 0 or self.value > most:
            give_up()
        return self.value

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def number(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a number into `value`."""
        at: cython.Py_ssize_t = self.at
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
            give_up()
        self.at = at
        found |= digit << shift
        if found > LARGEST_SIGNED:
            below = LARGEST - found
            self.value = -1 - below
        else:
            self.value = found
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def span(self, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the length of what begins then; where that ends."""
        length: cython.longlong
        if self.at < end and self.data[self.at] < 0x80:
            length = self.data[self.at]
            self.at += 1
        else:
            length = self.short(end, LONGEST)
        if length > end - self.at:
            give_up()
        return self.at + length

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def skip(self, tag: cython.longlong, end: cython.Py_ssize_t) -> cython.int:
        """Step over the field of this tag."""
        kind: cython.longlong = tag & 7
        if kind == 2:
            self.at = self.span(end)
        elif kind == 0:
            self.number(end)
        elif kind in (1, 5):
            self.at += 8 if kind == 1 else 4
            if self.at > end:
                give_up()
        else:
            give_up()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def text(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a text; whether a colon is in it."""
        last: cython.Py_ssize_t = self.span(end)
        found: cython.int = self.look(self.at, last)
        if found > 1:
            give_up()
        self.start = self.at
        self.at = last
        return found

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.boundscheck(False)
    def look(self, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """1 where a colon stands among these bytes, 2 or more where one is not ASCII."""
        bits: cython.uchar = 0
        has_colon: cython.uchar = 0
        at: cython.Py_ssize_t
        # The ends are checked instead of each byte, so that many are looked at in one go.
        if not 0 <= start <= end <= self.size:
            give_up()
        for at in range(start, end):
            bits |= self.data[at]
            has_colon |= self.data[at] == ord(":")
        return has_colon | bits & 0x80

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def colon(self) -> cython.Py_ssize_t:
        """Where the first colon of the text stands that was read last, or else its end."""
        at: cython.Py_ssize_t = self.start
        while at < self.at and self.data[at] != ord(":"):
            at += 1
        return at

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def shape(self, end: cython.Py_ssize_t, dims: _Column) -> cython.int:
        """Read a TensorShapeProto and add its dims; whether its rank is known."""
        before: cython.Py_ssize_t = dims.used
        is_known: cython.int = 1
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x12:
                self.dim(self.span(end))
                dims.add(self.value)
            elif tag == 0x18:
                self.number(end)
                is_known = self.value == 0
            else:
                self.skip(tag, end)
        if not is_known:
            dims.used = before
        return is_known

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def dim(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a dim's size into `value`."""
        size: cython.longlong = 0
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x08:
                self.number(end)
                size = self.value
            elif tag == 0x12:
                self.text(end)
            else:
                self.skip(tag, end)
        self.value = size
        return 0


@cython.final
@cython.cclass
class _Graph(_Walker):
    """A GraphDef."""

    starts: _Column
    ends: _Column
    name_starts: _Column
    name_ends: _Column
    op_codes: _Column
    ops: _Texts
    input_offsets: _Column
    input_starts: _Column
    input_ends: _Column
    input_slots: _Column
    is_known: _Column
    dim_offsets: _Column
    dims: _Column
    output_offsets: _Column
    output_known: _Column
    output_dim_offsets: _Column
    output_dims: _Column

    shape_key: cython.const[cython.uchar][::1]
    outputs_key: cython.const[cython.uchar][::1]
    # Where the values of these two attributes of the node begin and end.
    shape_start: cython.Py_ssize_t
    shape_end: cython.Py_ssize_t
    outputs_start: cython.Py_ssize_t
    outputs_end: cython.Py_ssize_t

    def __init__(self, data: bytes) -> None:
        room = rows_of(data)
        _Walker.__init__(self, data)
        self.starts, self.ends = _Column(room), _Column(room)
        self.name_starts, self.name_ends = _Column(room), _Column(room)
        self.op_codes, self.ops = _Column(room), _Texts(data)
        self.input_offsets, self.input_slots = _Column(room), _Column(room)
        self.input_starts, self.input_ends = _Column(room), _Column(room)
        self.is_known, self.dim_offsets, self.dims = _Column(room), _Column(room), _Column(room)
        self.output_offsets, self.output_known = _Column(room), _Column(room)
        self.output_dim_offsets, self.output_dims = _Column(room), _Column(room)
        self.shape_key, self.outputs_key = b"shape", b"_output_shapes"

    def scan(self) -> GraphScan | None:
        """All nodes."""
        try:
            with cython.nogil:
                self.graph(self.size)
        except _UnusualError:
            return None
        return GraphScan(
            start=self.starts.numbers(),
            end=self.ends.numbers(),
            name_start=self.name_starts.numbers(),
            name_end=self.name_ends.numbers(),
            op=self.op_codes.numbers(),
            op_start=self.ops.starts.numbers(),
            op_end=self.ops.ends.numbers(),
            input_offsets=self.input_offsets.numbers(),
            input_start=self.input_starts.numbers(),
            input_end=self.input_ends.numbers(),
            input_slot=self.input_slots.numbers(),
            shape_known=self.is_known.numbers(),
            dim_offsets=self.dim_offsets.numbers(),
            dims=self.dims.numbers(),
            output_offsets=self.output_offsets.numbers(),
            output_known=self.output_known.numbers(),
            output_dim_offsets=self.output_dim_offsets.numbers(),
            output_dims=self.output_dims.numbers(),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def graph(self, end: cython.Py_ssize_t) -> cython.int:
        """Read all nodes."""
        tag: cython.longlong
        self.input_offsets.add(0)
        self.dim_offsets.add(0)
        self.output_offsets.add(0)
        self.output_dim_offsets.add(0)
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.node(self.span(end))
            else:
                self.skip(tag, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def node(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a NodeDef."""
        tag: cython.longlong
        name_start: cython.Py_ssize_t = end
        name_end: cython.Py_ssize_t = end
        op_start: cython.Py_ssize_t = end
        op_end: cython.Py_ssize_t = end
        self.shape_start = self.shape_end = end
        self.outputs_start = self.outputs_end = end
        self.starts.add(self.at)
        self.ends.add(end)
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.text(end)
                name_start = self.start
                name_end = self.at
            elif tag == 0x12:
                self.text(end)
                op_start = self.start
                op_end = self.at
            elif tag == 0x1A:
                self.source(self.text(end))
            elif tag == 0x2A:
                self.attribute(self.span(end))
            else:
                self.skip(tag, end)
        self.name_starts.add(name_start)
        self.name_ends.add(name_end)
        self.op_codes.add(self.ops.code(op_start, op_end))
        self.input_offsets.add(self.input_slots.used)
        self.own_shape()
        self.output_shapes()
        self.at = end
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def source(self, has_colon: cython.int) -> cython.int:
        """Take the text that was read last as an input: `conv:1`, `conv`, `^conv`."""
        start: cython.Py_ssize_t = self.start
        end: cython.Py_ssize_t = self.colon() if has_colon else self.at
        slot: cython.longlong = 0
        if start < end and self.data[start] == ord("^"):
            start += 1
            slot = -1
        elif end < self.at:
            slot = self.slot(end + 1)
        self.input_starts.add(start)
        self.input_ends.add(end)
        self.input_slots.add(slot)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def slot(self, start: cython.Py_ssize_t) -> cython.longlong:
        """The number of less than ten digits from `start` on, 0 where there is none."""
        found: cython.longlong = 0
        at: cython.Py_ssize_t
        if self.at - start > 9:
            return 0
        for at in range(start, self.at):
            if not ord("0") <= self.data[at] <= ord("9"):
                return 0
            found = 10 * found + self.data[at] - ord("0")
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def attribute(self, end: cython.Py_ssize_t) -> cython.int:
        """Read an attribute: a key and a value; of two with one key the last counts."""
        tag: cython.longlong
        key_start: cython.Py_ssize_t = end
        key_end: cython.Py_ssize_t = end
        value_start: cython.Py_ssize_t = end
        value_end: cython.Py_ssize_t = end
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.text(end)
                key_start = self.start
                key_end = self.at
            elif tag == 0x12:
                value_end = self.span(end)
                value_start = self.at
                self.at = value_end
            else:
                give_up()
        if key_end - key_start == 5 and self.is_key(key_start, 5, self.shape_key):
            self.shape_start = value_start
            self.shape_end = value_end
        elif key_end - key_start == 14 and self.is_key(key_start, 14, self.outputs_key):
            self.outputs_start = value_start
            self.outputs_end = value_end
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def is_key(
        self,
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        key: cython.const[cython.uchar][::1],
    ) -> cython.int:
        """Whether the text at `start` is `key`, which has the same size."""
        at: cython.Py_ssize_t
        for at in range(size):
            if self.data[start + at] != key[at]:
                return 0
        return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def own_shape(self) -> cython.int:
        """Read the AttrValue of `shape`."""
        is_known: cython.int = 0
        self.at = self.shape_start
        if self.holds(0x3A, self.shape_end):
            is_known = self.shape(self.shape_end, self.dims)
        self.is_known.add(is_known)
        return self.dim_offsets.add(self.dims.used)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def output_shapes(self) -> cython.int:
        """Read the AttrValue of `_output_shapes`."""
        end: cython.Py_ssize_t = self.outputs_end
        self.at = self.outputs_start
        if self.holds(0x0A, end):
            while self.at < end:
                if self.tag(end) != 0x3A:
                    give_up()
                self.output_known.add(self.shape(self.span(end), self.output_dims))
                self.output_dim_offsets.add(self.output_dims.used)
        return self.output_offsets.add(self.output_known.used)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def holds(self, wanted: cython.longlong, end: cython.Py_ssize_t) -> cython.int:
        """Read the head of an AttrValue of one field; whether it is the `wanted` message."""
        tag: cython.longlong
        if self.at == end:
            return 0
        tag = self.tag(end)
        if tag == wanted:
            if self.span(end) != end:
                give_up()
            return 1
        # Numbers and bytes, of which nothing can be wrong.
        if tag in (0x12, 0x18, 0x25, 0x28, 0x30):
            self.skip(tag, end)
            if self.at == end:
                return 0
        give_up()
        return 0


@cython.final
@cython.cclass
class _Runs(_Walker):
    """A RunMetadata."""

    has_step_stats: cython.int
    device_starts: _Column
    device_ends: _Column

    devices: _Column
    name_starts: _Column
    name_ends: _Column
    run_starts: _Column
    run_ends: _Column
    temps: _Column
    persistents: _Column

    allocator_entries: _Column
    allocator_codes: _Column
    allocator_names: _Texts
    totals: _Column
    peaks: _Column
    lives: _Column
    in_uses: _Column

    allocation_owners: _Column
    allocation_micros: _Column
    allocation_bytes: _Column

    output_entries: _Column
    output_slots: _Column
    has_memory: _Column
    requested: _Column
    allocated: _Column
    addresses: _Column
    is_known: _Column
    dim_offsets: _Column
    dims: _Column

    def __init__(self, data: bytes) -> None:
        room = rows_of(data)
        _Walker.__init__(self, data)
        self.has_step_stats = 0
        self.device_starts, self.device_ends, self.devices = (
            _Column(room),
            _Column(room),
            _Column(room),
        )
        self.name_starts, self.name_ends = _Column(room), _Column(room)
        self.run_starts, self.run_ends = _Column(room), _Column(room)
        self.temps, self.persistents = _Column(room), _Column(room)
        self.allocator_entries, self.allocator_codes = _Column(room), _Column(room)
        self.allocator_names = _Texts(data)
        self.totals, self.peaks = _Column(room), _Column(room)
        self.lives, self.in_uses = _Column(room), _Column(room)
        self.allocation_owners = _Column(room)
        self.allocation_micros, self.allocation_bytes = _Column(room), _Column(room)
        self.output_entries, self.output_slots = _Column(room), _Column(room)
        self.has_memory, self.addresses = _Column(room), _Column(room)
        self.requested, self.allocated = _Column(room), _Column(room)
        self.is_known, self.dim_offsets, self.dims = _Column(room), _Column(room), _Column(room)

    def scan(self) -> RunScan | None:
        """All entries of all devices."""
        try:
            with cython.nogil:
                self.dim_offsets.add(0)
                self.run_metadata(self.size)
        except _UnusualError:
            return None
        return RunScan(
            has_step_stats=bool(self.has_step_stats),
            device_start=self.device_starts.numbers(),
            device_end=self.device_ends.numbers(),
            device=self.devices.numbers(),
            name_start=self.name_starts.numbers(),
            name_end=self.name_ends.numbers(),
            start_micros=self.run_starts.numbers(),
            end_rel_micros=self.run_ends.numbers(),
            temp_bytes=self.temps.numbers(),
            persistent_bytes=self.persistents.numbers(),
            allocator_entry=self.allocator_entries.numbers(),
            allocator=self.allocator_codes.numbers(),
            allocator_start=self.allocator_names.starts.numbers(),
            allocator_end=self.allocator_names.ends.numbers(),
            total=self.totals.numbers(),
            peak=self.peaks.numbers(),
            live=self.lives.numbers(),
            in_use=self.in_uses.numbers(),
            allocation_owner=self.allocation_owners.numbers(),
            allocation_micros=self.allocation_micros.numbers(),
            allocation_bytes=self.allocation_bytes.numbers(),
            output_entry=self.output_entries.numbers(),
            output_slot=self.output_slots.numbers(),
            has_memory=self.has_memory.numbers(),
            requested=self.requested.numbers(),
            allocated=self.allocated.numbers(),
            address=self.addresses.numbers(),
            shape_known=self.is_known.numbers(),
            dim_offsets=self.dim_offsets.numbers(),
            dims=self.dims.numbers(),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def run_metadata(self, end: cython.Py_ssize_t) -> cython.int:
        """Read all step statistics."""
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.has_step_stats = 1
                self.step(self.span(end))
            else:
                self.skip(tag, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def step(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a StepStats."""
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.device(self.span(end))
            else:
                self.skip(tag, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def device(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a DeviceStepStats; its name may be any bytes."""
        tag: cython.longlong
        name_start: cython.Py_ssize_t = end
        name_end: cython.Py_ssize_t = end
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                name_end = self.span(end)
                name_start = self.at
                self.at = name_end
            elif tag == 0x12:
                self.devices.add(self.device_starts.used)
                self.entry(self.span(end))
            else:
                self.skip(tag, end)
        self.device_starts.add(name_start)
        return self.device_ends.add(name_end)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def entry(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a NodeExecStats."""
        tag: cython.longlong
        name_start: cython.Py_ssize_t = end
        name_end: cython.Py_ssize_t = end
        start: cython.longlong = 0
        end_rel: cython.longlong = 0
        # Memory that is stated twice is one message in two parts.
        self.temps.add(0)
        self.persistents.add(0)
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                name_end = self.colon() if self.text(end) else self.at
                name_start = self.start
            elif tag == 0x10:
                self.number(end)
                start = self.value
            elif tag == 0x20:
                self.number(end)
                end_rel = self.value
            elif tag == 0x32:
                self.allocator(self.span(end))
            elif tag == 0x3A:
                self.output(self.span(end))
            elif tag == 0x42:
                self.text(end)
            elif tag == 0x62:
                self.kept_memory(self.span(end))
            else:
                self.skip(tag, end)
        self.name_starts.add(name_start)
        self.name_ends.add(name_end)
        self.run_starts.add(start)
        return self.run_ends.add(end_rel)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def kept_memory(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a MemoryStats."""
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x08:
                self.number(end)
                self.temps.cells[self.temps.used - 1] = self.value
            elif tag == 0x18:
                self.number(end)
                self.persistents.cells[self.persistents.used - 1] = self.value
            else:
                self.skip(tag, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def allocator(self, end: cython.Py_ssize_t) -> cython.int:
        """Read an AllocatorMemoryUsed."""
        tag: cython.longlong
        name_start: cython.Py_ssize_t = end
        name_end: cython.Py_ssize_t = end
        total: cython.longlong = 0
        peak: cython.longlong = 0
        live: cython.longlong = 0
        in_use: cython.longlong = 0
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.text(end)
                name_start = self.start
                name_end = self.at
            elif tag == 0x10:
                self.number(end)
                total = self.value
            elif tag == 0x18:
                self.number(end)
                peak = self.value
            elif tag == 0x20:
                self.number(end)
                live = self.value
            elif tag == 0x28:
                self.number(end)
                in_use = self.value
            elif tag == 0x32:
                self.allocation(self.span(end))
            else:
                self.skip(tag, end)
        self.allocator_entries.add(self.name_starts.used)
        self.allocator_codes.add(self.allocator_names.code(name_start, name_end))
        self.totals.add(total)
        self.peaks.add(peak)
        self.lives.add(live)
        return self.in_uses.add(in_use)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def allocation(self, end: cython.Py_ssize_t) -> cython.int:
        """Read an AllocationRecord."""
        tag: cython.longlong
        micros: cython.longlong = 0
        size: cython.longlong = 0
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x08:
                self.number(end)
                micros = self.value
            elif tag == 0x10:
                self.number(end)
                size = self.value
            else:
                self.skip(tag, end)
        self.allocation_owners.add(self.allocator_entries.used)
        self.allocation_micros.add(micros)
        return self.allocation_bytes.add(size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def output(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a NodeOutput."""
        tag: cython.longlong
        slot: cython.longlong = 0
        is_described: cython.int = 0
        self.output_entries.add(self.name_starts.used)
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x08:
                self.number(end)
                slot = ((self.value & LOW_BITS) ^ SIGN_BIT) - SIGN_BIT
            elif tag == 0x1A:
                if is_described:
                    give_up()
                is_described = 1
                self.tensor(self.span(end))
            else:
                self.skip(tag, end)
        self.output_slots.add(slot)
        if not is_described:
            self.tensor(self.at)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def tensor(self, end: cython.Py_ssize_t) -> cython.int:
        """Read a TensorDescription."""
        tag: cython.longlong
        has_shape: cython.int = 0
        has_memory: cython.int = 0
        is_known: cython.int = 0
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x12:
                if has_shape:
                    give_up()
                has_shape = 1
                is_known = self.shape(self.span(end), self.dims)
            elif tag == 0x22:
                if has_memory:
                    give_up()
                has_memory = 1
                self.memory(self.span(end))
            else:
                self.skip(tag, end)
        if not has_memory:
            self.memory(self.at)
        self.has_memory.add(has_memory)
        self.is_known.add(is_known)
        return self.dim_offsets.add(self.dims.used)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def memory(self, end: cython.Py_ssize_t) -> cython.int:
        """Read an AllocationDescription."""
        tag: cython.longlong
        requested: cython.longlong = 0
        allocated: cython.longlong = 0
        address: cython.longlong = 0
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x08:
                self.number(end)
                requested = self.value
            elif tag == 0x10:
                self.number(end)
                allocated = self.value
            elif tag == 0x1A:
                self.text(end)
            elif tag == 0x30:
                self.number(end)
                address = self.value
            else:
                self.skip(tag, end)
        self.requested.add(requested)
        self.allocated.add(allocated)
        return self.addresses.add(address)


@cython.final
@cython.cclass
class _Log(_Walker):
    """The entries of an OpLogProto."""

    name_starts: _Column
    name_ends: _Column
    float_ops: _Column
    type_entries: _Column
    type_codes: _Column
    types: _Texts
    stack_codes: _Column
    stacks: _Texts

    def __init__(self, data: bytes) -> None:
        room = rows_of(data)
        _Walker.__init__(self, data)
        self.name_starts, self.name_ends = _Column(room), _Column(room)
        self.float_ops = _Column(room)
        self.type_entries, self.type_codes = _Column(room), _Column(room)
        self.types, self.stacks = _Texts(data), _Texts(data)
        self.stack_codes = _Column(room)

    def scan(self) -> LogScan | None:
        """All entries."""
        try:
            with cython.nogil:
                self.log(self.size)
        except _UnusualError:
            return None
        return LogScan(
            name_start=self.name_starts.numbers(),
            name_end=self.name_ends.numbers(),
            float_ops=self.float_ops.numbers(),
            type_entry=self.type_entries.numbers(),
            type=self.type_codes.numbers(),
            type_start=self.types.starts.numbers(),
            type_end=self.types.ends.numbers(),
            stack=self.stack_codes.numbers(),
            stack_start=self.stacks.starts.numbers(),
            stack_end=self.stacks.ends.numbers(),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def log(self, end: cython.Py_ssize_t) -> cython.int:
        """Read all entries."""
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.entry(self.span(end))
            else:
                self.skip(tag, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def entry(self, end: cython.Py_ssize_t) -> cython.int:
        """Read an OpLogEntry; its call stack may be any bytes."""
        tag: cython.longlong
        name_start: cython.Py_ssize_t = end
        name_end: cython.Py_ssize_t = end
        float_ops: cython.longlong = 0
        stack_start: cython.Py_ssize_t = -1
        stack_end: cython.Py_ssize_t = -1
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x0A:
                self.text(end)
                name_start = self.start
                name_end = self.at
            elif tag == 0x10:
                self.number(end)
                float_ops = self.value
            elif tag == 0x1A:
                self.text(end)
                self.type_entries.add(self.name_starts.used)
                self.type_codes.add(self.types.code(self.start, self.at))
            elif tag == 0x22:
                stack_end = self.span(end)
                stack_start = self.at
                self.at = stack_end
            else:
                self.skip(tag, end)
        self.name_starts.add(name_start)
        self.name_ends.add(name_end)
        self.float_ops.add(float_ops)
        return self.stack_codes.add(
            self.stacks.code(stack_start, stack_end) if stack_start >= 0 else -1
        )


@cython.final
@cython.cclass
class _LogStrings(_Walker):
    """The strings of an OpLogProto."""

    keys: _Column
    value_starts: _Column
    value_ends: _Column

    def __init__(self, data: bytes) -> None:
        room = rows_of(data)
        _Walker.__init__(self, data)
        self.keys, self.value_starts, self.value_ends = _Column(room), _Column(room), _Column(room)

    def scan(self) -> tuple[Ints, Ints, Ints] | None:
        """All strings."""
        try:
            with cython.nogil:
                self.log(self.size)
        except _UnusualError:
            return None
        return self.keys.numbers(), self.value_starts.numbers(), self.value_ends.numbers()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def log(self, end: cython.Py_ssize_t) -> cython.int:
        """Read all strings."""
        tag: cython.longlong
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x12:
                self.string(self.span(end))
            else:
                self.skip(tag, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def string(self, end: cython.Py_ssize_t) -> cython.int:
        """Read an id and the string that it stands for."""
        tag: cython.longlong
        key: cython.longlong = 0
        has_value: cython.int = 0
        value_start: cython.Py_ssize_t = end
        value_end: cython.Py_ssize_t = end
        while self.at < end:
            tag = self.tag(end)
            if tag == 0x08:
                self.number(end)
                key = self.value
            elif tag == 0x12 and not has_value:
                has_value = 1
                value_end = self.span(end)
                value_start = self.at
                self.at = value_end
            else:
                give_up()
        self.keys.add(key)
        self.value_starts.add(value_start)
        return self.value_ends.add(value_end)
