"""Thrift's compact protocol, as far as the metadata of a Parquet file needs it.

A struct is a mapping from field numbers, in ascending order, to integers, bytes, structs or lists.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from tfprof.formats.wire import encoded as varint

Struct: TypeAlias = dict[int, Any]

_TRUE, _FALSE, _BYTE, _INT16, _INT32, _INT64, _DOUBLE, _BINARY, _LIST, _, _, _STRUCT = range(1, 13)
_LONG_LIST = 15
_DEEPEST = 16
_MOST_DIGITS = 10


class ThriftError(ValueError):
    """Bytes that are not what the protocol allows."""


class Long(int):
    """A 64-bit integer; plain `int`s are written as 32-bit integers."""


def encode(struct: Struct) -> bytes:
    """The bytes of `struct`."""
    out, last = bytearray(), 0
    for number, value in struct.items():
        out.append((number - last) << 4 | _type(value))
        last = number
        out += _encoded(value)
    out.append(0)
    return bytes(out)


def zigzag(value: int) -> bytes:
    """A signed integer."""
    return varint(value << 1 ^ value >> 63)


def _type(value: Any) -> int:
    for kind, number in ((Long, _INT64), (int, _INT32), (bytes, _BINARY), (dict, _STRUCT)):
        if isinstance(value, kind):
            return number
    return _LIST


def _encoded(value: Any) -> bytes:
    if isinstance(value, int):
        return zigzag(value)
    if isinstance(value, bytes):
        return varint(len(value)) + value
    if isinstance(value, dict):
        return encode(value)
    kind = _type(value[0]) if value else _STRUCT
    if len(value) < _LONG_LIST:
        head = bytes([len(value) << 4 | kind])
    else:
        head = bytes([_LONG_LIST << 4 | kind]) + varint(len(value))
    return head + b"".join(map(_encoded, value))


class Reader:
    """Reads integers and structs, one after the other."""

    def __init__(self, data: memoryview, place: int = 0) -> None:
        self._data = data
        self.place = place

    def byte(self) -> int:
        return self._take(1)[0]

    def varint(self) -> int:
        """An unsigned integer."""
        value = 0
        for digit in range(_MOST_DIGITS):
            byte = self.byte()
            value |= (byte & 0x7F) << 7 * digit
            if byte < 0x80:
                return value
        raise ThriftError("a number has too many digits")

    def zigzag(self) -> int:
        """A signed integer of 64 bits."""
        value = self.varint() & (1 << 64) - 1
        return value >> 1 ^ -(value & 1)

    def struct(self, depth: int = 0) -> Struct:
        if depth > _DEEPEST:
            raise ThriftError("structs are nested too deeply")
        found: Struct = {}
        number = 0
        while header := self.byte():
            number = number + (header >> 4) if header >> 4 else self.zigzag()
            kind = header & 15
            found[number] = kind == _TRUE if kind <= _FALSE else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_INT16, _INT32, _INT64):
            return self.zigzag()
        if kind == _BINARY:
            return self._take(self.varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind == _LIST:
            return self._list(depth)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self.byte()
        if kind == _DOUBLE:
            return self._take(8)
        raise ThriftError(f"unknown field type {kind}")

    def _list(self, depth: int) -> list[Any]:
        header = self.byte()
        count, kind = header >> 4, header & 15
        if count == _LONG_LIST:
            count = self.varint()
        # Each element takes at least one byte, so a damaged count cannot make this long.
        if count > len(self._data) - self.place:
            raise ThriftError("a list ends early")
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _take(self, count: int) -> bytes:
        if count > len(self._data) - self.place:
            raise ThriftError("the metadata ends early")
        self.place += count
        return bytes(self._data[self.place - count : self.place])
