"""The protobuf wire format, one message level at a time and without a schema."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import Final, TypeAlias

from tfprof.formats.file_spans import FileBytes

Octets: TypeAlias = bytes | bytearray | memoryview | mmap | FileBytes
"""Types that can be decoded: anything where `data[at]` is an integer."""

VARINT: Final = 0
FIXED64: Final = 1
SPAN: Final = 2
FIXED32: Final = 5

KINDS: Final = frozenset((VARINT, FIXED64, SPAN, FIXED32))

LARGEST_FIELD: Final = (1 << 29) - 1


class WireError(ValueError):
    """The bytes are not a complete protobuf message, for `reason`, at byte `offset`."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"{reason} at byte {offset:,}")
        self.offset = offset
        self.reason = reason


def fields(
    data: Octets, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int, int, int]]:
    """Each field of the message in `data[start:end]`, as (number, wire type, value or start, end).

    The third item is the value of a `VARINT` (unsigned, see `signed`), `FIXED64` or `FIXED32`
    field, or the position of the first byte of a `SPAN`: a string, bytes, message or packed list.
    The fourth is where the field ends, so `data[third:fourth]` is the content of a span. Nothing
    is copied; call this again with the span of a nested message to read its fields.

    Raises `WireError` at the first field that is cut short or malformed, after yielding the fields
    before it.
    """
    at = start
    stop = len(data) if end is None else end
    if stop > len(data):
        raise WireError(len(data), f"the message ends {stop - len(data):,} bytes early,")
    while at < stop:
        # Most tags, lengths and values are one byte; the calls to `varint` are for the others.
        tag_at = at
        tag = data[at]
        at += 1
        if tag > 0x7F:
            tag, at = varint(data, tag_at, stop)
        kind = tag & 7
        if not 7 < tag <= LARGEST_TAG:
            raise WireError(tag_at, f"invalid field number {tag >> 3:,}")
        if kind in COUNTED:
            value_at = at
            value = data[at] if at < stop else 0x80
            at += 1
            if value > 0x7F:
                value, at = varint(data, value_at, stop)
            if kind == VARINT:
                yield tag >> 3, kind, value, at
                continue
            if value > stop - at:
                raise WireError(
                    value_at, f"a field of {value:,} bytes where only {stop - at:,} are left,"
                )
            yield tag >> 3, kind, at, at + value
            at += value
        else:
            value, at = fixed(data, tag_at, at, stop)
            yield tag >> 3, kind, value, at


LARGEST_TAG: Final = LARGEST_FIELD << 3 | 7
COUNTED: Final = frozenset((VARINT, SPAN))  # start with a varint: the value or the length


def varint(data: Octets, at: int, end: int | None = None) -> tuple[int, int]:
    """The base-128 number at `at`, truncated to 64 bits, and where it ends."""
    stop = len(data) if end is None else end
    value = shift = 0
    for byte in data[at : min(at + 10, stop)]:
        if byte < 0x80:
            return (value | byte << shift) & 0xFFFF_FFFF_FFFF_FFFF, at + shift // 7 + 1
        value |= (byte & 0x7F) << shift
        shift += 7
    if stop - at < 10:
        raise WireError(at, "the message ends inside a number")
    raise WireError(at, "a number longer than 10 bytes")


def encoded(number: int) -> bytes:
    """The base-128 encoding of a non-negative number."""
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def signed(value: int) -> int:
    """`value` as a signed int32 or int64: the upper half of the 64-bit range is negative."""
    return value - (1 << 64) if value >> 63 else value


def fixed(data: Octets, tag_at: int, at: int, stop: int) -> tuple[int, int]:
    """The fixed-width number at `at`, and where it ends."""
    kind = data[tag_at] & 7
    if kind not in FIXED_BYTES:
        raise WireError(tag_at, f"unsupported wire type {kind}")
    end = at + FIXED_BYTES[kind]
    if end > stop:
        raise WireError(at, "the message ends inside a number")
    return int.from_bytes(data[at:end], "little"), end


FIXED_BYTES: Final = {FIXED64: 8, FIXED32: 4}
