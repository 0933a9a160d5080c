"""The lines of earlier sessions, in the user's own folder for such things.

A folder that cannot be read or written costs the history, nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MOST_LINES = 1000


def place(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where the history is, None where the user has no such folder."""
    name = "LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME"
    given = environment.get(name, "")
    if os.path.isabs(given):  # noqa: PTH117 -- the standard has others left aside
        return Path(given) / "tfprof" / "history"
    try:
        return Path.home() / ".local" / "state" / "tfprof" / "history"
    except RuntimeError:
        return None


class History:
    """Lines of this session and of those before, the oldest first."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.lines: list[str] = []
        if path is not None:
            with suppress(OSError):
                self.lines = _read(path)

    def add(self, line: str) -> None:
        """Remember a line, unless it is blank or the last one over again."""
        if not line.strip() or self.lines[-1:] == [line]:
            return
        self.lines.append(line)
        if self._path is not None:
            with suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                _write(self._path, [line], os.O_APPEND)


def _read(path: Path) -> list[str]:
    """The last lines of a file, which is shortened to them once it has grown to twice as many."""
    if not path.is_file():
        return []
    lines = list(filter(None, path.read_text("utf-8", errors="replace").split("\n")))
    kept = lines[-MOST_LINES:]
    if len(lines) > 2 * MOST_LINES:
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        _write(partial, kept, os.O_EXCL)
        partial.replace(path)
    return kept


def _write(path: Path, lines: list[str], how: int) -> None:
    # What somebody typed is for nobody else to read.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{line}\n" for line in lines)
