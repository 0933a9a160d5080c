"""Writing tables as Parquet files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Coded, Ints, Strings
from tfprof.errors import OutputError
from tfprof.formats.parquet.tables import (
    BLOCK,
    CODEC_GZIP,
    GZIP_WINDOW,
    MAGIC,
    MINI_BLOCKS,
    REQUIRED,
    UTF8,
    Blobs,
    Column,
    Encoding,
    Layout,
    PageKind,
    Table,
    Type,
)
from tfprof.formats.parquet.thrift import Long, Struct, encode, zigzag
from tfprof.formats.wire import encoded as varint

_PAGE_ROWS = 1 << 17
_PAGE_BYTES = 1 << 30  # the size of a page is a signed 32-bit integer
_LEVEL = 1  # of compression: higher ones take far longer and save little


class _Page(NamedTuple):
    """The encoded values of some rows, or the distinct values of a column."""

    rows: int
    encoding: Encoding
    pieces: tuple[bytes, ...]
    kind: PageKind = PageKind.DATA


def write(table: Table) -> Iterator[bytes]:
    """The file of `table`, piece by piece."""
    yield MAGIC
    place, chunks = len(MAGIC), []
    for name, column in table.items():
        chunk = _Chunk(place)
        for page in _pages(column):
            yield from chunk.add(page)
        chunks.append(chunk.metadata(name, column))
        place = chunk.end
    rows = Long(len(next(iter(table.values()))))
    schema = [{4: b"schema", 5: len(table)}, *(_schema(*item) for item in table.items())]
    groups = [{1: chunks, 2: Long(place - len(MAGIC)), 3: rows}]
    footer = encode({1: 2, 2: schema, 3: rows, 4: groups, 6: b"tfprof"})
    yield footer + struct.pack("<I", len(footer)) + MAGIC


def _schema(name: str, column: Column) -> Struct:
    found: Struct = {1: _type(column), 3: REQUIRED, 4: name.encode()}
    if isinstance(column, Strings | Coded):
        found |= {6: UTF8, 10: {1: {}}}  # text, in the older and in the newer way
    return found


def _type(column: Column) -> Type:
    if isinstance(column, np.ndarray):
        return Type.BOOLEAN if column.dtype == np.bool_ else Type.INT64
    return Type.BYTE_ARRAY


class _Chunk:
    """The pages of one column while they are written."""

    def __init__(self, start: int) -> None:
        self.end = start
        self._start = start
        self._unpacked = 0
        self._first: dict[PageKind, int] = {}  # where the first page of each kind is
        self._encodings: dict[Encoding, None] = {}

    def add(self, page: _Page) -> Iterator[bytes]:
        """The page as it is written."""
        size = sum(map(len, page.pieces))
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, GZIP_WINDOW)
        pieces = [*map(packer.compress, page.pieces), packer.flush()]
        stored = sum(map(len, pieces))
        header = encode(_header(page, size, stored))
        self._first.setdefault(page.kind, self.end)
        self._encodings[page.encoding] = None
        self._unpacked += len(header) + size
        self.end += len(header) + stored
        yield header
        yield from pieces

    def metadata(self, name: str, column: Column) -> Struct:
        """What the footer says about the column."""
        found: Struct = {
            1: _type(column),
            2: list(self._encodings),
            3: [name.encode()],
            4: CODEC_GZIP,
            5: Long(len(column)),
            6: Long(self._unpacked),
            7: Long(self.end - self._start),
            9: Long(self._first[PageKind.DATA]),
        }
        if PageKind.DICTIONARY in self._first:
            found[11] = Long(self._first[PageKind.DICTIONARY])
        return {2: Long(self._start), 3: found}


def _header(page: _Page, size: int, stored: int) -> Struct:
    values = {1: page.rows, 2: page.encoding}
    if page.kind is PageKind.DICTIONARY:
        return {1: page.kind, 2: size, 3: stored, 7: values}
    return {1: page.kind, 2: size, 3: stored, 5: {**values, 3: Encoding.RLE, 4: Encoding.RLE}}


def _pages(column: Column) -> Iterator[_Page]:
    if isinstance(column, np.ndarray):
        return _blocks_of(column)
    if isinstance(column, Coded):
        return _coded_pages(column)
    return _text_pages(column.spans if isinstance(column, Blobs) else column)


def _ranges(rows: int) -> Iterator[tuple[int, int]]:
    """The first and the last row of each page; a column without rows has one page too."""
    for start in range(0, max(rows, 1), _PAGE_ROWS):
        yield start, min(start + _PAGE_ROWS, rows)


def _blocks_of(column: Ints | Bools) -> Iterator[_Page]:
    for start, end in _ranges(len(column)):
        values = column[start:end]
        if values.dtype == np.bool_:
            packed = np.packbits(values, bitorder="little").tobytes()
            yield _Page(len(values), Encoding.PLAIN, (packed,))
        else:
            packed = _packed_deltas(values.astype(np.int64, copy=False))
            yield _Page(len(values), Encoding.DELTA_BINARY_PACKED, (packed,))


def _coded_pages(column: Coded) -> Iterator[_Page]:
    values = _length_prefixed(column.values)
    yield _Page(len(column.values), Encoding.PLAIN, (values,), PageKind.DICTIONARY)
    for start, end in _ranges(len(column)):
        pieces = _packed_codes(column.codes[start:end])
        yield _Page(end - start, Encoding.RLE_DICTIONARY, pieces)


def _text_pages(column: Strings) -> Iterator[_Page]:
    texts = column.packed()
    for start, end in _ranges(len(texts)):
        some = texts.data[texts.starts[start] : texts.ends[end - 1]] if end > start else b""
        _require_page(len(some))
        packed = _packed_deltas(texts.lengths[start:end])
        yield _Page(end - start, Encoding.DELTA_LENGTH_BYTE_ARRAY, (packed, some))


def _packed_codes(codes: Ints) -> tuple[bytes, bytes]:
    """Codes as one run of groups of eight."""
    groups = -(-len(codes) // 8)
    width = _width(int(codes.max(initial=0)))
    padded = np.zeros(groups * 8, np.int64)
    padded[: len(codes)] = codes
    return bytes([8 * width]) + varint(groups << 1 | 1), _low_bytes(padded, width).tobytes()


def _packed_deltas(values: Ints) -> bytes:
    """The first value, then blocks of differences between neighbours, less the smallest one."""
    first = int(values[0]) if len(values) else 0
    head = varint(BLOCK) + varint(MINI_BLOCKS) + varint(len(values)) + zigzag(first)
    if len(values) <= 1:
        return head
    deltas = np.diff(values)  # differences wrap around, as the format wants
    smallest = int(deltas.min())
    width = _width(int(deltas.max()) - smallest)
    layout = Layout.of(zigzag(smallest), width, len(deltas))
    padded = np.zeros(layout.blocks * BLOCK, np.int64)
    np.subtract(deltas, smallest, out=padded[: len(deltas)])
    blocks = np.empty((layout.blocks, layout.block_size), np.uint8)
    blocks[:, : len(layout.head)] = np.frombuffer(layout.head, np.uint8)
    blocks[:, len(layout.head) :] = _low_bytes(padded, width).reshape(layout.blocks, -1)
    return head + blocks.reshape(-1)[: layout.size].tobytes()


def _width(largest: int) -> int:
    """How many bytes a number takes."""
    return max(1, -(-largest.bit_length() // 8))


def _low_bytes(values: Ints, width: int) -> npt.NDArray[np.uint8]:
    """The lowest bytes of each number, a row each."""
    if width in (1, 2, 4):
        return values.astype(f"<u{width}").view(np.uint8).reshape(-1, width)
    return values.astype("<i8", copy=False).view(np.uint8).reshape(-1, 8)[:, :width]


def _length_prefixed(texts: Strings) -> bytes:
    """All texts, each behind its length, a number of four bytes."""
    _require_page(int(texts.lengths.sum()) + 4 * len(texts))
    places = 4 * np.arange(len(texts))
    lengths = Strings.of_spans(texts.lengths.astype("<u4").tobytes(), places, places + 4)
    return Strings.woven([lengths, texts], len(texts)).data


def _require_page(size: int) -> None:
    if size > _PAGE_BYTES:
        raise OutputError(
            f"{_PAGE_ROWS:,} rows of a column take {size:,} bytes, more than the "
            f"{_PAGE_BYTES:,} that a page of a Parquet file may have."
        )
