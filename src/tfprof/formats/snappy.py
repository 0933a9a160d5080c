"""Snappy's raw format, unpacked."""

from __future__ import annotations

from typing import Final

from tfprof.formats.wire import WireError, varint

LARGEST_GROWTH: Final = 22  # three bytes can stand for 64 at most


def unpacked(data: bytes | memoryview) -> bytes:
    """The bytes that `data` was packed from; `WireError` where it is not Snappy's."""
    length, at = varint(data, 0)
    if length > LARGEST_GROWTH * len(data):
        raise WireError(0, f"{len(data):,} bytes said to unpack to {length:,}")
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
            raise WireError(start, "a piece reaches past the end")
    if len(output) != length:
        raise WireError(at, f"{length:,} bytes said to unpack, and {len(output):,} did,")
    return bytes(output)


def literal(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """How many bytes stand here as they are, and where the first is."""
    size = data[at] >> 2
    if size < 60:
        return size + 1, at + 1
    end = at + 1 + size - 59
    return int.from_bytes(data[at + 1 : end], "little") + 1, end


def copy(data: bytes | memoryview, at: int) -> tuple[int, int, int]:
    """How many bytes to repeat, from how far back, and where the next piece starts."""
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
    """Append `count` bytes that start `back` before the end, which may be among the appended."""
    if not 0 < back <= len(output):
        raise WireError(at, f"a copy from {back:,} bytes back where there are {len(output):,}")
    first = len(output) - back
    pattern = output[first : first + count]
    output += (pattern * (count // len(pattern) + 1))[:count]
