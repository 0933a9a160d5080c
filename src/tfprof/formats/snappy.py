"""Unpack Snappy's raw format."""

from __future__ import annotations

from typing import Final

from tfprof.formats.wire import WireError, varint

LARGEST_GROWTH: Final = 22  # three bytes unpack to at most 64


def unpacked(data: bytes | memoryview) -> bytes:
    """The unpacked bytes; raises `WireError` if `data` is not valid Snappy."""
    length, at = varint(data, 0)
    if length > LARGEST_GROWTH * len(data):
        raise WireError(0, f"{len(data):,} bytes cannot unpack to {length:,}")
    output = bytearray()
    while at < len(data):
        start = at
        if data[at] & 3:
            count, back, at = copy(data, at)
            repeat(output, count, back, start)
        else:
            count, at = literal(data, at)
            output += data[at : at + count]
            at += count
        if at > len(data) or len(output) > length:
            raise WireError(start, "a piece extends past the end")
    if len(output) != length:
        raise WireError(at, f"unpacked {len(output):,} bytes instead of {length:,}")
    return bytes(output)


def literal(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The length of the literal at `at`, and where its bytes start."""
    size = data[at] >> 2
    if size < 60:
        return size + 1, at + 1
    end = at + 1 + size - 59
    return int.from_bytes(data[at + 1 : end], "little") + 1, end


def copy(data: bytes | memoryview, at: int) -> tuple[int, int, int]:
    """The length of the copy at `at`, how far back it starts, and where the next piece starts."""
    tag = data[at]
    width = (0, 1, 2, 4)[tag & 3]
    end = at + 1 + width
    if end > len(data):
        raise WireError(at, "the stream ends inside a copy")
    back = int.from_bytes(data[at + 1 : end], "little")
    if width == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | back, end
    return (tag >> 2) + 1, back, end


def repeat(output: bytearray, count: int, back: int, at: int) -> None:
    """Append `count` bytes copied from `back` bytes before the end; the two may overlap."""
    if not 0 < back <= len(output):
        raise WireError(at, f"a copy from {back:,} bytes back, but only {len(output):,} exist,")
    first = len(output) - back
    pattern = output[first : first + count]
    output += (pattern * (count // len(pattern) + 1))[:count]
