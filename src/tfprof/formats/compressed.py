"""Reading a file whole, gzipped or not."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from tfprof.errors import InputError

# Protobuf cannot hold a larger message, so more can only be a mistake or an attack.
LARGEST_FILE = 2**31 - 1

_GZIP_MAGIC = b"\x1f\x8b"


def read(path: str) -> bytes:
    """The content of the file at `path`, unpacked if it was gzipped."""
    try:
        with Path(path).open("rb") as file:
            if file.read(2) == _GZIP_MAGIC:
                file.seek(0)
                return _unpack(path, gzip.GzipFile(fileobj=file))
            file.seek(0)
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(path, _why(error)) from None
    except ValueError:  # a zero byte
        raise InputError(path, "is no path that this system knows; check it.") from None
    return _check_size(path, data)


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


def _why(error: OSError) -> str:
    """What kept a file from being read, and what to do."""
    if isinstance(error, FileNotFoundError):
        return "no such file; check the path."
    if isinstance(error, IsADirectoryError):
        return "is a folder; name the files in it."
    if isinstance(error, PermissionError):
        return "may not be read by you; check its permissions."
    return f"cannot be read: {error.strerror or error}."
