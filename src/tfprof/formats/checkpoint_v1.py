"""V1 checkpoints: one or more sorted tables that hold both names and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tfprof.errors import InputError
from tfprof.formats.sorted_table import SortedTable, damaged, open_table
from tfprof.formats.tensor_types import STRING, TensorType, Values, tensor_type
from tfprof.formats.tensors import (
    TensorEntry,
    TensorSlice,
    assembled,
    parse_name,
    parse_shape,
    parse_slice,
    signed_field,
)
from tfprof.formats.wire import FIXED_BYTES, SPAN, VARINT, WireError, fields

META_KEY: Final = b""
NEWEST_FORMAT: Final = 1

CONTENT_FIELD: Final = 4
VALUE_FIELDS: Final[Mapping[str, int]] = {
    "float32": 5,
    "float64": 6,
    "int32": 7,
    "int16": 7,
    "int8": 7,
    "uint16": 7,
    "uint8": 7,
    "qint32": 7,
    "qint16": 7,
    "qint8": 7,
    "quint16": 7,
    "quint8": 7,
    "string": 8,
    "complex64": 9,
    "int64": 10,
    "bool": 11,
    "complex128": 12,
    "float16": 13,
    "bfloat16": 13,
    "uint32": 16,
    "uint64": 17,
}
"""The field of a `TensorProto` that holds its values, by element type."""
FIXED_WIDTH_FIELDS: Final = frozenset((5, 6, 9, 12))


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """One tensor: its type, its shape, and the table that holds the values of each part."""

    kind: TensorType
    shape: tuple[int, ...]
    parts: Mapping[TensorSlice, SortedTable]


@dataclass(frozen=True, slots=True)
class CheckpointV1:
    """A V1 checkpoint whose names have been read."""

    path: str
    tensors: tuple[TensorEntry, ...]
    """Sorted by name."""
    saved: Mapping[str, SavedTensor]

    def read(self, name: str) -> Values:
        """The values of one tensor, checked against their checksums."""
        tensor = self.saved.get(name)
        if tensor is None:
            raise InputError(self.path, f"has no tensor `{name}`")
        if tensor.kind.name not in VALUE_FIELDS:
            raise InputError(
                self.path, f"stores `{name}` as {tensor.kind.name}, a type without values"
            )
        try:
            return assembled(tensor.shape, list(parts(name, tensor)))
        except ValueError as error:
            raise damaged(self.path, f"tensor `{name}` has {error}") from error


def open_v1(paths: Sequence[str]) -> CheckpointV1:
    """Open the checkpoint in these files, reading only names, types and shapes."""
    saved: dict[str, SavedTensor] = {}
    for path in paths:
        table = open_table(path)
        meta = table.get(META_KEY)
        if meta is None:
            raise damaged(path, "the list of tensors at the start of the checkpoint is missing")
        try:
            for name, tensor in saved_tensors(meta, table):
                saved[name] = joined(name, saved.get(name), tensor)
        except ValueError as error:
            raise damaged(path, str(error)) from error
    tensors = tuple(
        TensorEntry(name, tensor.kind.name, tensor.shape, tensor.kind.number)
        for name, tensor in sorted(saved.items())
    )
    return CheckpointV1(paths[0], tensors, saved)


def saved_tensors(data: bytes, table: SortedTable) -> Iterator[tuple[str, SavedTensor]]:
    """The tensors listed in the `SavedTensorSlices` of one table, with the parts it holds."""
    for start, end in spans(data, 0, len(data), 1):
        for number, kind, value, after in fields(data, start, end):
            if (number, kind) == (1, SPAN):
                yield saved_tensor(data, value, after, table)
            elif (number, kind) == (2, SPAN):
                check_version(data, value, after)


def saved_tensor(data: bytes, start: int, end: int, table: SortedTable) -> tuple[str, SavedTensor]:
    """The name and description of the tensor in a `SavedSliceMeta`."""
    name = b""
    shape: tuple[int, ...] = ()
    slices: list[TensorSlice] = []
    for number, kind, value, after in fields(data, start, end):
        if (number, kind) == (1, SPAN):
            name = data[value:after]
        elif (number, kind) == (2, SPAN):
            shape = parse_shape(data, value, after)
        elif (number, kind) == (4, SPAN):
            slices.append(parse_slice(data, value, after))
    held = tensor_type(signed_field(data, start, end, 3, 0))
    return parse_name(name), SavedTensor(held, shape, dict.fromkeys(slices, table))


def check_version(data: bytes, start: int, end: int) -> None:
    """Raise `ValueError` if a `VersionDef` requires a newer reader."""
    if signed_field(data, start, end, 2, 0) > NEWEST_FORMAT:
        raise ValueError("it requires a newer reader")


def joined(name: str, known: SavedTensor | None, more: SavedTensor) -> SavedTensor:
    """One tensor with its parts from two tables."""
    if known is None:
        return more
    if (known.kind, known.shape) != (more.kind, more.shape):
        raise ValueError(f"tensor `{name}` has a different type or shape in an earlier file")
    return SavedTensor(known.kind, known.shape, {**known.parts, **more.parts})


def parts(name: str, tensor: SavedTensor) -> Iterator[tuple[TensorSlice, Values]]:
    """Each part of a tensor, with its values."""
    keys = {part: part.key(name.encode()) for part in tensor.parts}
    for table in {table.path: table for table in tensor.parts.values()}.values():
        here = [part for part, holder in tensor.parts.items() if holder is table]
        found = table.find(keys[part] for part in here)
        for part in here:
            if keys[part] not in found:
                raise ValueError(f"a part without values in {table.path}")
            yield part, saved_values(found[keys[part]], tensor.kind)


def saved_values(data: bytes, kind: TensorType) -> Values:
    """The values of the `TensorProto` in a `SavedTensorSlices`, as a flat array."""
    for slice_start, slice_end in spans(data, 0, len(data), 2):
        for start, end in spans(data, slice_start, slice_end, 3):
            return tensor_values(data, start, end, kind)
    raise ValueError("a part without values")


def tensor_values(data: bytes, start: int, end: int, kind: TensorType) -> Values:
    """The values of a `TensorProto` with elements of type `kind`, as a flat array."""
    field = VALUE_FIELDS[kind.name]
    if kind == STRING:
        texts = [data[first:after] for first, after in spans(data, start, end, field)]
        found = np.empty(len(texts), np.object_)
        found[:] = texts
        return found
    for first, after in spans(data, start, end, CONTENT_FIELD):
        return kind.values(data[first:after])
    if field in FIXED_WIDTH_FIELDS:
        return kind.values(fixed_width(data, start, end, field))
    return kind.values_of_bits(varying_width(data, start, end, field))


def fixed_width(data: bytes, start: int, end: int, field: int) -> bytes:
    """The bytes of a repeated fixed-width field, packed or not."""
    pieces = []
    for number, kind, value, after in fields(data, start, end):
        if number == field and kind == SPAN:
            pieces.append(data[value:after])
        elif number == field and kind in FIXED_BYTES:
            pieces.append(data[after - FIXED_BYTES[kind] : after])
    return b"".join(pieces)


def varying_width(data: bytes, start: int, end: int, field: int) -> NDArray[np.uint64]:
    """The bits of a repeated varint field, packed or not."""
    pieces = [np.empty(0, np.uint64)]
    for number, kind, value, after in fields(data, start, end):
        if number == field and kind == SPAN:
            pieces.append(packed_varints(data[value:after]))
        elif number == field and kind == VARINT:
            pieces.append(np.array([value], np.uint64))
    return np.concatenate(pieces)


def packed_varints(data: bytes) -> NDArray[np.uint64]:
    """The consecutive base-128 varints in `data`."""
    octets = np.frombuffer(data, np.uint8)
    lasts = np.flatnonzero(octets < 0x80)
    firsts = np.concatenate([[0], lasts + 1])
    if firsts[-1] != octets.size:
        raise WireError(int(firsts[-1]), "the list ends inside a number")
    lengths = np.diff(firsts)
    values = np.zeros(lasts.size, np.uint64)
    for digit in range(int(lengths.max(initial=0))):
        if digit == 10:
            raise WireError(int(firsts[lengths.argmax()]), "a number longer than 10 bytes")
        longer = np.flatnonzero(lengths > digit)
        bits = octets[firsts[longer] + digit] & np.uint8(0x7F)
        values[longer] |= bits.astype(np.uint64) << np.uint64(7 * digit)
    return values


def spans(data: bytes, start: int, end: int, field: int) -> Iterator[tuple[int, int]]:
    """The start and end of each string or message in one field of a message."""
    for number, kind, value, after in fields(data, start, end):
        if (number, kind) == (field, SPAN):
            yield value, after
