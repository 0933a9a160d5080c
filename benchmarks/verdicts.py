"""Holds what was measured against the bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from measure import Row
from works import MOST_GROWTH, TIMES_SMALLER, WORKS, Work


@dataclass(frozen=True)
class Verdict:
    """One piece of work at the size its bar is stated for, or else at the largest measured.

    What could not be measured is None; `shortfalls` says by how much each missed bar was missed.
    """

    work: Work
    ops: int
    seconds: float
    times_faster: float | None
    times_smaller: float | None
    growth: float | None
    memory_growth: float | None

    @property
    def shortfalls(self) -> list[str]:
        """For each bar that was missed: which, and how many times over."""
        bars = (
            ("speed", _missing(self.times_faster, self.work.times_faster)),
            ("memory", _missing(self.times_smaller, TIMES_SMALLER)),
            ("seconds", _excess(self.seconds, self.work.most_seconds)),
            ("growth", _excess(self.growth, MOST_GROWTH)),
            ("growth of memory", _excess(self.memory_growth, MOST_GROWTH)),
        )
        return [f"{bar} by {factor:.2f} times" for bar, factor in bars if factor is not None]

    @property
    def is_complete(self) -> bool:
        """Whether every bar could be judged."""
        measured = (self.times_faster, self.times_smaller, self.growth, self.memory_growth)
        return None not in measured


def _missing(measured: float | None, least: float) -> float | None:
    return None if measured is None or measured >= least else least / max(measured, 1e-9)


def _excess(measured: float | None, most: float | None) -> float | None:
    return None if measured is None or most is None or measured < most else measured / most


def verdicts(rows: Iterable[Row]) -> list[Verdict]:
    """A verdict for every piece of work that was measured."""
    by_work: dict[str, dict[int, Row]] = {}
    for row in rows:
        by_work.setdefault(row.work, {})[row.ops] = row
    return [_verdict(work, by_work[work.name]) for work in WORKS if work.name in by_work]


def _verdict(work: Work, by_ops: Mapping[int, Row]) -> Verdict:
    ops = work.at_ops if work.at_ops in by_ops else max(by_ops)
    row = by_ops[ops]
    small, large = last_tenfold(sorted(by_ops))
    return Verdict(
        work,
        ops,
        row.ours.seconds,
        times_faster(row),
        times_smaller(row),
        by_ops[large].ours.seconds / by_ops[small].ours.seconds if small else None,
        by_ops[large].ours.peak_mb / by_ops[small].ours.peak_mb if small else None,
    )


def last_tenfold(sizes: Sequence[int]) -> tuple[int, int]:
    """The largest size that was also measured at a tenth of it, behind that tenth; or zeros."""
    pairs = [(size // 10, size) for size in sizes if size // 10 in sizes and size % 10 == 0]
    return pairs[-1] if pairs else (0, 0)


def times_faster(row: Row) -> float | None:
    """The original's seconds over tfprof's."""
    return row.original and row.original.seconds / row.ours.seconds


def times_smaller(row: Row) -> float | None:
    """The original's memory over tfprof's."""
    return row.original and row.original.peak_mb / row.ours.peak_mb
