"""One question to a model, from nothing to the printed table: tfprof beside TensorFlow.

    python benchmarks/one_question.py [--ops 1e5] [--views scope,graph] [--original PYTHON] [--json]

Every figure is the median over fresh processes, taken in turns so that a busy machine troubles
both alike. Exits with 1 where the two give different tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from processes import Cost, run

_HERE = Path(__file__).resolve().parent
_VIEWS = ("scope", "graph", "op", "code")
_MAX_DEPTH = "3"
_INPUTS = ("graph.pb", "run_meta", "tfprof_log")
_HAS_TENSORFLOW = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('tensorflow'))"


@dataclass(frozen=True)
class Answer:
    """What one process took, and the table it gave, from the legend on."""

    cost: Cost
    table: str


@dataclass(frozen=True)
class Result:
    """The medians of one view; what is of the original is None where that was not asked."""

    view: str
    ops: int
    tfprof_seconds: float
    tfprof_user_seconds: float
    tfprof_mb: float
    original_seconds: float | None = None
    original_user_seconds: float | None = None
    original_mb: float | None = None
    is_same_table: bool | None = None


def main() -> int:
    args = _arguments()
    original = args.original if _has_tensorflow(args.original) else None
    with TemporaryDirectory(prefix="tfprof-benchmark-") as scratch:
        folder = Path(scratch)
        _generate(folder, args.ops)
        results = measure(folder, args.ops, args.views, args.repeat, original)
    print(json.dumps([asdict(result) for result in results]) if args.json else report(results))
    return 1 if any(result.is_same_table is False for result in results) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--ops", type=lambda text: int(float(text)), default=100_000, help="of the model (1e5)"
    )
    parser.add_argument(
        "--views", type=_views, default=["scope"], help=f"some of {','.join(_VIEWS)} (scope)"
    )
    parser.add_argument("--repeat", type=int, default=3, help="processes for each figure (3)")
    parser.add_argument(
        "--original",
        default=sys.executable,
        metavar="PYTHON",
        help="the interpreter that has TensorFlow (this one)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    return parser.parse_args()


def _views(text: str) -> list[str]:
    views = text.split(",")
    unknown = set(views) - set(_VIEWS)
    if unknown:
        raise argparse.ArgumentTypeError(f"no view {', '.join(sorted(unknown))}")
    return views


def _has_tensorflow(python: str) -> bool:
    return subprocess.run([python, "-c", _HAS_TENSORFLOW], check=False).returncode == 0


def _generate(folder: Path, op_count: int) -> None:
    # In a process of its own, because this one's memory is the least that can be measured.
    command = [sys.executable, str(_HERE / "generate.py"), str(folder), "--ops", str(op_count)]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit("No model, no figures.")


def measure(
    folder: Path, op_count: int, views: Sequence[str], repeat: int, original: str | None
) -> list[Result]:
    """Ask for each of `views` of the files in `folder`, `repeat` times, both in turns."""
    ours: dict[str, list[Answer]] = {view: [] for view in views}
    theirs: dict[str, list[Answer]] = {view: [] for view in views}
    for _ in range(repeat):
        for view in views:
            ours[view].append(ask_tfprof(folder, view))
            if original is not None:
                theirs[view].append(ask_original(folder, view, original))
    return [_result(view, op_count, ours[view], theirs[view]) for view in views]


def ask_tfprof(folder: Path, view: str) -> Answer:
    """Start tfprof on the files in `folder` and wait until it has printed its table."""
    table = folder / "table"
    inputs = [str(folder / name) for name in _INPUTS]
    command = [sys.executable, "-m", "tfprof", view, *inputs, "-max_depth", _MAX_DEPTH]
    return _answer(command, printed=table, table=table)


def ask_original(folder: Path, view: str, python: str) -> Answer:
    """Start a program that puts the same question to TensorFlow's own profiler."""
    table = folder / "table"
    inputs = [str(folder / name) for name in _INPUTS]
    command = [python, str(_HERE / "original.py"), view, _MAX_DEPTH, *inputs, str(table)]
    return _answer(command, printed=folder / "printed", table=table)


def _answer(command: Sequence[str], *, printed: Path, table: Path) -> Answer:
    errors = table.with_name("errors")
    cost = run(command, output=printed, errors=errors)
    if cost.status != 0:
        said = errors.read_text(errors="replace")
        raise SystemExit(f"{' '.join(command)}\nended with {cost.status}:\n{said}")
    legend, found, rows = table.read_text().partition("node name |")
    if not found:
        raise SystemExit(f"{' '.join(command)}\ngave no table:\n{legend}")
    return Answer(cost, rows)


def _result(view: str, op_count: int, ours: Sequence[Answer], theirs: Sequence[Answer]) -> Result:
    tables = {answer.table for answer in (*ours, *theirs)}
    mine = _median_cost(ours)
    other = _median_cost(theirs) if theirs else None
    return Result(
        view=view,
        ops=op_count,
        tfprof_seconds=mine.wall_seconds,
        tfprof_user_seconds=mine.user_seconds,
        tfprof_mb=mine.peak_mb,
        original_seconds=None if other is None else other.wall_seconds,
        original_user_seconds=None if other is None else other.user_seconds,
        original_mb=None if other is None else other.peak_mb,
        is_same_table=len(tables) == 1 if theirs else None,
    )


def _median_cost(answers: Sequence[Answer]) -> Cost:
    costs = [answer.cost for answer in answers]
    return Cost(
        wall_seconds=median(cost.wall_seconds for cost in costs),
        user_seconds=median(cost.user_seconds for cost in costs),
        peak_mb=median(cost.peak_mb for cost in costs),
        status=0,
    )


def report(results: Sequence[Result]) -> str:
    """The results as a Markdown table."""
    rows = [_cells(result) for result in results]
    lines = [f"| {' | '.join(row)} |" for row in (_HEADINGS, _ALIGNMENT, *rows)]
    if any(result.original_seconds is None for result in results):
        lines += ["", "The original was not measured: this Python has no TensorFlow (--original)."]
    return "\n".join(lines)


_HEADINGS = (
    "view",
    "ops",
    "tfprof: s",
    "original: s",
    "times faster",
    "tfprof: MB",
    "original: MB",
    "times smaller",
    "same table",
)
_ALIGNMENT = ("---", *["--:"] * 7, "---")
_UNKNOWN = "-"


def _cells(result: Result) -> list[str]:
    seconds, mb = result.original_seconds, result.original_mb
    return [
        result.view,
        f"{result.ops:,}",
        f"{result.tfprof_seconds:.2f}",
        _UNKNOWN if seconds is None else f"{seconds:.2f}",
        _UNKNOWN if seconds is None else f"{seconds / result.tfprof_seconds:.1f}",
        f"{result.tfprof_mb:,.0f}",
        _UNKNOWN if mb is None else f"{mb:,.0f}",
        _UNKNOWN if mb is None else f"{mb / result.tfprof_mb:.1f}",
        {None: _UNKNOWN, True: "yes", False: "**no**"}[result.is_same_table],
    ]


if __name__ == "__main__":
    sys.exit(main())
