"""File content: a first look that identifies the format, then all bytes; gunzipped if needed."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, TypeVar

from tfprof.errors import InputError, TruncatedError
from tfprof.formats.file_spans import FileBytes, is_file
from tfprof.formats.recognise import Recognised, is_text, recognise
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
_ANY_SIZE = 1 << 62

_JSON = re.compile(rb'\s*[\[{]\s*["{]')

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"

Found = TypeVar("Found")


class Content:
    """A file that is examined to identify its format before it is read.

    A path that cannot be read has an empty `head`; `require_readable` raises the reason.
    """

    def __init__(self, path: str, *, is_partial: bool = False) -> None:
        """With `is_partial`, `records` returns what is intact, and sets `gap` if not all is."""
        self.path = path
        self.gap: Gap | None = None
        self.is_partial = is_partial
        self.is_cut = False  # the gzip data ends early
        self._is_unpacked = False
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
        return self._examine(lambda data: bytes(data[:HEAD_BYTES]), b"", HEAD_BYTES)

    @cached_property
    def message(self) -> Recognised:
        """The kind of protobuf message in the file, if any."""
        if _JSON.match(self.head) and is_text(self.head):
            return Recognised(None, is_text=True)
        return self._examine(recognise, Recognised(None, is_text=False))

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of the files in this zip archive; none if it is not one."""
        if not self.head.startswith(_ZIP_MAGIC):
            return frozenset()
        from tfprof.formats.archives import names_in  # noqa: PLC0415 -- few files are archives

        return self._examine(names_in, frozenset())

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
        with _opened(self.path) as file:
            size = os.fstat(file.fileno()).st_size  # 0 of a pipe
            if file.peek(2)[:2] == _GZIP_MAGIC:
                data, stored = self._unpack(file, largest), None
            else:
                stored = StoredFile.of(self.path, file)
                data = file.read(min(largest, size) + 1) if size else _read(file, largest + 1)
        return _check_size(self.path, data, largest), stored

    def pieces(self) -> Iterator[bytes]:
        """All bytes in pieces, of files of any size."""
        if self._unpacked is not None:
            data, self._unpacked = self._unpacked, None
            yield from (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
            return
        is_empty = True
        with _opened(self.path) as file:
            is_packed = file.peek(2)[:2] == _GZIP_MAGIC
            stored = iter(lambda: file.read(_PIECE), b"")
            for piece in self._unpacking(file) if is_packed else stored:
                is_empty = False
                yield piece
        if is_empty:
            raise _empty(self.path)

    def records(self, message: str) -> Records:
        """The file as a protobuf message of type `message`, converted from text if necessary."""
        is_text = self.message.is_text
        data, stored = self.read()
        if self.is_partial and (part := self._intact(message, data, is_text=is_text)) is not None:
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
        if not found.read or (found.read == len(data) and not self.is_cut):
            return None
        self.set_gap(found.read, len(data), found.missing)
        return Records(self.path, found.data)

    def set_gap(self, read: int, size: int, missing: int = 0) -> None:
        """Record that only `read` of `size` bytes could be read."""
        from tfprof.formats.intact import Gap  # noqa: PLC0415 -- few files are damaged

        self.gap = Gap(read, size, missing, self._is_unpacked)

    def _unpack(self, file: BinaryIO, largest: int) -> bytes:
        data = io.BytesIO()
        for piece in self._unpacking(file, largest):
            data.write(piece)
        return _check_size(self.path, data.getvalue(), largest)

    def _unpacking(self, file: BinaryIO, largest: int = _ANY_SIZE) -> Iterator[bytes]:
        """The content of a gzipped file in pieces, up to a byte more than `largest`."""
        packed = os.fstat(file.fileno()).st_size
        most = _HARMLESS + _MOST_TIMES * packed if packed else largest
        self._is_unpacked = True
        unpacked = 0
        try:
            with gzip.GzipFile(fileobj=file) as content:
                # `read1`, because `read` drops what it has read when it finds the damage.
                while (left := min(most, largest) + 1 - unpacked) > 0:
                    if not (piece := content.read1(min(left, _PIECE))):
                        break
                    unpacked += len(piece)
                    if most < unpacked <= largest:
                        raise _implausible(self.path, most)
                    yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not self.is_partial:
                raise _damaged(self.path, error, unpacked) from None
            self.is_cut = True

    def _examine(
        self, find: Callable[[bytes | FileBytes], Found], default: Found, enough: int = 0
    ) -> Found:
        """What `find` returns for the content, or `default` if the file cannot be read.

        Only the parts that `find` accesses are read, unless the file is gzipped; then the first
        `enough` bytes if it is larger, or all of it.
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
                    if enough and len(start := _unpacked_start(file, enough)) == enough:
                        return find(start)
            data, _ = self.read()
        except (InputError, OSError, ValueError) as error:
            if not isinstance(error, InputError):
                error = _unreadable(self.path, error)
            self._problem = error
            return default
        if len(data) <= _MOST_KEPT or not is_regular:  # a pipe can be read only once
            self._unpacked = data
        return find(data)


def read_file(path: str) -> bytes:
    """The content of the file at `path`, unpacked if it is gzipped."""
    return Content(path).read()[0]


@contextmanager
def _opened(path: str) -> Iterator[BufferedReader]:
    """The open file; raises `InputError` if it cannot be read, or changes meanwhile."""
    try:
        _is_regular(path)
        with Path(path).open("rb") as file:
            before = os.fstat(file.fileno())
            yield file
            after = os.fstat(file.fileno())
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if before.st_size and not is_same:
        raise InputError(path, "changed while it was read; wait until it is complete.")


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


def _unpacked_start(file: BinaryIO, size: int) -> bytes:
    """The first bytes of a gzipped file; fewer if it is smaller or damaged."""
    file.seek(0)
    try:
        return gzip.GzipFile(fileobj=file).read(size)
    except (EOFError, OSError, zlib.error):
        return b""


def _damaged(path: str, error: Exception, unpacked: int) -> TruncatedError:
    read = f"{unpacked:,} bytes could be unpacked"
    if isinstance(error, EOFError):
        trouble = f"the gzip data ends early; was the copy or download cut short? {read}."
    else:
        trouble = f"contains damaged gzip data ({error}; {read}); fetch it again."
    return TruncatedError(path, trouble)


def _implausible(path: str, most: int) -> InputError:
    return InputError(
        path,
        f"unpacks to more than the limit of {most:,} bytes, {_MOST_TIMES} times its size "
        f"and {_HARMLESS:,} more; if it is not damaged, unpack it yourself.",
    )


def _check_size(path: str, data: bytes, largest: int) -> bytes:
    if len(data) > largest:
        raise InputError(path, f"is larger than the limit of {largest:,} bytes for this format.")
    if not data:
        raise _empty(path)
    return data


def _empty(path: str) -> InputError:
    return InputError(path, "is empty; was the program still writing it?")


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
