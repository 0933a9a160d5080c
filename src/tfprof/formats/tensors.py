"""What checkpoints of both generations say about a tensor: its type, its shape and its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfprof.formats.tensor_types import Values
from tfprof.formats.wire import SPAN, VARINT, Octets, WireError, fields, signed

WHOLE_LENGTH: Final = -1
"""Stands for all of a dimension, in a slice and in the key of its values."""

LARGEST_RANK: Final = 254
LARGEST_SIZE: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor of a checkpoint, its values not yet read."""

    name: str
    dtype: str
    """The type as a word, like `float32`, `bfloat16` or `string`."""
    shape: tuple[int, ...]
    dtype_number: int
    """The type as TensorFlow's enum `DataType` numbers it."""

    @property
    def size(self) -> int:
        """How many values it has; a scalar has one."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """A box within a tensor: where it starts and how long it is, for each dimension."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def box(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """The place of this slice in a tensor of that shape; `ValueError` if it does not fit."""
        if len(self.starts) != len(shape):
            raise ValueError(f"a slice of {len(self.starts)} dimensions in {len(shape)}")
        sides = []
        for start, length, size in zip(self.starts, self.lengths, shape, strict=True):
            end = size if length == WHOLE_LENGTH else start + length
            if not 0 <= start <= end <= size:
                raise ValueError(f"a slice from {start:,} to {end:,} in a dimension of {size:,}")
            sides.append(slice(start, end))
        return tuple(sides)

    def shape(self, whole: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of this slice in a tensor of the shape `whole`."""
        return tuple(side.stop - side.start for side in self.box(whole))

    def shaped(self, values: Values, whole: tuple[int, ...]) -> Values:
        """A row of values in the shape of this slice; `ValueError` if they are too many or few."""
        count = math.prod(self.shape(whole))
        if values.size != count:
            raise ValueError(f"{values.size:,} values in a part of {count:,}")
        return values.reshape(self.shape(whole))

    def key(self, name: bytes) -> bytes:
        """The key under which a checkpoint's table holds this slice of the tensor `name`."""
        code = ordered_uint(0) + ordered_bytes(name) + ordered_uint(len(self.starts))
        for start, length in zip(self.starts, self.lengths, strict=True):
            code += ordered_int(start) + ordered_int(length)
        return code


def assembled(shape: tuple[int, ...], parts: Sequence[tuple[TensorSlice, Values]]) -> Values:
    """The tensor whose parts these are; `ValueError` unless they cover it, each value once."""
    boxes = [part.box(shape) for part, _ in parts]
    count = sum(values.size for _, values in parts)
    if count != math.prod(shape):
        raise ValueError(f"{count:,} values in its parts where its shape has {math.prod(shape):,}")
    shaped = [part.shaped(values, shape) for part, values in parts]
    if len(shaped) == 1:
        return shaped[0].reshape(shape)
    # From here on, what is allocated is no larger than what has been read.
    whole = np.empty(shape, shaped[0].dtype)
    covered = np.zeros(shape, np.bool_)
    for box, values in zip(boxes, shaped, strict=True):
        whole[box] = values
        covered[box] = True
    if not covered.all():
        raise ValueError("parts that overlap and leave a gap")
    return whole


def parse_name(name: bytes) -> str:
    """The name of a tensor as text."""
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"the name {name!r} is not text") from error


def parse_shape(data: Octets, start: int, end: int) -> tuple[int, ...]:
    """The sizes in a `TensorShapeProto`."""
    sizes = []
    for number, kind, value, after in fields(data, start, end):
        if (number, kind) == (2, SPAN):
            sizes.append(signed_field(data, value, after, 1, 0))
        elif number == 3 and value:
            raise WireError(start, "a shape of unknown rank")
    if any(size < 0 for size in sizes):
        raise WireError(start, "a shape with an unknown side")
    if len(sizes) > LARGEST_RANK or math.prod(sizes) > LARGEST_SIZE:
        raise WireError(start, "a shape larger than TensorFlow's own limits")
    return tuple(sizes)


def parse_slice(data: Octets, start: int, end: int) -> TensorSlice:
    """The box in a `TensorSliceProto`; a side without a length is a whole one."""
    sides = [
        (signed_field(data, value, after, 1, 0), signed_field(data, value, after, 2, WHOLE_LENGTH))
        for number, kind, value, after in fields(data, start, end)
        if (number, kind) == (1, SPAN)
    ]
    return TensorSlice(tuple(first for first, _ in sides), tuple(length for _, length in sides))


def signed_field(data: Octets, start: int, end: int, number: int, default: int) -> int:
    """The last value of an int64 field, or `default` where the message does not have it."""
    found = default
    for here, kind, value, _ in fields(data, start, end):
        if (here, kind) == (number, VARINT):
            found = signed(value)
    return found


def ordered_uint(value: int) -> bytes:
    """A number of zero or more, in a code that sorts as the numbers do."""
    width = (value.bit_length() + 7) // 8
    return bytes([width]) + value.to_bytes(width, "big")


def ordered_bytes(text: bytes) -> bytes:
    """A string, in a code that sorts as the strings do and shows where it ends."""
    pieces = (piece.replace(b"\xff", b"\xff\x00") for piece in text.split(b"\x00"))
    return b"\x00\xff".join(pieces) + b"\x00\x01"


def ordered_int(value: int) -> bytes:
    """A number of either sign, in a code that sorts as the numbers do.

    It has seven bits of the number to the byte, after as many ones as there are bytes.
    """
    magnitude = ~value if value < 0 else value
    width = magnitude.bit_length() // 7 + 1
    bits = 8 * width
    header = ((1 << width) - 1) << (bits - width)
    return ((value & ((1 << bits) - 1)) ^ header).to_bytes(width, "big")
