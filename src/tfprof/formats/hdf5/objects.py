"""The objects of an HDF5 file: the messages that describe them, links and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from tfprof.formats.hdf5.dense import Heap, records
from tfprof.formats.hdf5.stored import Hdf5Error, StoredBytes

SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"

_NAME_PIECE: Final = 64  # bytes that are read of a name at first
_SOFT_LINK: Final = 2  # in the entry of a group


class Kind:
    """The types of the messages that describe an object."""

    DATASPACE = 0x01
    LINK_INFO = 0x02
    DATATYPE = 0x03
    LINK = 0x06
    LAYOUT = 0x08
    GROUP_INFO = 0x0A
    ATTRIBUTE = 0x0C
    CONTINUATION = 0x10
    SYMBOL_TABLE = 0x11
    ATTRIBUTE_INFO = 0x15


class ObjectMessage(NamedTuple):
    """One part of the description of an object."""

    kind: int
    data: bytes
    is_shared: bool = False  # `data` only says where the message is


class Link(NamedTuple):
    """An object in a group; the address is None if the link leads to another place by name."""

    name: bytes
    address: int | None


class Storage:
    """The objects of a file, by their addresses."""

    def __init__(self, file: BinaryIO) -> None:
        self._stored = StoredBytes(file)
        self.cursor = self._stored.cursor
        self._read, self._fields = self._stored.read, self._stored.fields
        self._collections: dict[int, dict[int, tuple[int, int]]] = {}
        self.root = self._superblock()

    def messages(self, address: int) -> list[ObjectMessage]:
        """The messages of the object at `address`."""
        if self._read(address, 4) == b"OHDR":
            return list(self._new_messages(address))
        return list(self._old_messages(address))

    def links(self, messages: list[ObjectMessage]) -> Iterator[Link]:
        """The objects in the group that has these messages."""
        for kind, data, _ in messages:
            if kind == Kind.SYMBOL_TABLE:
                fields = self.cursor(data)
                yield from self._entries(fields.offset(), fields.offset())
            elif kind == Kind.LINK:
                yield self._link(data)
            elif kind == Kind.LINK_INFO:
                # An id follows a checksum.
                yield from (self._link(found) for found in self._dense(data, 8, slice(4, None)))

    def attributes(self, messages: list[ObjectMessage]) -> Iterator[bytes]:
        """The attributes of the object that has these messages, encoded."""
        for kind, data, is_shared in messages:
            if kind == Kind.ATTRIBUTE and not is_shared:
                yield data
            elif kind == Kind.ATTRIBUTE_INFO:
                yield from self._dense(data, 2, slice(8))

    def heap_object(self, address: int, index: int) -> bytes:
        """An object of the global heap, which contains texts of any length."""
        if address not in self._collections:
            self._collections[address] = dict(self._collection(address))
        if index not in self._collections[address]:
            raise Hdf5Error("a text is missing")
        return self._read(*self._collections[address][index])

    def _superblock(self) -> int:
        """The address of the root; this also sets how wide addresses are."""
        version = self._fields(0, 1, SIGNATURE).number(1)
        is_old = version < 2
        at = len(SIGNATURE) + (5 if is_old else 1)
        widths = self._fields(at, 2)
        stored = self._stored
        stored.offset_size, stored.length_size = width, _ = widths.numbers(1, 1)
        if version > 3 or not {stored.offset_size, stored.length_size} <= {2, 4, 8}:
            raise Hdf5Error(f"version {version} of the format is not supported")
        addresses = self._fields((24, 28, 12, 12)[version], 6 * width)
        _, _, end = (addresses.offset() for _ in range(3))
        if end > stored.size:
            raise Hdf5Error(f"it ends at byte {stored.size:,} of {end:,}")
        # Old versions have another address, and the entry of the root, which starts with a name.
        addresses.take(2 * width if is_old else 0)
        return addresses.offset()

    # Messages.

    def _old_messages(self, address: int) -> Iterator[ObjectMessage]:
        fields = self._fields(address, 12)
        if fields.number(2) & 0xFF != 1:
            raise Hdf5Error(f"there is no object at byte {address:,}")
        count = fields.number(2)
        fields.number(4)
        blocks = [(address + 16, fields.number(4))]
        while blocks and count:
            block = self._fields(*blocks.pop(0))
            while len(block) >= 8 and count:
                kind, size, flags = block.number(2), block.number(2), block.number(4) & 0xFF
                message = ObjectMessage(kind, block.take(size), bool(flags & 2))
                count -= 1
                blocks += self._continuation(message)
                yield message

    def _new_messages(self, address: int) -> Iterator[ObjectMessage]:
        fields = self._fields(address, 2, b"OHDR")
        fields.number(1)
        flags = fields.number(1)
        before = address + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        size = self._fields(before, width).number(width)
        header = 6 if flags & 4 else 4
        blocks = [(before + width, size, b"")]
        while blocks:
            at, size, signature = blocks.pop(0)
            block = self._fields(at, size - len(signature), signature)
            while len(block) >= header:
                kind, length, marks = block.number(1), block.number(2), block.number(1)
                block.take(header - 4)
                message = ObjectMessage(kind, block.take(length), bool(marks & 2))
                # A block ends with a checksum of four bytes.
                blocks += ((at, size - 4, b"OCHK") for at, size in self._continuation(message))
                yield message

    def _continuation(self, message: ObjectMessage) -> Iterator[tuple[int, int]]:
        if message.kind == Kind.CONTINUATION:
            fields = self.cursor(message.data)
            yield fields.offset(), fields.length()

    # Groups.

    def _dense(self, info: bytes, index_size: int, id_: slice) -> Iterator[bytes]:
        """The links or attributes in a heap; `id_` is the part of a record that is an id."""
        fields = self.cursor(info)
        fields.number(1)
        fields.take(index_size if fields.number(1) & 1 else 0)
        heap, tree = fields.offset(), fields.offset()
        if heap != self._stored.undefined:
            objects = Heap(self._stored, heap)
            yield from (objects[record[id_]] for record in records(self._stored, tree))

    def _link(self, data: bytes) -> Link:
        fields = self.cursor(data)
        fields.number(1)
        flags = fields.number(1)
        is_hard = not (flags & 8 and fields.number(1))
        fields.take((8 if flags & 4 else 0) + (1 if flags & 16 else 0))
        name = fields.take(fields.number(1 << (flags & 3)))
        return Link(name, fields.offset() if is_hard else None)

    def _entries(self, tree: int, heap: int) -> Iterator[Link]:
        """The entries of a group: a B-tree of nodes, with names in a local heap."""
        fields = self._fields(
            heap, 4 + 2 * self._stored.length_size + self._stored.offset_size, b"HEAP"
        )
        fields.number(4)
        size, _, names = fields.length(), fields.length(), fields.offset()
        for node in self._nodes(tree):
            header = self._fields(node, 4, b"SNOD")
            header.number(2)
            width = 2 * self._stored.offset_size + 24
            entries = self._fields(node + 8, header.number(2) * width)
            while len(entries):
                name, address = entries.offset(), entries.offset()
                is_link = entries.number(4) == _SOFT_LINK
                entries.take(20)
                yield Link(self._name(names + name, names + size), None if is_link else address)

    def _nodes(self, tree: int) -> Iterator[int]:
        """The addresses of the nodes with entries, in order."""
        waiting = [tree]
        while waiting:
            address = waiting.pop()
            fields = self._fields(address, 4 + 2 * self._stored.offset_size, b"TREE")
            _, level, count = fields.number(1), fields.number(1), fields.number(2)
            width = self._stored.length_size + self._stored.offset_size
            pairs = self._fields(address + 8 + 2 * self._stored.offset_size, count * width)
            children = []
            while len(pairs):
                pairs.length()
                children.append(pairs.offset())
            if level:
                waiting += reversed(children)
            else:
                yield from children

    def _name(self, at: int, end: int) -> bytes:
        """The text at `at`, which ends with a zero byte."""
        size = _NAME_PIECE
        while at < end:
            name, zero, _ = self._read(at, min(size, end - at)).partition(b"\0")
            if zero:
                return name
            if at + size >= end:
                break
            size *= 2
        raise Hdf5Error("a name is outside of its heap")

    # The global heap.

    def _collection(self, address: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """The place and size of each object in a collection, by index."""
        fields = self._fields(address, 4 + self._stored.length_size, b"GCOL")
        fields.number(4)
        width = 8 + self._stored.length_size
        end = address + fields.length()
        at = address + 8 + self._stored.length_size
        while at + width <= end:
            header = self._fields(at, width)
            index = header.number(2)
            header.number(6)
            size = header.length()
            if not index:  # the free space at the end
                return
            yield index, (at + width, size)
            at += width + size + -size % 8
