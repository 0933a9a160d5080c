"""Compares saving and loading a profile with loading the files that it was made from.

    python benchmarks/saving.py [--ops 1e6] [--repeat 3]

Prints a table of seconds and file sizes, with their ratios to those of the original files.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bytecode import compile_sources
from generate import generate, op_count
from processes import in_new_process

import tfprof

FORMATS = ("tfprof", "profile_proto")
_HEADINGS = ("task", "seconds", "ratio", "MB", "ratio")


def main() -> None:
    args = _arguments()
    compile_sources()
    with TemporaryDirectory(prefix="tfprof-saving-") as scratch:
        rows = list(_rows(Path(scratch), args.ops, args.repeat))
    _, seconds, megabytes = rows[0]
    print(f"| {' | '.join(_HEADINGS)} |\n|---|{'--:|' * (len(_HEADINGS) - 1)}")
    for task, took, size in rows:
        print(
            f"| {task} | {took:.2f} | {took / seconds:.2f} | {size:.1f} | {size / megabytes:.2f} |"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=op_count, default=1_000_000, help="number of ops (1e6)")
    parser.add_argument("--repeat", type=int, default=3, help="processes; the fastest counts (3)")
    return parser.parse_args()


def _rows(folder: Path, ops: int, repeat: int) -> Iterator[tuple[str, float, float]]:
    """Each task with its seconds, and the megabytes of the files that it reads or writes."""
    files = generate(folder, ops)
    originals = [files.graph, files.run_meta, files.op_log]
    yield "load the original files", _load_seconds(originals, repeat), _megabytes(originals)
    for name in FORMATS:
        saved = folder / name
        took = min(in_new_process(_save, originals, saved, name) for _ in range(repeat))
        yield f"save as {name}", took, _megabytes([saved])
        yield f"load {name}", _load_seconds([saved], repeat), _megabytes([saved])


def _load_seconds(paths: Sequence[Path], repeat: int) -> float:
    return min(in_new_process(_load, paths) for _ in range(repeat))


def _load(paths: Sequence[Path]) -> float:
    started = time.perf_counter()
    tfprof.load(*paths)
    return time.perf_counter() - started


def _save(paths: Sequence[Path], target: Path, name: str) -> float:
    profile = tfprof.load(*paths)
    started = time.perf_counter()
    profile.save(target, name)
    return time.perf_counter() - started


def _megabytes(paths: Sequence[Path]) -> float:
    return sum(path.stat().st_size for path in paths) / 1e6


if __name__ == "__main__":
    main()
