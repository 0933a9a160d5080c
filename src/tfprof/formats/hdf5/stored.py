"""The bytes of an HDF5 file, of which only a limited amount is read.

Files are not trusted. Every structure must be inside the file, and the bytes that are read, some of
them several times, are limited by the size of the file: so loops end, and time and memory are
proportional to the file.
"""

from __future__ import annotations

import io
from typing import BinaryIO, Final

# How many times the size of the file may be read in total, and how many bytes more.
_MOST_TIMES: Final = 16
_HARMLESS: Final = 1 << 22
_LEAST_READ: Final = 32  # what a short read counts


class Hdf5Error(ValueError):
    """A file that is damaged, or that has structures which Keras does not write."""


class Cursor:
    """Reads the fields of a structure one after the other."""

    def __init__(self, data: bytes, offset_size: int, length_size: int) -> None:
        self._data, self._at = data, 0
        self._offset_size, self._length_size = offset_size, length_size

    def take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if len(piece) != size:
            raise Hdf5Error("a structure is cut short")
        self._at += size
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def numbers(self, *sizes: int) -> list[int]:
        return [self.number(size) for size in sizes]

    def offset(self) -> int:
        """The position of something in the file."""
        return self.number(self._offset_size)

    def length(self) -> int:
        return self.number(self._length_size)

    def rest(self) -> bytes:
        return self._data[self._at :]

    def align(self) -> None:
        """Skip to the next multiple of eight bytes."""
        self._at += -self._at % 8

    def __len__(self) -> int:
        """How many bytes are left."""
        return max(len(self._data) - self._at, 0)


class StoredBytes:
    """The file; the sizes of its offsets and lengths are known once its start was read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, io.SEEK_END)
        self._left = _HARMLESS + _MOST_TIMES * self.size
        self.offset_size = self.length_size = 8

    @property
    def undefined(self) -> int:
        """The offset of something that the file does not have."""
        return (1 << 8 * self.offset_size) - 1

    def cursor(self, data: bytes) -> Cursor:
        return Cursor(data, self.offset_size, self.length_size)

    def read(self, at: int, size: int) -> bytes:
        self._left -= max(size, _LEAST_READ)
        if size < 0 or at + size > self.size:
            raise Hdf5Error(f"it ends at byte {self.size:,} of at least {at + size:,}")
        if self._left < 0:
            raise Hdf5Error(f"its structures refer to more than {_MOST_TIMES} times its size")
        self._file.seek(at)
        data = self._file.read(size)
        if len(data) != size:
            raise Hdf5Error("it was cut short while it was read")
        return data

    def fields(self, at: int, size: int, signature: bytes = b"") -> Cursor:
        """The `size` bytes after the signature of a structure."""
        if self.read(at, len(signature)) != signature:
            raise Hdf5Error(f"there is no {signature.decode('ascii', 'replace')} at byte {at:,}")
        return self.cursor(self.read(at + len(signature), size))
