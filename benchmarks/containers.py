"""Compares containers for a saved profile: time, file size, and the packages they need.

    python benchmarks/containers.py [--ops 1e6] [--repeat 3] [--only WORD]

Prints a table: the figures of tfprof's own format, and how many times as much the others take.
Containers whose packages are not installed are skipped. Times are CPU seconds of all threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bytecode import compile_sources
from container_formats import CONTAINERS, OWN
from container_tables import tables_of
from generate import generate, op_count
from processes import in_new_process

import tfprof

_HEADINGS = ("container", "packages, MB", "import, s", "save", "load", "file", "readers")


def main() -> None:
    args = _arguments()
    chosen = [name for name in CONTAINERS if name == OWN or args.only in name]
    compile_sources()
    with TemporaryDirectory(prefix="tfprof-containers-") as scratch:
        saved = _saved_profile(Path(scratch), args.ops)
        print(f"| {' | '.join(_HEADINGS)} |\n|---|{'--:|' * 5}---|", flush=True)
        unit: dict[str, float] = {}
        for name in chosen:
            if missing := [one for one in CONTAINERS[name].packages if not _is_installed(one)]:
                print(f"| {name} | {' and '.join(missing)} not installed | | | | | |")
                continue
            found = in_new_process(measure, name, saved, args.repeat)
            unit = unit or found
            print(f"| {' | '.join(_cells(name, found, unit))} |", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=op_count, default=1_000_000, help="number of ops (1e6)")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; the fastest counts (3)")
    parser.add_argument("--only", default="", metavar="WORD", help="containers with it in the name")
    return parser.parse_args()


def _saved_profile(folder: Path, ops: int) -> Path:
    files, saved = generate(folder, ops), folder / "saved"
    tfprof.load(files.graph, files.run_meta, files.op_log).save(saved)
    return saved


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def measure(name: str, saved: Path, repeat: int) -> dict[str, float]:
    """The figures of a container that holds the tables of the profile `saved`."""
    container, path = CONTAINERS[name], saved.with_name("container")
    imported = _cpu_seconds(lambda: [import_module(one) for one in container.packages.values()])
    tables = tables_of(tfprof.load(saved).columns)
    save = min(_cpu_seconds(lambda: container.write(tables, path)) for _ in range(repeat))
    load = min(_cpu_seconds(lambda: container.read(path)) for _ in range(repeat))
    return {"import": imported, "save": save, "load": load, "file": path.stat().st_size / 1e6}


def _cpu_seconds(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _cells(name: str, found: Mapping[str, float], unit: Mapping[str, float]) -> list[str]:
    if found is unit:
        figures = [f"{found['save']:.2f} s", f"{found['load']:.2f} s", f"{found['file']:.1f} MB"]
    else:
        figures = [f"{found[fact] / unit[fact]:.2f}x" for fact in ("save", "load", "file")]
    container = CONTAINERS[name]
    size = f"{_installed_mb(container.packages):.0f}"
    return [name, size, f"{found['import']:.2f}", *figures, container.readers]


def _installed_mb(packages: Iterable[str]) -> float:
    files = [Path(file.locate()) for one in packages for file in distribution(one).files or ()]
    sizes = [file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc"]
    return sum(sizes) / 1e6


if __name__ == "__main__":
    main()
