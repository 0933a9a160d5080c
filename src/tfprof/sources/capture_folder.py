"""A folder that a profiler or `tfprof.capture` left: which files in it belong together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tfprof.errors import InputError

# What is being recorded is in such a folder beside the one it is for, until it is whole.
PARTIAL = ".tfprof-partial"
GRAPH = "graph.pb"
OP_LOG = "tfprof_log"

_RECORDINGS = "plugins/profile"
_PATTERNS = ("*.xplane.pb", "*.xplane.pb.gz")


def partial_path(folder: Path) -> Path:
    """Where a recording for `folder` is until it is whole."""
    return folder.with_name(f".{folder.name}{PARTIAL}")


def files_of(path: str) -> list[str]:
    """The files to read for `path`: of a folder with recordings those of the latest one.

    A path that is no such folder stands for itself. Each host leaves a file of its own.
    """
    try:
        folder = Path(path)
        _require_finished(folder)
        return list(map(str, _recorded(folder))) or [path] if folder.is_dir() else [path]
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return [path]


def _require_finished(folder: Path) -> None:
    if folder.name.endswith(PARTIAL):
        raise InputError(
            folder, "is a recording that was not finished; remove it and record again."
        )
    partial = partial_path(folder)
    if not folder.exists() and folder.name and partial.is_dir():
        raise InputError(
            folder,
            "its recording was not finished: the program still runs, or was ended. If it was, "
            f"remove {partial} and record again.",
        )


def _recorded(folder: Path) -> Iterator[Path]:
    if not (hosts := _hosts(folder)):
        runs = sorted(path for path in (folder / _RECORDINGS).glob("*") if path.is_dir())
        found = [files for run in runs if (files := _hosts(run))]
        hosts = found[-1] if found else []
    if hosts:
        yield from hosts
        beside = (folder / f"{name}{end}" for name in (GRAPH, OP_LOG) for end in ("", ".gz"))
        yield from filter(Path.is_file, beside)


def _hosts(folder: Path) -> list[Path]:
    return sorted(file for pattern in _PATTERNS for file in folder.glob(pattern) if file.is_file())
