"""Watch files: report a change once it is complete."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from tfprof.errors import InputError
from tfprof.sources.given import files_of

SECONDS = 1.0  # between two looks at the files
_MOST_FILES = 1_000  # of a folder that is read as a whole, such as a SavedModel

# For each file its path, size, modification time and inode; for a folder without files, the reason.
Fingerprint = tuple[tuple[str | int, ...], ...]


class Watcher(threading.Thread):
    """Calls `changed` after files have changed and then stayed the same for one interval.

    So a file that is still being written is not read. Changes made during the call are noticed
    afterwards.
    """

    def __init__(
        self,
        look: Callable[[], Fingerprint],
        loaded: Fingerprint,
        changed: Callable[[], None],
        seconds: float = SECONDS,
    ) -> None:
        super().__init__(name="tfprof-watcher", daemon=True)
        self._look, self._loaded, self._report = look, loaded, changed
        self._seconds = seconds
        self._stopped = threading.Event()

    def run(self) -> None:
        """Look at the files until stopped."""
        seen = self._loaded
        while not self._stopped.wait(self._seconds):
            found = self._look()
            if found == seen and found != self._loaded:
                self._loaded = found
                self._report()
            seen = found

    def stop(self) -> None:
        """Stop looking; a call that is under way is not interrupted."""
        self._stopped.set()


def fingerprint(paths: Iterable[str]) -> Fingerprint:
    """What changes if one of the files changes that `paths` stand for."""
    return tuple(entry for path in paths for entry in _entries(path))


def _entries(path: str) -> Iterator[tuple[str | int, ...]]:
    try:
        for file in files_of(path):
            yield from map(_entry, _parts(Path(file)))
    except (InputError, OSError, ValueError) as error:
        yield (path, str(error))


def _parts(path: Path) -> list[Path]:
    """The files that are read for one path: those in a folder, the parts of a checkpoint."""
    if path.is_dir():
        return sorted(islice((file for file in path.rglob("*") if file.is_file()), _MOST_FILES))
    if path.exists():
        return [path]
    return [path, *sorted(path.parent.glob(f"{glob.escape(path.name)}.*"))]


def _entry(path: Path) -> tuple[str | int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 -- fails like open, also for invalid names
    except (OSError, ValueError):
        return (str(path),)
    return (str(path), found.st_size, found.st_mtime_ns, found.st_ino)
