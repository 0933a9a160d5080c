"""File content: a first look that identifies the format, then all bytes; gunzipped if needed."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar

from tfprof.errors import InputError, TruncatedError
from tfprof.formats.file_spans import FileBytes, is_file
from tfprof.formats.recognise import Recognised, recognise
from tfprof.formats.records import Records
from tfprof.formats.stored import StoredFile

if TYPE_CHECKING:
    from tfprof.formats.intact import Gap

# Protobuf cannot hold a larger message.
LARGEST_MESSAGE = 2**31 - 1

# The size of `Content.head`.
HEAD_BYTES = 65_536

# Unpacked files up to this size stay in memory between being recognised and being read.
_MOST_KEPT = 1 << 26

# A gzipped file may unpack to this many times its size and a harmless size.
_MOST_TIMES = 200
_HARMLESS = 1 << 28
_PIECE = 1 << 20

_GZIP_MAGIC = b"\x1f\x8b"

Found = TypeVar("Found")


class Content:
    """A file that is examined to identify its format before it is read.

    A path that cannot be read has an empty `head`; `require_readable` raises the reason.
    """

    def __init__(self, path: str, *, is_partial: bool = False) -> None:
        """With `is_partial`, `records` returns what is intact, and sets `gap` if not all is."""
        self.path = path
        self.gap: Gap | None = None
        self._is_partial = is_partial
        self._is_unpacked = False
        self._is_cut = False  # the gzip data ends early
        self._unpacked: bytes | None = None
        self._problem: InputError | None = None
        self._inside: dict[str, Content] = {}

    @classmethod
    def of_bytes(cls, path: str, data: bytes) -> Self:
        """Content held in memory; error messages refer to it as `path`."""
        content = cls(path)
        content._unpacked = data
        return content

    @cached_property
    def is_folder(self) -> bool:
        try:
            return Path(self.path).is_dir()
        except (OSError, ValueError):
            return False

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file, unpacked if it is gzipped."""
        return self._examine(lambda data: bytes(data[:HEAD_BYTES]), b"")

    @cached_property
    def message(self) -> Recognised:
        """The kind of protobuf message in the file, if any."""
        return self._examine(recognise, Recognised(None, is_text=False))

    def first_inside(self, names: Iterable[str]) -> Content:
        """The first existing file of these names in this folder, or this content if none exists."""
        for name in names if self.is_folder else ():
            path = Path(self.path) / name
            if is_file(path):
                return self._inside.setdefault(name, Content(str(path)))
        return self

    def require_readable(self) -> None:
        """Raise `InputError` if the file cannot be read."""
        _ = self.head
        if self._problem is not None:
            raise self._problem

    def read(self, largest: int = LARGEST_MESSAGE) -> tuple[bytes, StoredFile | None]:
        """All bytes, and the open file if parts can be read again later.

        Raises `InputError` for more than `largest` bytes.
        """
        if self._unpacked is not None:
            data, self._unpacked = self._unpacked, None
            return data, None
        try:
            _is_regular(self.path)
            with Path(self.path).open("rb") as file:
                before = os.fstat(file.fileno())
                size = before.st_size  # 0 of a pipe
                if file.peek(2)[:2] == _GZIP_MAGIC:
                    data, stored = self._unpack(gzip.GzipFile(fileobj=file), largest), None
                else:
                    stored = StoredFile.of(self.path, file)
                    data = file.read(min(largest, size) + 1) if size else _read(file, largest + 1)
                after = os.fstat(file.fileno())
        except (OSError, ValueError) as error:
            raise _unreadable(self.path, error) from None
        if size and (size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise InputError(self.path, "changed while it was read; wait until it is complete.")
        return _check_size(self.path, data, largest), stored

    def records(self, message: str) -> Records:
        """The file as a protobuf message of type `message`, converted from text if necessary."""
        is_text = self.message.is_text
        data, stored = self.read()
        if self._is_partial and (part := self._intact(message, data, is_text=is_text)) is not None:
            return part
        if not is_text:
            return Records(self.path, data, stored)
        from tfprof.formats.text_records import to_binary  # noqa: PLC0415 -- few files are text

        binary = to_binary(self.path, data, message)
        del data  # text is large: free it before copying the binary form
        return Records(self.path, bytes(binary))

    def _intact(self, message: str, data: bytes, *, is_text: bool) -> Records | None:
        """What is intact of a damaged file; None if all of it is, or nothing."""
        from tfprof.formats import intact, text_records  # noqa: PLC0415 -- few files are damaged

        if is_text:
            found = text_records.intact_part(self.path, data, message)
        else:
            found = intact.of_binary(message, data)
        if not found.read or (found.read == len(data) and not self._is_cut):
            return None
        self.gap = intact.Gap(found.read, len(data), found.missing, self._is_unpacked)
        return Records(self.path, found.data)

    def _unpack(self, file: gzip.GzipFile, largest: int) -> bytes:
        packed = os.fstat(file.fileno()).st_size
        most = _HARMLESS + _MOST_TIMES * packed if packed else largest
        self._is_unpacked = True
        data = io.BytesIO()
        try:
            # `read1`, because `read` drops what it has read when it finds the damage.
            while (left := min(most, largest) + 1 - data.tell()) > 0:
                if not (piece := file.read1(min(left, _PIECE))):
                    break
                data.write(piece)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not self._is_partial:
                raise _damaged(self.path, error, data.tell()) from None
            self._is_cut = True
        if most < data.tell() <= largest:
            data.close()  # frees it, although the traceback refers to it
            raise InputError(
                self.path,
                f"unpacks to more than the limit of {most:,} bytes, {_MOST_TIMES} times its size "
                f"and {_HARMLESS:,} more; if it is not damaged, unpack it yourself.",
            )
        return _check_size(self.path, data.getvalue(), largest)

    def _examine(self, find: Callable[[bytes | FileBytes], Found], default: Found) -> Found:
        """What `find` returns for the content, or `default` if the file cannot be read.

        Only the parts that `find` accesses are read, unless the file is gzipped.
        """
        if self._unpacked is not None:
            return find(self._unpacked)
        if self._problem is not None:
            return default
        try:
            is_regular = _is_regular(self.path)
            if is_regular:
                with Path(self.path).open("rb", buffering=0) as file:
                    size = os.fstat(file.fileno()).st_size
                    if size and file.read(2) != _GZIP_MAGIC:
                        return find(FileBytes(file, size))
            data, _ = self.read()
        except InputError as error:
            self._problem = error
            return default
        except (OSError, ValueError) as error:
            self._problem = _unreadable(self.path, error)
            return default
        if len(data) <= _MOST_KEPT or not is_regular:  # a pipe can be read only once
            self._unpacked = data
        return find(data)


def read_file(path: str) -> bytes:
    """The content of the file at `path`, unpacked if it is gzipped."""
    return Content(path).read()[0]


def _read(file: BinaryIO, most: int) -> bytes:
    """Up to `most` bytes; `file.read(most)` would allocate memory for all of them."""
    data = io.BytesIO()
    while (left := most - data.tell()) > 0 and (piece := file.read(min(left, _PIECE))):
        data.write(piece)
    return data.getvalue()


def _is_regular(path: str) -> bool:
    """Whether this is a regular file, not a pipe; raises `InputError` for devices."""
    mode = Path(path).stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # may never end
        raise InputError(path, "is a device, not a file; check the path.")
    return stat.S_ISREG(mode)


def _damaged(path: str, error: Exception, unpacked: int) -> TruncatedError:
    read = f"{unpacked:,} bytes could be unpacked"
    if isinstance(error, EOFError):
        trouble = f"the gzip data ends early; was the copy or download cut short? {read}."
    else:
        trouble = f"contains damaged gzip data ({error}; {read}); fetch it again."
    return TruncatedError(path, trouble)


def _check_size(path: str, data: bytes, largest: int) -> bytes:
    if len(data) > largest:
        raise InputError(path, f"is larger than the limit of {largest:,} bytes for this format.")
    if not data:
        raise InputError(path, "is empty; was the program still writing it?")
    return data


def _unreadable(path: str, error: OSError | ValueError) -> InputError:
    return InputError(path, _reason(error))


def _reason(error: OSError | ValueError) -> str:
    """Why a file could not be read, and what to do about it."""
    if isinstance(error, ValueError):  # the path contains a NUL
        return "is not a valid path on this system; check it."
    if isinstance(error, FileNotFoundError):
        return "no such file; check the path."
    if isinstance(error, IsADirectoryError):
        return "is a folder; pass the files in it."
    if isinstance(error, PermissionError):
        return "permission denied; check the file's permissions."
    return f"cannot be read: {error.strerror or error}."
