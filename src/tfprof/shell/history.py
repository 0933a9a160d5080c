"""The history of typed lines, kept in the user's state folder.

If that folder cannot be read or written, the shell works without a saved history.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tfprof import atomic_files
from tfprof.errors import OutputError

MAX_LINES = 1000


def place(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The path of the history file, or None if the user has no home folder."""
    name = "LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME"
    given = environment.get(name, "")
    if os.path.isabs(given):  # noqa: PTH117 -- XDG requires relative paths to be ignored
        return Path(given) / "tfprof" / "history"
    try:
        return Path.home() / ".local" / "state" / "tfprof" / "history"
    except RuntimeError:
        return None


class History:
    """The lines of this session and earlier ones, oldest first."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.lines: list[str] = []
        if path is not None:
            with suppress(OSError):
                self.lines = _read(path)

    def add(self, line: str) -> None:
        """Append a line, unless it is blank or repeats the last one."""
        if not line.strip() or self.lines[-1:] == [line]:
            return
        self.lines.append(line)
        if self._path is not None:
            with suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                _append(self._path, line)


def _read(path: Path) -> list[str]:
    """The last `MAX_LINES` lines; a file more than twice as long is cut to them."""
    if not path.is_file():
        return []
    lines = list(filter(None, path.read_text("utf-8", errors="replace").split("\n")))
    kept = lines[-MAX_LINES:]
    if len(lines) > 2 * MAX_LINES:
        with suppress(OutputError):
            atomic_files.write(str(path), (_encoded(line) for line in kept))
    return kept


def _append(path: Path, line: str) -> None:
    # Only the user may read the history. A single write, so that the lines of two sessions that
    # run at the same time do not mix.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "wb", buffering=0) as file:
        file.write(_encoded(line))


def _encoded(line: str) -> bytes:
    return f"{line}\n".encode(errors="replace")
