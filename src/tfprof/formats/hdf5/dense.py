"""Many links or attributes of an object: a B-tree of ids, and a heap that contains the objects.

h5py uses this for groups with names that are not ASCII, and for groups that keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tfprof.formats.hdf5.stored import Hdf5Error, StoredBytes

_MOST_ROWS: Final = 64  # the last row has more bytes than any file
_NODE_OVERHEAD: Final = 10  # bytes of a node that are not records
_MOST_DEPTH: Final = 32  # of a tree with more records than any file
_MANAGED: Final = 0  # the type of objects in the blocks of a heap, in their ids


def records(stored: StoredBytes, address: int) -> Iterator[bytes]:
    """The records of the B-tree at `address`."""
    fields = stored.fields(address, 16 + stored.offset_size, b"BTHD")
    _, _, node_size, size, depth, _, _ = fields.numbers(1, 1, 4, 2, 2, 1, 1)
    root, count = fields.offset(), fields.number(2)
    if not size or node_size <= _NODE_OVERHEAD + size or depth > _MOST_DEPTH:
        raise Hdf5Error("a B-tree has impossible nodes")
    if root != stored.undefined:
        yield from _Tree(stored, node_size, size).records(root, count, depth)


class _Tree(NamedTuple):
    stored: StoredBytes
    node_size: int
    record_size: int

    def records(self, address: int, count: int, depth: int) -> Iterator[bytes]:
        """The records of a node and of those below it."""
        pointer = self.stored.offset_size + sum(self._count_sizes(depth))
        size = count * self.record_size + ((count + 1) * pointer if depth else 0)
        fields = self.stored.fields(address, 2 + size, b"BTIN" if depth else b"BTLF")
        fields.number(2)
        for _ in range(count):
            yield fields.take(self.record_size)
        for _ in range(count + 1 if depth else 0):
            child = fields.offset()
            inside, _ = fields.numbers(*self._count_sizes(depth))
            yield from self.records(child, inside, depth - 1)

    def _count_sizes(self, depth: int) -> tuple[int, int]:
        """How many bytes the numbers of records in and below a child take."""
        most = (self.node_size - _NODE_OVERHEAD) // self.record_size
        own, below, total = _bytes_for(most), 0, most
        for _ in range(1, depth):
            pointer = self.stored.offset_size + own + below
            most = (self.node_size - _NODE_OVERHEAD - pointer) // (self.record_size + pointer)
            total = (most + 1) * total + most
            below = _bytes_for(total)
        return own, below


def _bytes_for(number: int) -> int:
    return max(number.bit_length() - 1, 0) // 8 + 1


class Heap:
    """A heap whose blocks double in size from row to row of a table."""

    def __init__(self, stored: StoredBytes, address: int) -> None:
        self._stored = stored
        offset, length = stored.offset_size, stored.length_size
        fields = stored.fields(address, 22 + 12 * length + 3 * offset, b"FRHP")
        _, _, filters, _, largest = fields.numbers(1, 2, 2, 1, 4)
        fields.take(10 * length + 2 * offset)
        self._width = fields.number(2)
        self._first, self._largest = fields.length(), fields.length()
        self._bits = fields.number(2)
        fields.number(2)
        self._root, self._rows = fields.offset(), fields.number(2)
        is_possible = self._width and 0 < self._first <= self._largest
        if filters or not is_possible or max(self._rows, self._bits) > _MOST_ROWS:
            raise Hdf5Error("a heap has impossible blocks")
        self._offset_bytes = -(-self._bits // 8)
        self._length_bytes = min(_bytes_for(self._largest), _bytes_for(largest))

    def __getitem__(self, id_: bytes) -> bytes:
        fields = self._stored.cursor(id_)
        if fields.number(1) >> 4 != _MANAGED:
            raise Hdf5Error("an object is outside of its heap")
        offset, size = fields.numbers(self._offset_bytes, self._length_bytes)
        block, start = self._root, 0
        if self._rows:
            block, start = self._block(self._root, 0, self._rows, offset)
        return self._stored.read(block + offset - start, size)

    def _block(self, table: int, start: int, rows: int, offset: int) -> tuple[int, int]:
        """The block that contains `offset`, and where it starts, given a table of blocks."""
        row_start = start
        for row in range(rows):
            size = self._first << max(row - 1, 0)
            row_end = row_start + size * self._width
            if offset < row_end:
                column = (offset - row_start) // size
                child = self._child(table, row * self._width + column)
                begins = row_start + column * size
                if size <= self._largest:
                    return child, begins
                inner = (size // (self._width * self._first)).bit_length()
                return self._block(child, begins, min(inner, rows - 1), offset)
            row_start = row_end
        raise Hdf5Error("an object is outside of its heap")

    def _child(self, table: int, number: int) -> int:
        stored = self._stored
        header = 5 + stored.offset_size + self._offset_bytes
        stored.fields(table, 0, b"FHIB")
        return stored.fields(
            table + header + number * stored.offset_size, stored.offset_size
        ).offset()
