"""tfprof beside TensorFlow's own profiler, on the same generated models and in the same run.

    python benchmarks/bench.py [--sizes 1e3,1e4] [--repeat 3] [--original PYTHON] [--json FILE]

Prints tables, and keeps the figures in a file from which `page.py` makes a page of the manual.
Exits with 1 where the two give different tables or the original failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bytecode import compile_sources
from generate import Files, op_count
from measure import Bench, Figures, has_tensorflow, lack_of_memory
from processes import FailedError
from report import bars_table, size_table
from results import Results
from verdicts import verdicts

_HERE = Path(__file__).resolve().parent
_KEPT = _HERE.parent / "build" / "benchmarks.json"
_SIZES = "1e3,1e4,1e5,1e6"
_MOST_OPS_TO_REPEAT = 10_000  # beyond, one process of the original takes seconds to a minute

_BUSY = 0.5  # processes waiting for each core


def main() -> int:
    args = _arguments()
    original = args.original if has_tensorflow(args.original) else None
    busy = _business()
    compile_sources()
    taken: list[Figures] = []
    args.json.unlink(missing_ok=True)
    for ops in args.sizes:
        try:
            taken.append(_figures(ops, args.repeat, original))
        except FailedError as error:
            sys.exit(str(error))
        results = Results.of(taken, busy, args.repeat)
        results.write(args.json)  # after each size: the last one may take all memory there is
        print(f"\n{ops:,} ops\n\n{size_table(results.at(ops))}", flush=True)
    print(f"\nAgainst the bars\n\n{bars_table(verdicts(results.rows))}\n")
    print("\n".join((*results.notes, *results.faults)))
    return 1 if results.faults else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=_sizes, default=_SIZES, help=f"in ops ({_SIZES})")
    parser.add_argument(
        "--repeat",
        type=int,
        default=3,
        help="processes for each figure (3); beyond 1e4 ops the original has one",
    )
    parser.add_argument(
        "--original",
        default=sys.executable,
        metavar="PYTHON",
        help="the interpreter that has TensorFlow (this one)",
    )
    parser.add_argument(
        "--json", type=Path, default=_KEPT, metavar="FILE", help="where the figures are kept"
    )
    return parser.parse_args()


def _business() -> list[str]:
    """A sentence on what else this machine is doing, if that is much."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < _BUSY * cores:
        return []
    found = f"The machine was busy when the run began (a load of {load:.1f} on {cores} cores)"
    return [f"{found}: the seconds say little, and the ratios less than they might."]


def _sizes(text: str) -> list[int]:
    return sorted({op_count(size) for size in text.split(",")})


def _figures(ops: int, repeat: int, original: str | None) -> Figures:
    why_not = "The original was not asked: this Python has no TensorFlow (--original)."
    if original is not None:
        why_not = lack_of_memory(ops) or ""
    with TemporaryDirectory(prefix="tfprof-benchmark-") as scratch:
        bench = Bench(_generate(Path(scratch), ops), ops, None if why_not else original)
        figures = bench.measure(repeat, repeat if ops <= _MOST_OPS_TO_REPEAT else 1)
    return replace(figures, notes=[why_not] if why_not else [])


def _generate(folder: Path, ops: int) -> Files:
    # In a process of its own, because this one's memory is the least that can be measured.
    command = [sys.executable, str(_HERE / "generate.py"), str(folder), "--ops", str(ops), "--text"]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("No model, no figures.")
    return Files(folder)


if __name__ == "__main__":
    sys.exit(main())
