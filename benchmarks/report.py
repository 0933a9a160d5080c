"""The figures as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measure import Row
from verdicts import Verdict, times_faster, times_smaller
from works import MOST_GROWTH, TIMES_SMALLER

_UNKNOWN = "-"


def bars_table(verdicts: Iterable[Verdict]) -> str:
    """Each piece of work against its bar."""
    headings = (
        "work",
        "ops",
        "times faster",
        "asked",
        f"times smaller (asked {TIMES_SMALLER})",
        f"growth of time (under {MOST_GROWTH})",
        f"of memory (under {MOST_GROWTH})",
        "verdict",
    )
    return _table(headings, [_bar_cells(verdict) for verdict in verdicts], words=(0, 7))


def _bar_cells(verdict: Verdict) -> list[str]:
    work = verdict.work
    limit = "" if work.most_seconds is None else f", in {_seconds(work.most_seconds)}"
    missed = ", ".join(verdict.shortfalls)
    kept = "met" if verdict.is_complete else "met as far as measured"
    return [
        work.name,
        f"{verdict.ops:,}" + ("" if verdict.ops == work.at_ops else f" for {work.at_ops:,}"),
        _ratio(verdict.times_faster),
        f"{work.times_faster:g}{limit}",
        _ratio(verdict.times_smaller),
        _ratio(verdict.growth),
        _ratio(verdict.memory_growth),
        f"**not met**: {missed}" if missed else kept,
    ]


def size_table(rows: Iterable[Row]) -> str:
    """What was measured at one size."""
    headings = (
        "work",
        "tfprof",
        "original",
        "times faster",
        "tfprof: MB",
        "original: MB",
        "times smaller",
        "same table",
    )
    return _table(headings, [_size_cells(row) for row in rows], words=(0, 7))


def _size_cells(row: Row) -> list[str]:
    original = row.original
    return [
        row.work,
        _seconds(row.ours.seconds),
        _UNKNOWN if original is None else _seconds(original.seconds),
        _ratio(times_faster(row)),
        _megabytes(row.ours.peak_mb),
        _UNKNOWN if original is None else _megabytes(original.peak_mb),
        _ratio(times_smaller(row)),
        {None: _UNKNOWN, True: "yes", False: "**NO**"}[row.is_same_table],
    ]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int]) -> str:
    rule = ["---" if column in words else "--:" for column in range(len(headings))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rule, *rows))


def _ratio(value: float | None) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _seconds(value: float) -> str:
    if value >= 100:
        return f"{value:.0f} s"
    if value >= 1:
        return f"{value:.1f} s"
    return f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.1f} ms"


def _megabytes(value: float) -> str:
    return f"{value:,.0f}"
