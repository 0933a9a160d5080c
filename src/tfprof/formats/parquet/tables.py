"""What a Parquet file of ours holds, and the numbers by which Parquet calls it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from tfprof.columns import Bools, Coded, Ints, Strings


@dataclass(frozen=True, slots=True, eq=False)
class Blobs:
    """A column of bytes that are not text; `spans` says where each row is."""

    spans: Strings

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, row: int) -> bytes:
        return self.spans.data[self.spans.starts[row] : self.spans.ends[row]]


Column: TypeAlias = Ints | Bools | Strings | Coded | Blobs
Table: TypeAlias = dict[str, Column]  # columns of the same length, by name

MAGIC = b"PAR1"

# Packed numbers come in blocks of mini blocks; a block begins with the widths of its mini blocks.
BLOCK = 128
MINI_BLOCKS = 4
MINI_BLOCK = BLOCK // MINI_BLOCKS

GZIP_WINDOW = 31  # how zlib is asked for gzip


class Type(IntEnum):
    """Types of values."""

    BOOLEAN = 0
    INT64 = 2
    BYTE_ARRAY = 6


class Encoding(IntEnum):
    """Encodings of values."""

    PLAIN = 0
    RLE = 3
    DELTA_BINARY_PACKED = 5
    DELTA_LENGTH_BYTE_ARRAY = 6
    RLE_DICTIONARY = 8


class PageKind(IntEnum):
    """Kinds of pages."""

    DATA = 0
    DICTIONARY = 2


CODEC_GZIP = 2
REQUIRED = 0  # every row has a value
UTF8 = 0  # the older of two ways to mark text


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of blocks that all begin with the same bytes."""

    head: bytes
    width: int  # bytes per value
    blocks: int
    size: int  # bytes of all blocks

    @property
    def block_size(self) -> int:
        return len(self.head) + BLOCK * self.width

    @classmethod
    def of(cls, smallest: bytes, width: int, count: int) -> Layout:
        """The layout of `count` values; `smallest` is what was subtracted from each, encoded."""
        head = smallest + bytes([8 * width] * MINI_BLOCKS)
        blocks = -(-count // BLOCK)
        left = count - (blocks - 1) * BLOCK
        # The last block ends after its last mini block that has a value.
        last = len(head) + -(-left // MINI_BLOCK) * MINI_BLOCK * width
        return cls(head, width, blocks, (blocks - 1) * (len(head) + BLOCK * width) + last)
