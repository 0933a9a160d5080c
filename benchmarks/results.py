"""Stores the figures, with a description of the machine, in a JSON file."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

from measure import Figures, Row
from phases import Measure

_BUSY = 0.5  # load per core


@dataclass(frozen=True)
class Results:
    """The figures of one run, for all sizes."""

    date: str
    command: str
    repeat: int
    machine: Mapping[str, str]
    rows: Sequence[Row]
    faults: Sequence[str]
    notes: Sequence[str]
    original_import_mb: float | None

    @classmethod
    def of(cls, figures: Sequence[Figures], notes: Sequence[str], repeat: int) -> Self:
        """The figures of this run, measured here and today, with `notes` on the whole run."""
        imports = [each.original_import for each in figures if each.original_import]
        return cls(
            datetime.now(UTC).date().isoformat(),
            shlex.join(["python", "benchmarks/bench.py", *sys.argv[1:]]),
            repeat,
            machine(),
            [row for each in figures for row in each.rows],
            [fault for each in figures for fault in each.faults],
            [*notes, *(note for each in figures for note in each.notes)],
            imports[-1].peak_mb if imports else None,
        )

    @property
    def sizes(self) -> list[int]:
        return sorted({row.ops for row in self.rows})

    def at(self, ops: int) -> list[Row]:
        return [row for row in self.rows if row.ops == ops]

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        content = json.loads(path.read_text("utf-8"))
        return cls(**{**content, "rows": [_row(row) for row in content["rows"]]})


def _row(content: dict) -> Row:
    original = content["original"]
    return Row(
        **{
            **content,
            "ours": Measure(**content["ours"]),
            "original": original and Measure(**original),
        }
    )


def busy_note() -> list[str]:
    """A warning if the machine is busy with something else."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < _BUSY * cores:
        return []
    found = f"The machine was busy when the run started (load {load:.1f} on {cores} cores)"
    return [f"{found}: the times are unreliable, and the ratios less accurate than usual."]


def machine() -> dict[str, str]:
    """A description of this machine, without its name."""
    facts = {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_memory_bytes() / 2**30:.0f} GiB",
        "system": _system(),
        "Python": platform.python_version(),
    }
    for package in ("tfprof", "numpy", "protobuf", "tensorflow"):
        facts[package] = _version(package)
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        name = platform.system()
    return f"{name}, {platform.system()} {platform.release().partition('-')[0]}"


def _version(package: str) -> str:
    for name in (package, f"{package}_cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "not installed"
