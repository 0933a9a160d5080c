"""Compares saving and loading a profile with loading the files that it was made from.

    python benchmarks/saving.py [--ops 1e6] [--repeat 3]

Prints seconds, CPU seconds of all threads and file sizes, with their ratios to the first row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bytecode import compile_sources
from generate import generate, op_count
from processes import in_new_process

import tfprof

FORMATS = ("tfprof", "profile_proto")
_HEADINGS = ("task", "seconds", "ratio", "CPU seconds", "ratio", "MB", "ratio")


class Figures(NamedTuple):
    """What a task takes; `megabytes` are those of the files that it reads or writes."""

    seconds: float
    cpu_seconds: float
    megabytes: float


def main() -> None:
    args = _arguments()
    compile_sources()
    with TemporaryDirectory(prefix="tfprof-saving-") as scratch:
        rows = list(_rows(Path(scratch), args.ops, args.repeat))
    unit = rows[0][1]
    print(f"| {' | '.join(_HEADINGS)} |\n|---|{'--:|' * (len(_HEADINGS) - 1)}")
    for task, figures in rows:
        pairs = zip(figures, unit, strict=True)
        print(f"| {task} | {' | '.join(f'{n:.2f} | {n / one:.2f}' for n, one in pairs)} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=op_count, default=1_000_000, help="number of ops (1e6)")
    parser.add_argument("--repeat", type=int, default=3, help="processes; the fastest counts (3)")
    return parser.parse_args()


def _rows(folder: Path, ops: int, repeat: int) -> Iterator[tuple[str, Figures]]:
    files = generate(folder, ops)
    originals = [files.graph, files.run_meta, files.op_log]
    yield "load the original files", _fastest(repeat, _load, originals)
    for name in FORMATS:
        yield f"save as {name}", _fastest(repeat, _save, originals, folder / name, name)
        yield f"load {name}", _fastest(repeat, _load, [folder / name])


def _fastest(repeat: int, work: Callable[..., Figures], *args: Any) -> Figures:
    """The least of each figure, each time in a new process."""
    taken = [in_new_process(work, *args) for _ in range(repeat)]
    return Figures(*map(min, zip(*taken, strict=True)))


def _load(paths: Sequence[Path]) -> Figures:
    return _measured(partial(tfprof.load, *paths), paths)


def _save(paths: Sequence[Path], target: Path, name: str) -> Figures:
    profile = tfprof.load(*paths)
    return _measured(partial(profile.save, target, name), [target])


def _measured(work: Callable[[], Any], paths: Sequence[Path]) -> Figures:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return Figures(seconds, cpu_seconds, sum(path.stat().st_size for path in paths) / 1e6)


if __name__ == "__main__":
    main()
