"""A file that stays open, so that parts of it can be read again instead of being kept."""

from __future__ import annotations

import os
from typing import BinaryIO, Self
from weakref import finalize

from tfprof.errors import InputError

SMALLEST = 1 << 20  # bytes; those of smaller files are better kept


class StoredFile:
    """An open file as it was when it was first read; it is closed when nobody holds it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._state = self._look()
        finalize(self, os.close, descriptor)

    @classmethod
    def of(cls, path: str, file: BinaryIO) -> Self | None:
        """The file that is open as `file`, or None where keeping its bytes is better."""
        # Without `pread`, two who read would move each other's place.
        if not hasattr(os, "pread") or os.fstat(file.fileno()).st_size < SMALLEST:
            return None
        return cls(path, os.dup(file.fileno()))

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`; a file that was written to since is refused."""
        data = os.pread(self._descriptor, end - start, start)
        while len(data) < end - start:  # a call reads less than 2 GiB
            more = os.pread(self._descriptor, end - start - len(data), start + len(data))
            if not more:
                break
            data += more
        if self._look() != self._state:
            raise InputError(self._path, "was changed after it was loaded; load it again.")
        return data

    def _look(self) -> tuple[int, int]:
        state = os.fstat(self._descriptor)
        return state.st_size, state.st_mtime_ns
