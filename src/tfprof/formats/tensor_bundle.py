"""V2 checkpoints: `PREFIX.index` locates each tensor's values in the `PREFIX.data-…` files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfprof.errors import InputError
from tfprof.formats import crc32c
from tfprof.formats.file_spans import file_size, read_span
from tfprof.formats.sorted_table import damaged, open_table
from tfprof.formats.tensor_types import STRING, ByteOrder, TensorType, Values, tensor_type
from tfprof.formats.tensors import (
    TensorEntry,
    TensorSlice,
    assembled,
    parse_name,
    parse_shape,
    parse_slice,
    signed_field,
)
from tfprof.formats.wire import FIXED32, SPAN, VARINT, WireError, fields, varint

HEADER_KEY: Final = b""
NEWEST_FORMAT: Final = 1
BYTE_ORDERS: Final[Mapping[int, ByteOrder]] = {0: "<", 1: ">"}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """The index entry of a tensor, or of one part of a partitioned tensor."""

    kind: TensorType
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int
    slices: tuple[TensorSlice, ...]


@dataclass(frozen=True, slots=True)
class TensorBundle:
    """A V2 checkpoint whose index has been read."""

    index: str
    prefix: str
    shards: int
    order: ByteOrder
    tensors: tuple[TensorEntry, ...]
    """Sorted by name."""
    stored: Mapping[bytes, StoredTensor]

    def read(self, name: str) -> Values:
        """The values of one tensor, checked against their checksums."""
        held = self.stored.get(name.encode(errors="surrogatepass"))
        if held is None:
            raise InputError(self.index, f"has no tensor `{name}`")
        if not held.kind.is_readable:
            raise InputError(
                self.index, f"stores `{name}` as {held.kind.name}, a type without values"
            )
        if not held.slices:
            return self.values(name, held)
        try:
            return self.whole(name, held)
        except ValueError as error:
            raise damaged(self.index, f"tensor `{name}` has {error}") from error

    def whole(self, name: str, held: StoredTensor) -> Values:
        """The values of a partitioned tensor."""
        parts = [self.part(name, held, piece) for piece in held.slices]
        room = sum(file_size(self.shard(number)) for number in {part.shard for part in parts})
        if sum(part.size for part in parts) > room:
            raise ValueError("parts larger than the files that contain them")
        values = [self.values(name, part) for part in parts]
        return assembled(held.shape, list(zip(held.slices, values, strict=True)))

    def part(self, name: str, held: StoredTensor, piece: TensorSlice) -> StoredTensor:
        """The index entry of one slice of a partitioned tensor."""
        part = self.stored.get(piece.key(name.encode()))
        if part is None or part.slices:
            raise ValueError("a slice without values")
        if part.kind != held.kind or part.shape != piece.shape(held.shape):
            raise ValueError("a slice whose type or shape does not fit")
        return part

    def values(self, name: str, held: StoredTensor) -> Values:
        """The values of a tensor or part that is stored in one piece."""
        path = self.shard(held.shard)
        try:
            check_size(held)
            octets = read_span(path, held.offset, held.size)
            flat = strings if held.kind == STRING else numbers
            return flat(held, octets, self.order).reshape(held.shape)
        except ValueError as error:
            where = f"tensor `{name}`, {held.size:,} bytes at byte {held.offset:,}"
            raise damaged(path, f"{where}: {error}") from error

    def shard(self, number: int) -> str:
        """The path of data file `number`."""
        return f"{self.prefix}.data-{number:05}-of-{self.shards:05}"


def open_bundle(index: str, prefix: str) -> TensorBundle:
    """Open the checkpoint with this index file, whose values are in `prefix` + `.data-…`."""
    held = dict(open_table(index).items())
    try:
        shards, order = parse_header(held.pop(HEADER_KEY, b""))
        stored = {key: parse_entry(key, value, shards) for key, value in held.items()}
        tensors = listed(stored)
    except ValueError as error:
        raise damaged(index, str(error)) from error
    return TensorBundle(index, prefix, shards, order, tensors, stored)


def parse_header(data: bytes) -> tuple[int, ByteOrder]:
    """The number of shards and the byte order in a `BundleHeaderProto`."""
    for number, kind, value, end in fields(data):
        if (number, kind) == (3, SPAN) and signed_field(data, value, end, 2, 0) > NEWEST_FORMAT:
            raise ValueError("it requires a newer reader")
    shards = signed_field(data, 0, len(data), 1, 0)
    order = signed_field(data, 0, len(data), 2, 0)
    if shards < 1 or order not in BYTE_ORDERS:
        raise ValueError("the header at the start of the checkpoint's index is missing")
    return shards, BYTE_ORDERS[order]


def parse_entry(key: bytes, data: bytes, shards: int) -> StoredTensor:
    """The `BundleEntryProto` stored under `key`."""
    try:
        stored = parse_stored(data)
    except WireError as error:
        raise ValueError(f"the entry of {key!r} has {error}") from error
    if stored.shard >= shards:
        raise ValueError(f"the entry of {key!r} refers to shard {stored.shard:,} of {shards:,}")
    return stored


def parse_stored(data: bytes) -> StoredTensor:
    """The fields of a `BundleEntryProto`."""
    plain: dict[tuple[int, int], int] = {}
    shape: tuple[int, ...] = ()
    slices: list[TensorSlice] = []
    for number, kind, value, end in fields(data):
        if (number, kind) == (2, SPAN):
            shape = parse_shape(data, value, end)
        elif (number, kind) == (7, SPAN):
            slices.append(parse_slice(data, value, end))
        else:
            plain[number, kind] = value
    return StoredTensor(
        kind=tensor_type(plain.get((1, VARINT), 0)),
        shape=shape,
        shard=plain.get((3, VARINT), 0),
        offset=plain.get((4, VARINT), 0),
        size=plain.get((5, VARINT), 0),
        checksum=plain.get((6, FIXED32), 0),
        slices=tuple(slices),
    )


def listed(stored: Mapping[bytes, StoredTensor]) -> tuple[TensorEntry, ...]:
    """Every tensor, sorted by name, without the parts of partitioned tensors."""
    parts = {piece.key(key) for key, held in stored.items() for piece in held.slices}
    return tuple(
        TensorEntry(parse_name(key), held.kind.name, held.shape, held.kind.number)
        for key, held in sorted(stored.items())
        if key not in parts
    )


def check_size(held: StoredTensor) -> None:
    """Raise `ValueError` if size and shape disagree, before allocating anything of that size."""
    count = math.prod(held.shape)
    if held.kind.stored is None:
        fits = count <= held.size  # the length of a string takes at least one byte
    else:
        fits = count * held.kind.stored.itemsize == held.size
    if not fits:
        raise ValueError(f"they cannot be {count:,} values of type `{held.kind.name}`")


def numbers(held: StoredTensor, octets: bytearray, order: ByteOrder) -> Values:
    """The values of a tensor with fixed-width elements."""
    check(crc32c.checksum(octets), held.checksum)
    return held.kind.values(octets, order)


def strings(held: StoredTensor, octets: bytearray, order: ByteOrder) -> Values:
    """The values of a string tensor, stored as all lengths, their checksum, then all text."""
    found = np.empty(math.prod(held.shape), np.object_)
    lengths: list[int] = []
    at = 0
    for _ in range(found.size):
        length, at = varint(octets, at)
        lengths.append(length)
    text = at + 4
    if text + sum(lengths) != held.size:
        raise ValueError("the lengths of its strings do not add up")
    check_strings(held, lengths, octets[at:], order)
    for position, length in enumerate(lengths):
        found[position] = bytes(octets[text : text + length])
        text += length
    return found


def check_strings(
    held: StoredTensor, lengths: list[int], rest: bytearray, order: ByteOrder
) -> None:
    """Verify a string tensor; its checksums cover the lengths at full width, not as stored."""
    endian: Final = "little" if order == "<" else "big"
    widths = (8 if length >> 32 else 4 for length in lengths)
    full_width = b"".join(
        length.to_bytes(width, endian) for length, width in zip(lengths, widths, strict=True)
    )
    crc = crc32c.checksum(full_width)
    check(crc, int.from_bytes(rest[:4], endian))
    check(crc32c.checksum(rest, crc), held.checksum)


def check(found: int, stored: int) -> None:
    """Raise `ValueError` if a checksum differs from the masked checksum stored with the values."""
    if found != crc32c.unmasked(stored):
        raise ValueError("they do not match their checksum")
