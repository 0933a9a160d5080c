"""Read a span of a file, with clear errors if the file is too short."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final, overload

from tfprof.errors import InputError


def is_file(path: str | Path) -> bool:
    """Whether there is a regular file at `path`; False if the path cannot be accessed."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def file_size(path: str | Path) -> int:
    """The size of the file at `path` in bytes; raises `InputError` if it is not accessible."""
    try:
        if not Path(path).is_file() and Path(path).exists():
            raise InputError(path, "is a folder or a device, not a file")
        return Path(path).stat().st_size
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def read_span(path: str | Path, offset: int, size: int) -> bytearray:
    """The `size` bytes at `offset`; raises `InputError` if the file ends before them."""
    available = file_size(path)
    if offset + size > available:
        raise cut_short(path, offset + size, available)
    buffer = bytearray(size)
    try:
        with Path(path).open("rb") as file:
            file.seek(offset)
            count = file.readinto(buffer)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if count != size:
        raise cut_short(path, offset + size, offset + count)
    return buffer


class FileBytes:
    """The bytes of an open file, read on access.

    If the file shrinks in the meantime, the missing bytes are zero.
    """

    __slots__ = ("_block", "_file", "_size", "_start")
    _BLOCK: Final = 65_536

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size
        self._start, self._block = 0, b""

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    def __getitem__(self, at: int | slice) -> int | bytes:
        if isinstance(at, slice):
            start, stop, _ = at.indices(self._size)
            return self._piece(start, max(stop - start, 0))
        if not 0 <= at < self._size:
            raise IndexError(at)
        place = at - self._start
        if not 0 <= place < len(self._block):
            block = self._piece(at, min(self._BLOCK, self._size - at))
            self._start, self._block, place = at, block, 0
        return self._block[place]

    def _piece(self, start: int, size: int) -> bytes:
        place = start - self._start
        if place >= 0 and place + size <= len(self._block):
            return self._block[place : place + size]
        self._file.seek(start)
        return self._file.read(size).ljust(size, b"\0")


def unreadable(path: str | Path, error: Exception) -> InputError:
    """The error for a file that cannot be read or a path that is invalid."""
    if isinstance(error, FileNotFoundError):
        return InputError(path, "is missing; copy it there or pass another path")
    return InputError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def cut_short(path: str | Path, expected: int, available: int) -> InputError:
    """The error for a file that ends too early."""
    return InputError(
        path, f"ends at byte {available:,} of at least {expected:,}; was it copied fully?"
    )
