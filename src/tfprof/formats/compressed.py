"""Reading a file, whole or where one looks, gzipped or not."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tfprof.errors import InputError
from tfprof.formats.file_spans import FileBytes
from tfprof.formats.stored import StoredFile

# Protobuf cannot hold a larger message, so more can only be a mistake or an attack.
LARGEST_FILE = 2**31 - 1

_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def opened(path: str) -> Iterator[bytes | FileBytes]:
    """The content of the file at `path`, to look at parts of it; it is complained of as by `read`.

    Of a file that is not gzipped no more is read than is looked at.
    """
    try:
        with Path(path).open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if 0 < size <= LARGEST_FILE and file.read(2) != _GZIP_MAGIC:
                yield FileBytes(file, size)
                return
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    yield read(path)


def read(path: str) -> bytes:
    """The content of the file at `path`, unpacked if it was gzipped."""
    return load(path)[0]


def load(path: str) -> tuple[bytes, StoredFile | None]:
    """The content of the file at `path`, and the file itself where parts can be read again."""
    try:
        with Path(path).open("rb") as file:
            if file.read(2) == _GZIP_MAGIC:
                file.seek(0)
                return _unpack(path, gzip.GzipFile(fileobj=file)), None
            file.seek(0)
            stored = StoredFile.of(path, file)
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    return _check_size(path, data), stored


def _unpack(path: str, file: gzip.GzipFile) -> bytes:
    try:
        data = file.read(LARGEST_FILE + 1)
    except EOFError:
        raise InputError(
            path, "the gzip data ends early; was the copy or the download cut short?"
        ) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise InputError(path, f"is damaged gzip data ({error}); fetch it again.") from None
    return _check_size(path, data)


def _check_size(path: str, data: bytes) -> bytes:
    if len(data) > LARGEST_FILE:
        raise InputError(path, "holds more than 2 GiB, which no protobuf message does.")
    if not data:
        raise InputError(path, "is empty; was the program still writing it?")
    return data


def _refusal(path: str, error: OSError | ValueError) -> InputError:
    return InputError(path, _why(error))


def _why(error: OSError | ValueError) -> str:
    """What kept a file from being read, and what to do."""
    if isinstance(error, ValueError):  # a zero byte
        return "is no path that this system knows; check it."
    if isinstance(error, FileNotFoundError):
        return "no such file; check the path."
    if isinstance(error, IsADirectoryError):
        return "is a folder; name the files in it."
    if isinstance(error, PermissionError):
        return "may not be read by you; check its permissions."
    return f"cannot be read: {error.strerror or error}."
