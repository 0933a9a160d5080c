"""Compares tfprof with TensorFlow's own profiler on generated models.

    python benchmarks/bench.py [--sizes 1e3,1e4] [--repeat 3] [--original PYTHON] [--json FILE]

Prints tables, and writes the figures to a file from which `page.py` generates a page of the manual.
Exits with 1 if the two give different tables or the original fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bytecode import compile_sources
from generate import Files, op_count
from measure import Bench, Figures, has_tensorflow, lack_of_memory
from processes import FailedError
from report import size_table, targets_table
from results import Results, busy_note
from verdicts import verdicts

_HERE = Path(__file__).resolve().parent
_FIGURES = _HERE.parent / "build" / "benchmarks.json"
_SIZES = "1e3,1e4,1e5,1e6"
_MOST_OPS_TO_REPEAT = 10_000  # beyond, one process of the original takes up to minutes


def main() -> int:
    args = _arguments()
    original = args.original if has_tensorflow(args.original) else None
    busy = busy_note()
    compile_sources()
    taken: list[Figures] = []
    args.json.unlink(missing_ok=True)
    for ops in args.sizes:
        try:
            taken.append(_figures(ops, args.repeat, original))
        except FailedError as error:
            sys.exit(str(error))
        results = Results.of(taken, busy, args.repeat)
        results.write(args.json)  # after each size: the largest may run out of memory
        print(f"\n{ops:,} ops\n\n{size_table(results.at(ops))}", flush=True)
    print(f"\nTargets\n\n{targets_table(verdicts(results.rows))}\n")
    print("\n".join((*results.notes, *results.faults)))
    return 1 if results.faults else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sizes", type=_sizes, default=_SIZES, help=f"model sizes in ops ({_SIZES})"
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=3,
        help="processes per figure (3); beyond 1e4 ops the original runs once",
    )
    parser.add_argument(
        "--original",
        default=sys.executable,
        metavar="PYTHON",
        help="Python interpreter with TensorFlow (default: this one)",
    )
    parser.add_argument(
        "--json", type=Path, default=_FIGURES, metavar="FILE", help="where to write the figures"
    )
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return sorted({op_count(size) for size in text.split(",")})


def _figures(ops: int, repeat: int, original: str | None) -> Figures:
    why_not = "The original was not measured: this Python has no TensorFlow (--original)."
    if original is not None:
        why_not = lack_of_memory(ops) or ""
    with TemporaryDirectory(prefix="tfprof-benchmark-") as scratch:
        bench = Bench(_generate(Path(scratch), ops), ops, None if why_not else original)
        figures = bench.measure(repeat, repeat if ops <= _MOST_OPS_TO_REPEAT else 1)
    return replace(figures, notes=[why_not] if why_not else [])


def _generate(folder: Path, ops: int) -> Files:
    # In a separate process: child processes inherit the memory peak of this one.
    command = [sys.executable, str(_HERE / "generate.py"), str(folder), "--ops", str(ops), "--text"]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("Generating the model failed.")
    return Files(folder)


if __name__ == "__main__":
    sys.exit(main())
