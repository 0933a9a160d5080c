"""Folders of files on this machine, or anywhere that fsspec can reach."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote
from urllib.request import url2pathname

from tfprof import atomic_files
from tfprof.errors import InputError, OutputError, TfprofError
from tfprof.fleet.extras import needed

Found = TypeVar("Found")

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WILDCARD = re.compile(r"[*?\[]")
_HIDDEN = re.compile(r"(?:^|/)\.")

# What the listings of file systems call a value that changes with the content; the first counts.
_VERSIONS = (
    *("ETag", "etag", "generation", "md5Hash", "content_md5", "checksum"),
    *("mtime", "LastModified", "last_modified", "modified", "updated", "created"),
)

# The name that Hive, DuckDB and Arrow use for a missing value.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_LONGEST_VALUE = 180  # file systems permit names of 255 bytes, including `host=`
_CUT_ESCAPE = re.compile(r"%[0-9A-F]?$")


def is_url(address: str) -> bool:
    """Whether an address is a URL and not a path."""
    return _URL.match(address) is not None


def absolute(address: str) -> str:
    """An address that does not depend on the current folder; `file:///a` is the path `/a`."""
    if address.lower().startswith("file://"):
        address = url2pathname(address[len("file://") :])
    # `os.path`, because `Path.resolve` follows links.
    return address.rstrip("/") if is_url(address) else os.path.abspath(address)  # noqa: PTH100


def hive_value(text: str) -> str:
    """A text as the value of a partition in a path: `a/b` becomes `a%2Fb`.

    Long texts are shortened and end in a hash, so that different texts stay different.
    """
    if not text:
        return _NO_VALUE
    value = quote(text, safe="", errors="surrogatepass")
    if not value.strip(".") or value == _NO_VALUE:
        value = value.replace(".", "%2E").replace("_", "%5F")
    if len(value) <= _LONGEST_VALUE:
        return value
    start = _CUT_ESCAPE.sub("", value[:_LONGEST_VALUE])
    return f"{start}-{hashlib.sha256(value.encode()).hexdigest()[:16]}"


class Stamp(NamedTuple):
    """The size of a file and a text that changes with its content, such as its ETag."""

    size: int
    modified: str


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, by its path or its URL; names of files are relative to it."""

    address: str

    @classmethod
    def of(cls, address: str) -> Place:
        """The place at an address, which may be relative."""
        return cls(absolute(address))

    def at(self, name: str) -> str:
        """The path or URL of a file; a name that leads out of the folder is refused."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\0" in name:
            raise InputError(self.address, f"names a file outside of it: {name!r}.")
        return f"{self.address}/{name}"

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return is_file(self.at(name))

    def list(self, folder: str) -> list[str]:
        """The names of all files below a folder, sorted; none if it does not exist."""
        return [path[len(self.address) + 1 :] for path, _ in below(self.at(folder))]

    def stamp(self, name: str) -> Stamp:
        """The stamp of a file."""
        return stamp_of(self.at(name))

    def read_bytes(self, name: str) -> bytes:
        """The content of a file."""
        path = self.at(name)
        if not is_url(path):
            return _local(path, Path.read_bytes)
        return _remote(path, lambda system, inner: bytes(system.cat_file(inner)))

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """The contents of several files at once; those that do not exist are left out."""
        wanted = {name: self.at(name) for name in names}
        if not wanted or not is_url(self.address):
            found = {}
            for name, path in wanted.items():
                with suppress(FileNotFoundError):
                    found[name] = Path(path).read_bytes()
            return found

        def read(system: Any, _: str) -> dict[str, bytes]:
            inner = {system._strip_protocol(path): name for name, path in wanted.items()}  # noqa: SLF001 -- as file systems list it
            contents = system.cat(list(inner), on_error="omit")
            return {inner[path]: bytes(data) for path, data in contents.items()}

        return _remote(self.address, read)

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which appears complete or not at all."""
        path = self.at(name)
        if is_url(path):
            _remote_write(path, lambda system, inner: _piped(system, inner, data))
            return
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {_reason(error)}.") from None
        atomic_files.write(path, [data])

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        path = self.at(name)
        if is_url(path):
            if self.exists(name):
                _remote_write(path, lambda system, inner: system.rm_file(inner))
            return
        try:
            Path(path).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{path}: cannot be removed: {_reason(error)}.") from None

    def tidy(self) -> None:
        """Remove what killed processes left; only local files are written in two steps."""
        if not is_url(self.address):
            for folder, _, _ in os.walk(self.address):
                atomic_files.remove_left(Path(folder))


@contextmanager
def fetched(address: str) -> Iterator[str]:
    """A local path of a file: its own, or that of a copy with the same name, removed afterwards."""
    if not is_url(address):
        yield address
        return
    import tempfile  # noqa: PLC0415 -- only needed for URLs

    with tempfile.TemporaryDirectory(prefix="tfprof-") as folder:
        name = PurePosixPath(address.partition("?")[0]).name
        path = str(Path(folder, name))
        _remote(address, lambda system, inner: system.get_file(inner, path))
        yield path


def head_of(url: str, size: int) -> bytes:
    """The first bytes of the file at a URL."""
    return _remote(url, lambda system, inner: bytes(system.cat_file(inner, start=0, end=size)))


def stamp_of(address: str) -> Stamp:
    """The stamp of a file at a path or URL."""
    if is_url(address):
        return _remote(address, lambda system, inner: _stamp(system.info(inner)))
    found = _local(address, Path.stat)
    return Stamp(found.st_size, str(found.st_mtime_ns))


def below(folder: str) -> list[tuple[str, Stamp]]:
    """All files below a folder with their stamps, sorted; hidden files and folders are left out."""
    if is_url(folder):
        found = _searched(folder, lambda system, inner: system.find(inner, detail=True))
        return [(url, stamp) for url, stamp in found if stamp is not None]
    return sorted(_walked(folder))


def _walked(folder: str) -> Iterator[tuple[str, Stamp]]:
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = f"{place}/{name}"
            if not name.startswith("."):
                with suppress(InputError):  # removed meanwhile, or a dead link
                    yield path, stamp_of(path)


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise InputError(error.filename, f"cannot be read: {_reason(error)}.") from None


def matching(pattern: str) -> list[tuple[str, Stamp | None]]:
    """What matches a pattern such as `runs/**/*.pb`: files with their stamps, and folders."""
    root = plain_part(pattern).rpartition("/")[0]
    if is_url(pattern):
        rest = pattern[len(root) + 1 :]
        return _searched(root, lambda system, top: system.glob(f"{top}/{rest}", detail=True))
    paths = {path.rstrip("/") for path in glob.iglob(pattern, recursive=True)}  # noqa: PTH207 -- may be absolute
    return [(path, None if is_folder(path) else stamp_of(path)) for path in sorted(paths)]


def plain_part(pattern: str) -> str:
    """The part of a pattern before its first wildcard."""
    return _WILDCARD.split(pattern, maxsplit=1)[0]


def is_file(address: str) -> bool:
    """Whether there is a file at an address."""
    if not is_url(address):
        return os.path.isfile(address)  # noqa: PTH113 -- does not raise errors
    return _remote(address, lambda system, inner: bool(system.isfile(inner)))


def is_folder(address: str) -> bool:
    """Whether there is a folder at an address."""
    if not is_url(address):
        return os.path.isdir(address)  # noqa: PTH112 -- see above
    return _remote(address, lambda system, inner: bool(system.isdir(inner)))


def is_empty(address: str) -> bool:
    """Whether there is no folder at an address, or nothing in it that is not hidden."""
    if is_url(address):
        return not _remote(address, _entries)
    try:
        with os.scandir(address) as entries:
            return all(entry.name.startswith(".") for entry in entries)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise InputError(address, f"cannot be read: {_reason(error)}.") from None


def _entries(system: Any, path: str) -> list[str]:
    try:
        return list(system.ls(path, detail=False))
    except FileNotFoundError:
        return []


def _searched(
    root: str, search: Callable[[Any, str], Mapping[str, Mapping[str, Any]]]
) -> list[tuple[str, Stamp | None]]:
    """The URLs that `search` finds below `root`; files have a stamp."""

    def find(system: Any, top: str) -> list[tuple[str, Stamp | None]]:
        top = top.rstrip("/")
        names = {path[len(top) :].strip("/"): one for path, one in search(system, top).items()}
        return sorted(
            (f"{root}/{name}", None if one.get("type") == "directory" else _stamp(one))
            for name, one in names.items()
            if not _HIDDEN.search(name)
        )

    return _remote(root, find)


def _stamp(info: Mapping[str, Any]) -> Stamp:
    value = next((info[key] for key in _VERSIONS if info.get(key)), "")
    # A listing may have a time as a number that otherwise is a date.
    text = str(value.timestamp() if isinstance(value, datetime) else value)
    return Stamp(int(info.get("size") or 0), text)


def _local(path: str, ask: Callable[[Path], Found]) -> Found:
    try:
        return ask(Path(path))
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read: {_reason(error)}.") from None


def _remote(url: str, ask: Callable[[Any, str], Found]) -> Found:
    try:
        return ask(*system_of(url))
    except FileNotFoundError:
        raise InputError(url, "does not exist; check the URL.") from None
    except TfprofError:
        raise
    except Exception as error:  # the packages of file systems may raise anything
        raise InputError(url, f"cannot be read: {_reason(error)}.") from error


def _remote_write(url: str, write: Callable[[Any, str], None]) -> None:
    try:
        write(*system_of(url))
    except TfprofError:
        raise
    except Exception as error:  # see above
        raise OutputError(f"{url}: cannot be written: {_reason(error)}.") from error


def _piped(system: Any, path: str, data: bytes) -> None:
    try:
        system.pipe_file(path, data)
    except FileNotFoundError:  # unlike object stores, this file system has folders
        system.makedirs(system._parent(path), exist_ok=True)  # noqa: SLF001 -- has no public name
        system.pipe_file(path, data)


def _reason(error: Exception) -> str:
    known = getattr(error, "strerror", None) or str(error)
    return (known or type(error).__name__).rstrip(".")


def system_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    with needed("fsspec", "A URL"):
        from fsspec.core import url_to_fs  # noqa: PLC0415 -- only needed for URLs
    try:
        system, inner = url_to_fs(url)
    except (ImportError, ValueError) as error:  # the package of a protocol, or unknown protocol
        raise InputError(url, f"cannot be opened: {_reason(error)}.") from None
    system.invalidate_cache()  # other programs add files
    return system, inner
