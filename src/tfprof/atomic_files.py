"""Files that appear complete or not at all, whatever interrupts the program.

A file is written under a temporary name in the folder of its target and renamed at the end. While a
process writes, it holds a lock on its temporary file. The system releases the lock when the process
dies, so the next process that writes to the folder can recognise and remove what was left.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tfprof.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows: leftovers are not recognised, and stay
    fcntl = None  # type: ignore[assignment]

# The machine that wrote the file, since its last start and by its name, and a random number.
_TEMPORARY = re.compile(r"\.tfprof-([0-9a-f]{8})-([0-9a-f]{8})-[0-9a-f]{16}")
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
_MOST_LINKS = 40  # as on Linux


def write(path: str, pieces: Iterable[bytes]) -> None:
    """Write `pieces` to the file at `path`, which is replaced atomically after the last one.

    An existing file keeps its permissions, and a symbolic link stays a link. Special files, such as
    `/dev/stdout` or a named pipe, are written to directly. Raises `OutputError` if the file cannot
    be written, and `BrokenPipeError` if it is standard output and its reader has gone.
    """
    try:
        target = _followed(path)
        if (descriptor := _descriptor(target)) is not None:
            _write_to(descriptor, pieces)
        elif _is_special(target):
            with target.open("wb") as file:
                file.writelines(pieces)
        else:
            _replace(target, pieces)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and path == "/dev/stdout":
            raise
        raise OutputError(f"{path}: cannot be written: {_why(path, error)}") from None


class Claim:
    """Marks a folder as being written by this process, for `remove_abandoned`."""

    def __init__(self, folder: Path) -> None:
        self._mark = folder / _temporary_name()
        self._descriptor = _locked_file(self._mark)

    def release(self) -> None:
        """Remove the mark: the folder is complete."""
        if self._descriptor >= 0:
            self._mark.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1


def remove_abandoned(folder: Path) -> bool:
    """Remove a folder that a process of this machine claimed before it was killed.

    Returns whether there was such a claim.
    """
    for mark in _temporary_files(folder):
        with _left(mark) as is_left:
            if is_left:
                import shutil  # noqa: PLC0415 -- rarely needed

                shutil.rmtree(folder, ignore_errors=True)
            return is_left
    return False


def remove_left(folder: Path) -> None:
    """Remove the temporary files that killed processes of this machine left in a folder."""
    for path in _temporary_files(folder):
        with _left(path) as is_left:
            if is_left:
                path.unlink(missing_ok=True)


def _followed(path: str) -> Path:
    """The file that a path leads to, without following the links that stand for descriptors."""
    if path.endswith(os.sep):
        raise IsADirectoryError
    target = Path(path)
    for _ in range(_MOST_LINKS):
        if _descriptor(target) is not None or not target.is_symlink():
            break
        target = target.parent / target.readlink()
    return target


def _descriptor(target: Path) -> int | None:
    """The descriptor of this process that a path such as `/dev/stdout` or `/dev/fd/3` names."""
    if str(target) in _STANDARD:
        return _STANDARD[str(target)]
    found = _DESCRIPTOR.fullmatch(str(target))
    return int(found[1]) if found else None


def _write_to(descriptor: int, pieces: Iterable[bytes]) -> None:
    """Write to an open descriptor, after what was printed to it before."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.writelines(pieces)


def _is_special(target: Path) -> bool:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    """Write to a temporary file beside `target`, then rename it."""
    if target.is_dir():
        raise IsADirectoryError
    if target.exists() and not os.access(target, os.W_OK):
        raise _ProtectedError
    _remove_left(target.parent.absolute())
    with _temporary_file(target.parent) as (partial, descriptor):
        _take_permissions(descriptor, target)
        # A copy, because only closing a file reports the errors of some network file systems, and
        # the lock lasts until the last copy is closed.
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.writelines(pieces)
        partial.replace(target)


class _ProtectedError(OSError):
    """The existing file must not be written to, although its folder would permit to replace it."""


@contextmanager
def _temporary_file(folder: Path) -> Iterator[tuple[Path, int]]:
    """A new file and its locked descriptor; removed at the end unless it was renamed."""
    path = folder / _temporary_name()
    descriptor = -1
    try:
        descriptor = _locked_file(path)
        yield path, descriptor
    finally:
        path.unlink(missing_ok=True)
        if descriptor >= 0:
            os.close(descriptor)


def _locked_file(path: Path) -> int:
    """The descriptor of a new file, locked until it is closed."""
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
        if fcntl is None:
            return descriptor
        _lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # another process took it for a leftover before it was locked


_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


def _take_permissions(descriptor: int, target: Path) -> None:
    """Give a new file the mode and, if possible, the owner of the file that it will replace."""
    if not hasattr(os, "fchmod"):
        return
    with suppress(FileNotFoundError):
        old = target.stat()
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _temporary_name() -> str:
    boot, host = _machine()
    return f".tfprof-{boot}-{host}-{os.urandom(8).hex()}"


@cache
def _machine() -> tuple[str, str]:
    """This machine since it was started, also in a container, and its name, as checksums."""
    import platform  # noqa: PLC0415 -- only writing a file needs it

    name = platform.node()
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
    except OSError:
        boot = name
    return f"{zlib.crc32(boot.encode()):08x}", f"{zlib.crc32(name.encode()):08x}"


_remove_left = cache(remove_left)  # once per process and folder


def _temporary_files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if _TEMPORARY.fullmatch(entry.name)]
    except OSError:
        return []


@contextmanager
def _left(path: Path) -> Iterator[bool]:
    """Whether the process that wrote a temporary file ran on this machine and is dead.

    If so, the file is locked, so that another process does not take it for its own new file.
    """
    found = _TEMPORARY.fullmatch(path.name)
    # Another machine may not see the locks of this one on a network file system.
    if fcntl is None or found is None or not set(found.groups()) & set(_machine()):
        yield False
        return
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | _FLAGS)
    except OSError:
        yield False
        return
    try:
        yield stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor, fcntl.LOCK_NB)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int = 0) -> bool:
    """Lock an open file; False if another process has, or if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
    except OSError:
        return False
    return True


def _why(path: str, error: OSError) -> str:
    """Why writing failed, and what to do about it."""
    folder = Path(path).parent
    if isinstance(error, IsADirectoryError):
        return "it is a folder; name a file in it."
    if isinstance(error, _ProtectedError):
        return "the file is write-protected; choose another."
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {folder}; make it first."
    if isinstance(error, PermissionError):
        return f"no permission to write to the folder {folder}; choose another."
    return f"{error.strerror or error}."
