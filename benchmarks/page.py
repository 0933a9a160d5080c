"""Writes the benchmark page of the manual, with its plot, from the figures of `bench.py`.

python benchmarks/page.py [build/benchmarks.json [docs]]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from page_section import DIFF, REPORT, TRACES, section
from report import size_table, targets_table
from results import Results
from verdicts import last_tenfold, verdicts

_ROOT = Path(__file__).resolve().parent.parent
_TEMPLATE = Path(__file__).with_name("page_template.md")


def page(results: Results, report_page: str = "", diff: str = "", traces: str = "") -> str:
    """The page as Markdown; other programs write three of its sections."""
    sizes = results.sizes
    tables = [f"## {ops:,} ops\n\n{size_table(results.at(ops))}\n" for ops in reversed(sizes)]
    remarks = [f"{sentence}\n" for sentence in (*results.faults, *results.notes)]
    return _TEMPLATE.read_text("utf-8").format(
        date=results.date,
        targets=targets_table(verdicts(results.rows)),
        command=results.command,
        repeat=results.repeat,
        growth=_growth(sizes),
        sizes="\n".join(tables + remarks),
        imported=_imported(results),
        report_page=report_page,
        diff=diff,
        traces=traces,
        machine="\n".join(f"| {name} | {fact} |" for name, fact in results.machine.items()),
    )


def _growth(sizes: Sequence[int]) -> str:
    small, large = last_tenfold(sizes)
    if not small:
        return "Growth was not measured: that requires a size and ten times that size."
    return (
        f"Growth is that of tfprof from {small:,} to {large:,} ops: "
        "ten times the ops should take about ten times the time and memory."
    )


def _imported(results: Results) -> str:
    if results.original_import_mb is None:
        return ""
    return (
        f"- The original's memory does not include the {results.original_import_mb:,.0f} MB that "
        "importing TensorFlow took in the same run.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=Path, nargs="?", default=_ROOT / "build/benchmarks.json")
    parser.add_argument("folder", type=Path, nargs="?", default=_ROOT / "docs")
    args = parser.parse_args()
    from plot import draw  # noqa: PLC0415 -- only the plot needs matplotlib

    results = Results.read(args.figures)
    path = args.folder / "benchmarks.md"
    old = path.read_text("utf-8") if path.exists() else ""
    kept = (section(old, heading) for heading in (REPORT, DIFF, TRACES))
    path.write_text(page(results, *kept), encoding="utf-8")
    draw(results.rows, args.folder / "benchmarks.svg")


if __name__ == "__main__":
    main()
