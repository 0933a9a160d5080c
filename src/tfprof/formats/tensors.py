"""Tensors of a checkpoint of either generation: their types, shapes and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfprof.formats.tensor_types import Values
from tfprof.formats.wire import SPAN, VARINT, Octets, WireError, fields, signed

WHOLE_LENGTH: Final = -1
"""Means all of a dimension, both in a slice and in the key of its values."""

LARGEST_RANK: Final = 254
LARGEST_SIZE: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor of a checkpoint, without its values."""

    name: str
    dtype: str
    """The name of the type, such as `float32`, `bfloat16` or `string`."""
    shape: tuple[int, ...]
    dtype_number: int
    """The number of the type in TensorFlow's enum `DataType`."""

    @property
    def size(self) -> int:
        """The number of values; a scalar has one."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """A box within a tensor: its start and length in each dimension."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def box(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """Index of this slice in a tensor of that shape; raises `ValueError` if it does not fit."""
        if len(self.starts) != len(shape):
            raise ValueError(
                f"a slice with {len(self.starts)} dimensions where the shape has {len(shape)}"
            )
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
        """Reshape flat values to this slice; raises `ValueError` if their number does not match."""
        count = math.prod(self.shape(whole))
        if values.size != count:
            raise ValueError(f"a part with {values.size:,} values instead of {count:,}")
        return values.reshape(self.shape(whole))

    def key(self, name: bytes) -> bytes:
        """The key of this slice of the tensor `name` in a checkpoint's table."""
        code = ordered_uint(0) + ordered_bytes(name) + ordered_uint(len(self.starts))
        for start, length in zip(self.starts, self.lengths, strict=True):
            code += ordered_int(start) + ordered_int(length)
        return code


def assembled(shape: tuple[int, ...], parts: Sequence[tuple[TensorSlice, Values]]) -> Values:
    """The tensor made of these parts; raises `ValueError` unless they cover it exactly once."""
    if not parts:
        raise ValueError("no parts")
    boxes = [part.box(shape) for part, _ in parts]
    count = sum(values.size for _, values in parts)
    if count != math.prod(shape):
        raise ValueError(f"{count:,} values in its parts but {math.prod(shape):,} in its shape")
    shaped = [part.shaped(values, shape) for part, values in parts]
    if len(shaped) == 1:
        return shaped[0].reshape(shape)
    # From here on, allocations are no larger than the values already read.
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
        raise ValueError(f"the name {name!r} is not valid UTF-8") from error


def parse_shape(data: Octets, start: int, end: int) -> tuple[int, ...]:
    """The sizes in a `TensorShapeProto`."""
    sizes = []
    for number, kind, value, after in fields(data, start, end):
        if (number, kind) == (2, SPAN):
            sizes.append(signed_field(data, value, after, 1, 0))
        elif number == 3 and value:
            raise WireError(start, "a shape of unknown rank")
    if any(size < 0 for size in sizes):
        raise WireError(start, "a shape with an unknown dimension")
    if len(sizes) > LARGEST_RANK or math.prod(sizes) > LARGEST_SIZE:
        raise WireError(start, "a shape larger than TensorFlow's own limits")
    return tuple(sizes)


def parse_slice(data: Octets, start: int, end: int) -> TensorSlice:
    """The box in a `TensorSliceProto`; a dimension without a length is covered completely."""
    sides = [
        (signed_field(data, value, after, 1, 0), signed_field(data, value, after, 2, WHOLE_LENGTH))
        for number, kind, value, after in fields(data, start, end)
        if (number, kind) == (1, SPAN)
    ]
    return TensorSlice(tuple(first for first, _ in sides), tuple(length for _, length in sides))


def signed_field(data: Octets, start: int, end: int, number: int, default: int) -> int:
    """The last value of an int64 field, or `default` if the message does not have it."""
    found = default
    for here, kind, value, _ in fields(data, start, end):
        if (here, kind) == (number, VARINT):
            found = signed(value)
    return found


def ordered_uint(value: int) -> bytes:
    """Encode a non-negative number so that the bytes sort like the numbers."""
    width = (value.bit_length() + 7) // 8
    return bytes([width]) + value.to_bytes(width, "big")


def ordered_bytes(text: bytes) -> bytes:
    """Encode a string so that the bytes sort like the strings and mark their end."""
    pieces = (piece.replace(b"\xff", b"\xff\x00") for piece in text.split(b"\x00"))
    return b"\x00\xff".join(pieces) + b"\x00\x01"


def ordered_int(value: int) -> bytes:
    """Encode a signed number so that the bytes sort like the numbers.

    The code starts with as many one bits as it has bytes, and holds seven bits of the number per
    byte.
    """
    magnitude = ~value if value < 0 else value
    width = magnitude.bit_length() // 7 + 1
    bits = 8 * width
    header = ((1 << width) - 1) << (bits - width)
    return ((value & ((1 << bits) - 1)) ^ header).to_bytes(width, "big")
