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

_SMALL_OPS = 200
_HEADINGS = ("container", "packages, MB", "import, s", "save", "load", "file", "readers")


def main() -> None:
    args = _arguments()
    chosen = [name for name in CONTAINERS if name == OWN or args.only in name]
    compile_sources()
    with TemporaryDirectory(prefix="tfprof-containers-") as scratch:
        folder = Path(scratch)
        _save_profiles(folder, args.ops)
        print(f"| {' | '.join(_HEADINGS)} |\n|---|{'--:|' * 5}---|", flush=True)
        unit: dict[str, float] = {}
        for name in chosen:
            if missing := [one for one in CONTAINERS[name].packages if not _is_installed(one)]:
                print(f"| {name} | {' and '.join(missing)} not installed | | | | | |")
                continue
            found = measure(name, folder, args.repeat)
            unit = unit or found
            print(f"| {' | '.join(_cells(name, found, unit))} |", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=op_count, default=1_000_000, help="number of ops (1e6)")
    parser.add_argument("--repeat", type=int, default=3, help="processes; the fastest counts (3)")
    parser.add_argument("--only", default="", metavar="WORD", help="containers with it in the name")
    return parser.parse_args()


def _save_profiles(folder: Path, ops: int) -> None:
    """Save the profile that is measured, and a small one."""
    for name, count in (("saved", ops), ("small", min(ops, _SMALL_OPS))):
        files = generate(folder, count)
        tfprof.load(files.graph, files.run_meta, files.op_log).save(folder / name)


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def measure(name: str, folder: Path, repeat: int) -> dict[str, float]:
    """The figures of a container; each time is the least of several processes."""
    taken = {
        work.__name__.strip("_"): min(in_new_process(work, name, folder) for _ in range(repeat))
        for work in (_import, _save, _load)
    }
    return {**taken, "file": (folder / name).stat().st_size / 1e6}


def _import(name: str, _: Path) -> float:
    return _cpu_seconds(lambda: [import_module(one) for one in CONTAINERS[name].packages.values()])


def _save(name: str, folder: Path) -> float:
    _use_once(name, folder)
    tables = tables_of(tfprof.load(folder / "saved").columns)
    return _cpu_seconds(lambda: CONTAINERS[name].write(tables, folder / name))


def _load(name: str, folder: Path) -> float:
    _use_once(name, folder)
    return _cpu_seconds(lambda: CONTAINERS[name].read(folder / name))


def _use_once(name: str, folder: Path) -> None:
    """Import whatever is imported on first use."""
    small = folder / "small container"
    CONTAINERS[name].write(tables_of(tfprof.load(folder / "small").columns), small)
    CONTAINERS[name].read(small)


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
