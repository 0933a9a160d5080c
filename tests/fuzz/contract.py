"""What every fuzz target promises, and where to find a place for files while it runs."""

from __future__ import annotations

import atexit
import resource
import shutil
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tfprof.errors import TfprofError, one_line

MOST_TIMES = 10  # memory that an input may take, in times of its size,
MOST_MORE = 300 << 20  # and in bytes on top of that


class BrokenError(AssertionError):
    """An input for which a target breaks its promise."""


def refused_or_answered(run: Callable[[bytes], object], data: bytes) -> bool:
    """Whether a target answers; False if it refuses the input with an error of tfprof.

    Every other exception is a finding. The caller turns warnings into exceptions.
    """
    try:
        run(data)
    except TfprofError as error:
        if not one_line(error):
            raise BrokenError(f"{type(error).__name__} without a message") from error
        return False
    return True


class Memory:
    """Watches the memory of this process while targets run."""

    def __init__(self) -> None:
        self._before = _peak()

    def check(self, size: int) -> None:
        """Raise `BrokenError` if the peak grew by more than an input of `size` bytes may take.

        Slow growth is not counted here: the fuzzer itself keeps more and more inputs.
        """
        peak = _peak()
        more, self._before = peak - self._before, peak
        if more > MOST_TIMES * size + MOST_MORE:
            raise BrokenError(f"the process grew by {more:,} bytes for an input of {size:,} bytes")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def is_chosen(data: bytes, one_in: int) -> bool:
    """Whether an input is one of those for which a target does more; always the same ones."""
    return zlib.crc32(data) % one_in == 0


@cache
def folder() -> Path:
    """A folder in memory, if the system has one, for targets that need a path."""
    memory = Path("/dev/shm")  # noqa: S108 -- a new folder in it is private
    found = tempfile.mkdtemp(prefix="tfprof-fuzz-", dir=memory if memory.is_dir() else None)
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return Path(found)


def file(name: str, data: bytes) -> str:
    """The path of a file with this content; the next one of that name replaces it."""
    path = folder() / name
    path.write_bytes(data)
    return str(path)
