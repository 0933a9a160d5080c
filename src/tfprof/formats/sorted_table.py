"""The immutable sorted key-value table of LevelDB, which TensorFlow checkpoints use."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tfprof.errors import InputError
from tfprof.formats import crc32c, snappy
from tfprof.formats.file_spans import file_size, read_span
from tfprof.formats.table_footer import MAGIC, footer
from tfprof.formats.wire import WireError, varint

TRAILER_BYTES: Final = 5  # the compression type and a checksum
UNCOMPRESSED, SNAPPY = 0, 1
LARGEST_KEY_GROWTH: Final = 64  # writers store a full key at least every 16 entries
LARGEST_KEPT: Final = 1 << 20

# The entries of a table may take this many times the size of the file, and a harmless size.
MOST_TIMES: Final = 100
HARMLESS: Final = 1 << 26
ENTRY_BYTES: Final = 200  # of an entry in memory, besides its key and value


@dataclass(frozen=True, slots=True)
class SortedTable:
    """A table whose index has been read; values are read on demand."""

    path: str
    last_keys: tuple[bytes, ...]
    """For each block, a key not less than any in it and less than any in the next."""
    spans: tuple[tuple[int, int], ...]
    """The start and length of each block, without its trailer."""
    kept: dict[int, Mapping[bytes, bytes]] = field(default_factory=dict, compare=False, repr=False)

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Every key and its value, sorted by key."""
        taken = 0
        most = HARMLESS + MOST_TIMES * file_size(self.path)
        for offset, size in self.spans:
            for key, value in block_items(self.path, offset, size):
                taken += len(key) + len(value) + ENTRY_BYTES
                if taken > most:
                    raise damaged(self.path, f"its entries take more than {most:,} bytes")
                yield key, value

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        return self.find([key]).get(key)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The keys that the table contains and their values, reading each block at most once."""
        wanted: dict[int, set[bytes]] = {}
        for key in keys:
            wanted.setdefault(bisect.bisect_left(self.last_keys, key), set()).add(key)
        found: dict[bytes, bytes] = {}
        for at, those in wanted.items():
            held = self.block(at) if at < len(self.spans) else {}
            found.update((key, held[key]) for key in those & held.keys())
        return found

    def block(self, at: int) -> Mapping[bytes, bytes]:
        """The keys and values of one block; the latest is cached for lookups of nearby keys."""
        held = self.kept.get(at)
        if held is None:
            offset, size = self.spans[at]
            held = dict(block_items(self.path, offset, size))
            self.kept.clear()
            if size <= LARGEST_KEPT:
                self.kept[at] = held
        return held


def open_table(path: str | Path) -> SortedTable:
    """Open the table at `path`, reading only its footer and index."""
    name = str(path)
    offset, size = index_span(name)
    keys: list[bytes] = []
    spans: list[tuple[int, int]] = []
    free = 0
    for key, value in block_items(name, offset, size):
        start, length = span(name, value)
        # Overlapping blocks could make a small file expand to a huge one.
        if start < free or start + length + TRAILER_BYTES > offset:
            raise damaged(name, f"its index has a block at an impossible position, byte {start:,}")
        free = start + length + TRAILER_BYTES
        keys.append(key)
        spans.append((start, length))
    return SortedTable(name, tuple(keys), tuple(spans))


def index_span(path: str) -> tuple[int, int]:
    """The offset and size of the index block, from the footer."""
    last = footer(path)
    if last[-len(MAGIC) :] != MAGIC:
        raise InputError(path, "does not end like a checkpoint's table; was it copied fully?")
    _, _, after = two_numbers(path, last)
    return span(path, last[after:])


def span(path: str, handle: bytes) -> tuple[int, int]:
    """The offset and size in `handle`."""
    offset, size, _ = two_numbers(path, handle)
    return offset, size


def two_numbers(path: str, handle: bytes) -> tuple[int, int, int]:
    """The offset and size at the start of `handle`, and the position after them."""
    try:
        offset, after = varint(handle, 0)
        size, after = varint(handle, after)
    except WireError as error:
        raise damaged(path, "the position of a block is missing") from error
    return offset, size, after


def block_items(path: str, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of the block that starts at `offset`."""
    block = read_block(path, offset, size)
    try:
        yield from entries(block, HARMLESS + MOST_TIMES * size)
    except WireError as error:
        raise damaged(path, f"{error} of the block at byte {offset:,}") from error


def read_block(path: str, offset: int, size: int) -> memoryview:
    """The content of a block, verified by its checksum and unpacked."""
    stored = memoryview(read_span(path, offset, size + TRAILER_BYTES))
    covered = size + 1
    if crc32c.checksum(stored[:covered]) != crc32c.unmasked(number(stored, covered)):
        raise damaged(path, f"the block at byte {offset:,} does not match its checksum")
    compression = stored[size]
    if compression == UNCOMPRESSED:
        return stored[:size]
    if compression != SNAPPY:
        raise InputError(path, f"has a block with unsupported compression type {compression}")
    try:
        return memoryview(snappy.unpacked(stored[:size]))
    except WireError as error:
        raise damaged(path, f"cannot unpack the block at byte {offset:,}: {error}") from error


def entries(block: memoryview, most: int) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a block; a key is stored as its difference from the previous one.

    The keys may have `most` bytes in total: a block may unpack to many times its size.
    """
    stop = entries_end(block)
    most = min(most, LARGEST_KEY_GROWTH * len(block))
    key = b""
    key_bytes = at = 0
    while at < stop:
        start = at
        shared, at = varint(block, at, stop)
        added, at = varint(block, at, stop)
        length, at = varint(block, at, stop)
        if shared > len(key) or added + length > stop - at:
            raise WireError(start, "an entry extends past the end")
        previous, key = key, key[:shared] + block[at : at + added].tobytes()
        if start and key <= previous:
            raise WireError(start, "the keys are out of order")
        key_bytes += len(key)
        if key_bytes > most:
            raise WireError(start, f"the keys have more than {most:,} bytes")
        at += added + length
        yield key, block[at - length : at].tobytes()


def entries_end(block: memoryview) -> int:
    """The end of the entries, where the list of restarts (entries with a full key) begins."""
    if len(block) < 4:
        raise WireError(0, "missing count of restarts")
    end = len(block) - 4 - 4 * number(block, len(block) - 4)
    if end < 0:
        raise WireError(len(block) - 4, "more restarts than fit in the block")
    return end


def number(data: memoryview, at: int) -> int:
    """The four-byte number at `at`."""
    return int.from_bytes(data[at : at + 4], "little")


def damaged(path: str, what: str) -> InputError:
    """The error for a file whose content is damaged."""
    return InputError(path, f"is damaged: {what}; fetch or save it again")
