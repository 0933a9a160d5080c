"""The protobuf wire format, one message level at a time and without a schema."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import Final, TypeAlias

from tfprof.formats.file_spans import FileBytes

Octets: TypeAlias = bytes | bytearray | memoryview | mmap | FileBytes
"""What can be walked: anything that gives an integer for `data[at]`."""

VARINT: Final = 0
FIXED64: Final = 1
SPAN: Final = 2
FIXED32: Final = 5

LARGEST_FIELD: Final = (1 << 29) - 1


class WireError(ValueError):
    """The bytes are not a whole protobuf message: `reason` holds at byte `offset`."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"{reason} at byte {offset:,}")
        self.offset = offset
        self.reason = reason


def fields(
    data: Octets, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int, int, int]]:
    """Each field of the message in `data[start:end]`, as (number, wire type, value or start, end).

    The third item is the value of a `VARINT` (unsigned, see `signed`), `FIXED64` or `FIXED32`
    field, and the first byte of a `SPAN`: a string, bytes, message or packed list. The fourth is
    where the field ends, so `data[third:fourth]` is a span's content. Nothing is copied, and a
    message within is walked by asking again for its span.

    Raises `WireError` on reaching a field that is cut short or malformed; those before it have
    been given by then.
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
            raise WireError(tag_at, f"field number {tag >> 3:,}, which no message has,")
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
                raise WireError(value_at, f"{value:,} bytes said to follow, and {stop - at:,} do,")
            yield tag >> 3, kind, at, at + value
            at += value
        else:
            value, at = fixed(data, tag_at, at, stop)
            yield tag >> 3, kind, value, at


LARGEST_TAG: Final = LARGEST_FIELD << 3 | 7
COUNTED: Final = frozenset((VARINT, SPAN))  # begin with a number: the value, or the length


def varint(data: Octets, at: int, end: int | None = None) -> tuple[int, int]:
    """The number whose base-128 digits start at `at`, and where it ends; of 64 bits at most."""
    stop = len(data) if end is None else end
    value = shift = 0
    for byte in data[at : min(at + 10, stop)]:
        if byte < 0x80:
            return (value | byte << shift) & 0xFFFF_FFFF_FFFF_FFFF, at + shift // 7 + 1
        value |= (byte & 0x7F) << shift
        shift += 7
    if stop - at < 10:
        raise WireError(at, "the message ends inside a number")
    raise WireError(at, "a number of more than 10 bytes")


def encoded(number: int) -> bytes:
    """The base-128 digits of a number that is not negative."""
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def signed(value: int) -> int:
    """The int32 or int64 that `value` stands for: the upper half of 64 bits is negative."""
    return value - (1 << 64) if value >> 63 else value


def fixed(data: Octets, tag_at: int, at: int, stop: int) -> tuple[int, int]:
    """The number of fixed width that starts at `at`, and where it ends."""
    kind = data[tag_at] & 7
    if kind not in FIXED_BYTES:
        raise WireError(tag_at, f"wire type {kind}, which is not in use,")
    end = at + FIXED_BYTES[kind]
    if end > stop:
        raise WireError(at, "the message ends inside a number")
    return int.from_bytes(data[at:end], "little"), end


FIXED_BYTES: Final = {FIXED64: 8, FIXED32: 4}
