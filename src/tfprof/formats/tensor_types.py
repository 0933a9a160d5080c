"""The element types of TensorFlow tensors, by their number in `types.proto`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[Any]
ByteOrder: TypeAlias = Literal["<", ">"]


@dataclass(frozen=True, slots=True)
class TensorType:
    """An element type: its number, its name and how it is stored."""

    number: int
    name: str
    stored: np.dtype[Any] | None = None
    """The numpy type of a stored value; `None` if values have no fixed width."""
    plain: Callable[[Values], Values] | None = None
    """Converts stored values of a type that numpy lacks to one that it supports."""

    @property
    def is_readable(self) -> bool:
        """Whether a tensor of this type has readable values; resources and variants have none."""
        return self.stored is not None or self.name == "string"

    def values(self, octets: bytes | bytearray | memoryview, order: ByteOrder = "<") -> Values:
        """The values stored in `octets`, converted to this machine's byte order."""
        stored = np.frombuffer(octets, self.width().newbyteorder(order))
        return self.made_plain(stored.astype(self.width(), copy=False))

    def values_of_bits(self, bits: NDArray[np.uint64]) -> Values:
        """The values whose stored form is in the lowest bits of each number."""
        stored = bits.astype(f"u{self.width().itemsize}").view(self.width())
        return self.made_plain(stored)

    def made_plain(self, stored: Values) -> Values:
        """Stored values in their usual type: bfloat16 as float32, bytes of 0 or 1 as bools."""
        return self.plain(stored) if self.plain else stored

    def width(self) -> np.dtype[Any]:
        """The numpy type of a stored value; raises `ValueError` if there is no fixed width."""
        if self.stored is None:
            raise ValueError(f"values of type `{self.name}` have no fixed width")
        return self.stored


def tensor_type(number: int) -> TensorType:
    """The type with that number; unknown numbers give a type without values."""
    return TENSOR_TYPES.get(number) or TensorType(number, f"type_{number}")


def named_type(name: str) -> TensorType:
    """The type with that name; unknown names give a type without values."""
    return next((kind for kind in TENSOR_TYPES.values() if kind.name == name), TensorType(0, name))


def bfloat16(stored: Values) -> Values:
    """The float32 values whose upper halves are stored."""
    return (stored.astype(np.uint32) << 16).view(np.float32)


def truth(stored: Values) -> Values:
    """True for every non-zero byte."""
    return stored.astype(np.bool_)


def small_int(bits: int, stored: Values) -> Values:
    """The signed numbers in the lowest `bits`."""
    half = 1 << bits - 1
    return ((stored.astype(np.int8) & 2 * half - 1) ^ half) - half


def small_uint(bits: int, stored: Values) -> Values:
    """The unsigned numbers in the lowest `bits`."""
    return stored & (1 << bits) - 1


def float8_e5m2(stored: Values) -> Values:
    """The float16 values whose upper halves are stored, as float32."""
    return (stored.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def float8(mantissa_bits: int, bias: int, nans: tuple[int, ...], stored: Values) -> Values:
    """The float32 values of 8-bit floats that have no infinities; `nans` lists their NaN codes."""
    codes = np.arange(256)
    exponent = (codes & 0x7F) >> mantissa_bits
    mantissa = codes & (1 << mantissa_bits) - 1
    leading_one = np.where(exponent > 0, 1 << mantissa_bits, 0)
    size = np.ldexp(mantissa + leading_one, np.maximum(exponent, 1) - bias - mantissa_bits)
    table: Values = np.where(codes & 0x80, -size, size).astype(np.float32)
    table[list(nans)] = np.nan
    return table.take(stored)


TENSOR_TYPES: Final = {
    kind.number: kind
    for kind in (
        TensorType(1, "float32", np.dtype("f4")),
        TensorType(2, "float64", np.dtype("f8")),
        TensorType(3, "int32", np.dtype("i4")),
        TensorType(4, "uint8", np.dtype("u1")),
        TensorType(5, "int16", np.dtype("i2")),
        TensorType(6, "int8", np.dtype("i1")),
        TensorType(7, "string"),
        TensorType(8, "complex64", np.dtype("c8")),
        TensorType(9, "int64", np.dtype("i8")),
        TensorType(10, "bool", np.dtype("u1"), truth),
        TensorType(11, "qint8", np.dtype("i1")),
        TensorType(12, "quint8", np.dtype("u1")),
        TensorType(13, "qint32", np.dtype("i4")),
        TensorType(14, "bfloat16", np.dtype("u2"), bfloat16),
        TensorType(15, "qint16", np.dtype("i2")),
        TensorType(16, "quint16", np.dtype("u2")),
        TensorType(17, "uint16", np.dtype("u2")),
        TensorType(18, "complex128", np.dtype("c16")),
        TensorType(19, "float16", np.dtype("f2")),
        TensorType(20, "resource"),
        TensorType(21, "variant"),
        TensorType(22, "uint32", np.dtype("u4")),
        TensorType(23, "uint64", np.dtype("u8")),
        TensorType(24, "float8_e5m2", np.dtype("u1"), float8_e5m2),
        TensorType(
            25, "float8_e4m3fn", np.dtype("u1"), functools.partial(float8, 3, 7, (0x7F, 0xFF))
        ),
        TensorType(26, "float8_e4m3fnuz", np.dtype("u1"), functools.partial(float8, 3, 8, (0x80,))),
        TensorType(
            27, "float8_e4m3b11fnuz", np.dtype("u1"), functools.partial(float8, 3, 11, (0x80,))
        ),
        TensorType(
            28, "float8_e5m2fnuz", np.dtype("u1"), functools.partial(float8, 2, 16, (0x80,))
        ),
        TensorType(29, "int4", np.dtype("u1"), functools.partial(small_int, 4)),
        TensorType(30, "uint4", np.dtype("u1"), functools.partial(small_uint, 4)),
        TensorType(31, "int2", np.dtype("u1"), functools.partial(small_int, 2)),
        TensorType(32, "uint2", np.dtype("u1"), functools.partial(small_uint, 2)),
    )
}
STRING: Final = TENSOR_TYPES[7]
