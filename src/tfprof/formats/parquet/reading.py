"""Reading the Parquet files that `writing` writes.

Files are not trusted: whatever their metadata claims, reading them takes no more memory than a
`Budget` allows.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Coded, Ints, Strings, offsets_of
from tfprof.formats.parquet.tables import (
    BLOCK,
    CODEC_GZIP,
    GZIP_WINDOW,
    MAGIC,
    MINI_BLOCKS,
    UTF8,
    Blobs,
    Column,
    Encoding,
    Layout,
    PageKind,
    Table,
    Type,
)
from tfprof.formats.parquet.thrift import Reader, Struct, zigzag

_SMALLEST = 2 * len(MAGIC) + 4
_NUMBER_SIZE = 8  # in memory; a page can have a number in a single byte

# Columns may take this many times the size of the file that they are in, or a harmless size.
_MOST_TIMES = 200
_HARMLESS = 1 << 28

# What following the metadata of a damaged file raises.
_DAMAGE = (
    *(AttributeError, LookupError, OverflowError, TypeError, ValueError),
    *(struct.error, zlib.error),
)


class ParquetError(ValueError):
    """A file that is damaged, or that was not written by `write`."""


_Span: TypeAlias = tuple[Ints, bytes]  # the lengths of texts, and all of them in a row


class Budget:
    """The memory that the columns of a file may take; tables of one file share it."""

    def __init__(self, size: int) -> None:
        self._left = _HARMLESS + _MOST_TIMES * size

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ParquetError("the pages unpack to far more than the file could hold")


class _Page(NamedTuple):
    rows: int
    encoding: int
    content: bytes
    kind: int


def read(data: bytes | memoryview, budget: Budget | None = None) -> Table:
    """The table of a file that `write` wrote."""
    try:
        return _table(memoryview(data), budget or Budget(len(data)))
    except ParquetError:
        raise
    except _DAMAGE as error:
        raise ParquetError(f"damaged metadata ({error!r})") from None


def _table(view: memoryview, budget: Budget) -> Table:
    if len(view) < _SMALLEST or view[:4] != MAGIC or view[-4:] != MAGIC:
        raise ParquetError("not a Parquet file, or one that was cut short")
    (size,) = struct.unpack("<I", view[-8:-4])
    if size > len(view) - _SMALLEST:
        raise ParquetError("the footer is cut short")
    footer = Reader(view[-8 - size : -8]).struct()
    (group,) = footer[4]
    columns = zip(footer[2][1:], group[1], strict=False)
    file = _File(view, budget)
    table = {schema[4].decode(): file.column(schema, chunk[3]) for schema, chunk in columns}
    if len(table) != len(group[1]) or len(table) != len(footer[2]) - 1:
        raise ParquetError("columns are missing or have the same name")
    if any(len(column) != footer[3] for column in table.values()):
        raise ParquetError("the columns are not equally long")
    return table


class _File:
    """The pages of a file, which are unpacked within a budget."""

    def __init__(self, view: memoryview, budget: Budget) -> None:
        self._view = view
        self._budget = budget

    def column(self, schema: Struct, chunk: Struct) -> Column:
        start: int = chunk[11] if 11 in chunk else chunk[9]
        end: int = start + chunk[7]
        if not 0 <= start <= end <= len(self._view):
            raise ParquetError("a column is outside the file")
        if chunk[4] != CODEC_GZIP:
            raise ParquetError("a column is not compressed with gzip")
        values: Strings | None = None
        parts: list[Any] = []
        for page in self._pages(self._view[start:end]):
            if page.kind == PageKind.DICTIONARY:
                values = _dictionary(page.content, page.rows)
            else:
                parts.append(_READERS[schema[1], page.encoding](page.content, page.rows))
        if schema[1] != Type.BYTE_ARRAY:
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        is_text = schema.get(6) == UTF8
        if values is not None:
            return _coded(np.concatenate(parts), values)
        return _texts(parts) if is_text else Blobs(_spans(parts))

    def _pages(self, view: memoryview) -> Iterator[_Page]:
        place = 0
        while place < len(view):
            reader = Reader(view, place)
            header = reader.struct()
            kind, size, stored = header[1], header[2], header[3]
            values = header[7 if kind == PageKind.DICTIONARY else 5]
            place = reader.place + stored
            if min(size, stored, values[1]) < 0 or place > len(view):
                raise ParquetError("a page is outside its column")
            self._budget.spend(max(size, _NUMBER_SIZE * values[1]))
            yield _Page(values[1], values[2], self._unpack(view[reader.place : place], size), kind)

    def _unpack(self, stored: memoryview, size: int) -> bytes:
        unpacker = zlib.decompressobj(GZIP_WINDOW)
        content = unpacker.decompress(stored, size + 1)
        if len(content) != size or not unpacker.eof:
            raise ParquetError("a page has another size than its header says")
        return content


def _flags(page: bytes, rows: int) -> Bools:
    bits = np.unpackbits(np.frombuffer(page, np.uint8), bitorder="little")
    return bits[:rows].astype(np.bool_)


def _numbers(page: bytes, rows: int) -> Ints:
    return _unpacked_deltas(page, rows)[0]


def _unpacked_deltas(page: bytes, rows: int) -> tuple[Ints, int]:
    """The values, and where they end in the page."""
    reader = Reader(memoryview(page))
    if (reader.varint(), reader.varint(), reader.varint()) != (BLOCK, MINI_BLOCKS, rows):
        raise ParquetError("a page has blocks of another size")
    first = reader.zigzag()
    if rows <= 1:
        return np.full(rows, first, np.int64), reader.place
    start = reader.place
    smallest, bits = reader.zigzag(), reader.byte()
    if bits not in range(8, 72, 8):
        raise ParquetError("the values of a page are not whole bytes")
    layout = Layout.of(zigzag(smallest), bits // 8, rows - 1)
    end = start + layout.size
    if end > len(page):
        raise ParquetError("a page is cut short")
    padded = np.zeros(layout.blocks * layout.block_size, np.uint8)
    padded[: layout.size] = np.frombuffer(page, np.uint8, layout.size, start)
    blocks = padded.reshape(layout.blocks, layout.block_size)
    if (blocks[:, : len(layout.head)] != np.frombuffer(layout.head, np.uint8)).any():
        raise ParquetError("the blocks of a page differ in width")
    values = np.empty(rows, np.int64)
    values[0] = first
    deltas = _whole_numbers(blocks[:, len(layout.head) :], layout.width)
    np.add(deltas[: rows - 1], np.int64(smallest), out=values[1:])
    return np.cumsum(values, out=values), end


def _whole_numbers(rows: npt.NDArray[np.uint8], width: int) -> Ints:
    """The numbers whose lowest bytes are in `rows`."""
    if width in (1, 2, 4):
        return np.ascontiguousarray(rows).view(f"<u{width}").reshape(-1).astype(np.int64)
    numbers = np.zeros((rows.size // width, 8), np.uint8)
    numbers[:, :width] = rows.reshape(-1, width)
    return numbers.view("<i8").reshape(-1)


def _text_page(page: bytes, rows: int) -> _Span:
    lengths, end = _unpacked_deltas(page, rows)
    size = len(page) - end
    # No length may be more than all of them, or their sum could wrap around.
    if rows and (lengths.min() < 0 or lengths.max() > size or lengths.sum() != size):
        raise ParquetError("the texts of a page are not as long as it says")
    return lengths, page[end:]


def _codes(page: bytes, rows: int) -> Ints:
    reader = Reader(memoryview(page))
    bits, run = reader.byte(), reader.varint()
    groups = -(-rows // 8)
    if bits not in range(8, 40, 8) or run != groups << 1 | 1:
        raise ParquetError("the codes of a page are not one run of whole bytes")
    codes = np.frombuffer(page, np.uint8, offset=reader.place)
    if len(codes) != groups * bits:
        raise ParquetError("a page is cut short")
    return _whole_numbers(codes, bits // 8)[:rows]


def _dictionary(page: bytes, rows: int) -> Strings:
    """The distinct texts of a column, each behind its length."""
    if rows * 4 > len(page):
        raise ParquetError("a dictionary is cut short")
    length_at = struct.Struct("<I").unpack_from
    starts, ends, place = [], [], 0
    for _ in range(rows):
        starts.append(place + 4)
        place += 4 + length_at(page, place)[0]
        ends.append(place)
    if place != len(page):
        raise ParquetError("the texts of a page are not as long as it says")
    spans = np.array([starts, ends], np.int64).reshape(2, -1)
    return Strings(text.decode() for text in _cut(page, *spans.tolist()))


def _cut(data: bytes, starts: list[int], ends: list[int]) -> Iterator[bytes]:
    return (data[start:end] for start, end in zip(starts, ends, strict=True))


def _coded(codes: Ints, values: Strings) -> Coded:
    if codes.max(initial=-1) >= len(values):
        raise ParquetError("a code has no value")
    return Coded(codes, values)


def _spans(parts: list[_Span]) -> Strings:
    offsets = offsets_of(np.concatenate([lengths for lengths, _ in parts]))
    return Strings.of_spans(b"".join([data for _, data in parts]), offsets[:-1], offsets[1:])


def _texts(parts: list[_Span]) -> Strings:
    texts = _spans(parts)
    if not texts.data.isascii():
        texts.data.decode()
        filled = texts.starts[texts.starts < texts.ends]
        first = np.frombuffer(texts.data, np.uint8)[filled]
        if (first & 0xC0 == 0x80).any():
            raise ParquetError("a text begins within a letter")
    return texts


_READERS: dict[tuple[int, int], Any] = {
    (Type.BOOLEAN, Encoding.PLAIN): _flags,
    (Type.INT64, Encoding.DELTA_BINARY_PACKED): _numbers,
    (Type.BYTE_ARRAY, Encoding.DELTA_LENGTH_BYTE_ARRAY): _text_page,
    (Type.BYTE_ARRAY, Encoding.RLE_DICTIONARY): _codes,
}
