"""Measures the comparison of two generated models, and the views of both for comparison.

    python benchmarks/diff_speed.py [--sizes 1e4,1e5] [--repeat 3] [--write docs/benchmarks.md]

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bytecode import compile_sources
from generate import generate, op_count
from page_section import DIFF, replaced
from phases import Measure
from processes import in_new_process, run
from recorded_steps import recorded
from results import busy_note
from tasks import MAX_GROWTH

VIEWS = ("scope", "code", "op")
# The targets for two models of 100,000 ops.
TARGET_OPS, MAX_SECONDS, MAX_MB = 100_000, 3.0, 600.0

_HEADINGS = ("ops on each side", "view", "diff: s", "MB", "both views: s", "MB", "ratio of times")


class Row(NamedTuple):
    """The medians for one size and view; `peer` is the two commands that show each side."""

    ops: int
    view: str
    diff: Measure
    peer: Measure

    @property
    def cells(self) -> tuple[str, ...]:
        diff, peer = (
            (f"{side.seconds:.2f}", f"{side.peak_mb:.0f}") for side in (self.diff, self.peer)
        )
        return (
            f"{self.ops:,}",
            self.view,
            *diff,
            *peer,
            f"{self.diff.seconds / self.peer.seconds:.2f}",
        )


def main() -> int:
    args = _arguments()
    compile_sources()
    rows = [row for ops in args.sizes for row in measured(ops, args.repeat)]
    missed = list(shortfalls(rows))
    text = "\n".join(
        [_introduction(args.repeat), table(rows), "", *(missed or ["All targets are met."]), ""]
    )
    print(text)
    if args.write:
        page = args.write.read_text("utf-8")
        args.write.write_text(replaced(page, DIFF, text), encoding="utf-8")
    return 1 if missed else 0


def measured(ops: int, repeat: int) -> Iterator[Row]:
    """The figures of one size; comparisons and views take turns."""
    with TemporaryDirectory(prefix="tfprof-diff-") as scratch:
        folder = Path(scratch)
        sides = [in_new_process(_files, folder / str(seed), ops, seed) for seed in (0, 1)]
        for view in VIEWS:
            taken = [_once(folder / "printed", view, sides) for _ in range(repeat)]
            yield Row(ops, view, *(_median(column) for column in zip(*taken, strict=True)))


def _files(folder: Path, ops: int, seed: int) -> list[str]:
    return [str(path) for path in recorded(generate(folder, ops, seed=seed)).paths]


def _once(printed: Path, view: str, sides: Sequence[list[str]]) -> tuple[Measure, Measure]:
    base, new = sides
    command, depth = [sys.executable, "-m", "tfprof"], ["-max_depth", "3"]
    diff = run([*command, "diff", *base, "vs", *new, "-view", view, *depth], output=printed)
    views = [run([*command, view, *side, *depth], output=printed) for side in sides]
    return diff, Measure(sum(one.seconds for one in views), max(one.peak_mb for one in views))


def _median(taken: Sequence[Measure]) -> Measure:
    return Measure(median(one.seconds for one in taken), median(one.peak_mb for one in taken))


def shortfalls(rows: Sequence[Row]) -> Iterator[str]:
    """The targets that are missed, in sentences."""
    by_size = {(row.ops, row.view): row for row in rows}
    for row in rows:
        what = f"`tfprof diff -view {row.view}` of {row.ops:,} ops"
        if row.ops <= TARGET_OPS and row.diff.seconds >= MAX_SECONDS:
            yield f"**Not met**: {what} takes {row.diff.seconds:.1f} s, not {MAX_SECONDS:g} s."
        if row.ops <= TARGET_OPS and row.diff.peak_mb >= MAX_MB:
            yield f"**Not met**: {what} takes {row.diff.peak_mb:.0f} MB, not {MAX_MB:g} MB."
        small = by_size.get((row.ops // 10, row.view))
        if small and row.diff.seconds >= MAX_GROWTH * small.diff.seconds:
            growth = row.diff.seconds / small.diff.seconds
            yield f"**Not met**: {what} takes {growth:.1f} times as long as a tenth of it."


def table(rows: Sequence[Row]) -> str:
    """The figures as Markdown."""
    rule = ["--:" if place != 1 else "---" for place in range(len(_HEADINGS))]
    lines = (_HEADINGS, rule, *(row.cells for row in rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _introduction(repeat: int) -> str:
    text = Path(__file__).with_name("diff_template.md").read_text("utf-8")
    today = datetime.now(UTC).date().isoformat()
    limits = {"ops": TARGET_OPS, "seconds": MAX_SECONDS, "megabytes": MAX_MB, "growth": MAX_GROWTH}
    text = text.format(date=today, repeat=repeat, **limits)
    return "\n".join([text, *(f"{note}\n" for note in busy_note())])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=_sizes, default="1e4,1e5", help="numbers of ops (1e4,1e5)")
    parser.add_argument("--repeat", type=int, default=3, help="runs; the median counts (3)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page with the section")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return sorted({op_count(size) for size in text.split(",")})


if __name__ == "__main__":
    sys.exit(main())
