"""A file that stays open so that parts of it can be reread instead of kept in memory."""

from __future__ import annotations

import os
from functools import cache
from typing import BinaryIO, Self
from weakref import finalize

from tfprof.errors import InputError

SMALLEST = 1 << 20  # bytes; smaller files are better kept in memory


@cache
def _most_descriptors() -> int:
    """The largest descriptor of a file that stays open: half of them remain for other files."""
    try:
        import resource  # noqa: PLC0415 -- Windows does not have it
    except ImportError:
        return 256
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2


class StoredFile:
    """An open file, guarded against later changes; closed when garbage-collected."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._state = self._current_state()
        finalize(self, os.close, descriptor)

    @classmethod
    def of(cls, path: str, file: BinaryIO) -> Self | None:
        """Keep `file` open, or return None if its bytes are better kept in memory."""
        # Without `pread`, concurrent readers would move each other's file position.
        if not hasattr(os, "pread") or os.fstat(file.fileno()).st_size < SMALLEST:
            return None
        try:
            descriptor = os.dup(file.fileno())
        except OSError:  # too many open files
            return None
        if descriptor > _most_descriptors():
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`; raises `InputError` if the file has changed since."""
        data = os.pread(self._descriptor, end - start, start)
        while len(data) < end - start:  # a call reads less than 2 GiB
            more = os.pread(self._descriptor, end - start - len(data), start + len(data))
            if not more:
                break
            data += more
        if self._current_state() != self._state:
            raise InputError(self._path, "was changed after it was loaded; load it again.")
        return data

    def _current_state(self) -> tuple[int, int]:
        state = os.fstat(self._descriptor)
        return state.st_size, state.st_mtime_ns
