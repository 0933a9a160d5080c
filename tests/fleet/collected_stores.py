"""Small fleets of hosts, and what is in a store, for the tests of `collect`."""

from __future__ import annotations

import os
from pathlib import Path

import fleets  # makes the generator importable
from fleet import generate

SMALL = fleets.Job(hosts=6, steps=2, layers=2)


def recorded(folder: Path, job: fleets.Job = SMALL) -> list[Path]:
    """Write the traces of a small fleet; returns their paths."""
    return generate(folder, job)


def contents(store: Path | str) -> dict[str, bytes]:
    """All files of a store by name, also those that are hidden."""
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in sorted(Path(store).rglob("*"))
        if path.is_file()
    }


def identities(store: Path | str) -> dict[str, tuple[int, int]]:
    """The files of the partitions of a store, with what changes if a file is written again."""
    return {
        str(path.relative_to(store)): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in Path(store).rglob("*")
        if path.is_file() and "index" not in path.parts
    }


def session_members(leader: int) -> list[int]:
    """The processes of the session that a process started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def forget_warnings(environment: dict[str, str] = os.environ) -> dict[str, str]:
    """An environment for processes that run code of other packages, which may warn."""
    return {key: value for key, value in environment.items() if key != "PYTHONWARNINGS"}
