"""Formats the figures as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measure import Row
from tasks import MAX_GROWTH, TIMES_SMALLER
from verdicts import Verdict, times_faster, times_smaller

_UNKNOWN = "-"


def targets_table(verdicts: Iterable[Verdict]) -> str:
    """Each task compared with its targets."""
    headings = (
        "task",
        "ops",
        "times faster",
        "target",
        f"times smaller (target {TIMES_SMALLER})",
        f"growth of time (below {MAX_GROWTH})",
        f"growth of memory (below {MAX_GROWTH})",
        "verdict",
    )
    return _table(headings, [_target_cells(verdict) for verdict in verdicts], words=(0, 7))


def _target_cells(verdict: Verdict) -> list[str]:
    task = verdict.task
    limit = "" if task.max_seconds is None else f", in {_seconds(task.max_seconds)}"
    missed = ", ".join(verdict.shortfalls)
    kept = "met" if verdict.is_complete else "met as far as measured"
    return [
        task.name,
        f"{verdict.ops:,}" + ("" if verdict.ops == task.at_ops else f" for {task.at_ops:,}"),
        _ratio(verdict.times_faster),
        f"{task.times_faster:g}{limit}",
        _ratio(verdict.times_smaller),
        _ratio(verdict.growth),
        _ratio(verdict.memory_growth),
        f"**not met**: {missed}" if missed else kept,
    ]


def size_table(rows: Iterable[Row]) -> str:
    """The figures of one size."""
    headings = (
        "task",
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
        row.task,
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
