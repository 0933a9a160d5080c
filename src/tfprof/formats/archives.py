"""Zip archives: the names in them, and members that do not unpack to too much."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from typing import Any, Final

from tfprof.errors import InputError
from tfprof.formats.file_spans import FileBytes

# What a damaged archive raises; encrypted members raise a RuntimeError.
ZIP_DAMAGE: Final = (
    *(EOFError, OSError, RuntimeError, ValueError),
    *(lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error),
)

# A member may unpack to this many times its size and a harmless size.
_MOST_TIMES: Final = 200
_HARMLESS: Final = 1 << 24


def names_in(data: bytes | FileBytes) -> frozenset[str]:
    """The names of the files in a zip archive; none if this is not one."""
    file = io.BytesIO(data) if isinstance(data, bytes) else io.BufferedReader(_Opened(data))
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
    except ZIP_DAMAGE:
        return frozenset()
    # If an archive is cut short, `zipfile` may find the end of another one that it contains.
    is_whole = min((info.header_offset for info in infos), default=-1) == 0
    return frozenset(info.filename for info in infos if is_whole)


def member(path: str, archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The content of a file in an archive; raises `InputError` if it is missing or too large."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise InputError(path, f"lacks its part {name}; save it again or fetch it again.") from None
    if info.file_size > min(most, _MOST_TIMES * info.compress_size + _HARMLESS):
        raise InputError(path, f"is damaged: its part {name} is too large.")
    return archive.read(info)


class _Opened(io.RawIOBase):
    """The bytes of an open file, as a file."""

    def __init__(self, data: FileBytes) -> None:
        self._data, self._at = data, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        found = self._data[self._at : self._at + len(buffer)]
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)
