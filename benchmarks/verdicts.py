"""Compares the figures with the targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from measure import Row
from tasks import MAX_GROWTH, TASKS, TIMES_SMALLER, Task


@dataclass(frozen=True)
class Verdict:
    """One task at the size that its target is for, or at the largest size measured.

    What could not be measured is None.
    """

    task: Task
    ops: int
    seconds: float
    times_faster: float | None
    times_smaller: float | None
    growth: float | None
    memory_growth: float | None

    @property
    def shortfalls(self) -> list[str]:
        """Each missed target, and by what factor it was missed."""
        targets = (
            ("speed", _missing(self.times_faster, self.task.times_faster)),
            ("memory", _missing(self.times_smaller, TIMES_SMALLER)),
            ("seconds", _excess(self.seconds, self.task.max_seconds)),
            ("growth", _excess(self.growth, MAX_GROWTH)),
            ("growth of memory", _excess(self.memory_growth, MAX_GROWTH)),
        )
        return [f"{name} by {factor:.2f} times" for name, factor in targets if factor is not None]

    @property
    def is_complete(self) -> bool:
        """Whether every target could be checked."""
        measured = (self.times_faster, self.times_smaller, self.growth, self.memory_growth)
        return None not in measured


def _missing(measured: float | None, least: float) -> float | None:
    return None if measured is None or measured >= least else least / max(measured, 1e-9)


def _excess(measured: float | None, most: float | None) -> float | None:
    return None if measured is None or most is None or measured < most else measured / most


def verdicts(rows: Iterable[Row]) -> list[Verdict]:
    """A verdict for every task that was measured."""
    by_task: dict[str, dict[int, Row]] = {}
    for row in rows:
        by_task.setdefault(row.task, {})[row.ops] = row
    return [_verdict(task, by_task[task.name]) for task in TASKS if task.name in by_task]


def _verdict(task: Task, by_ops: Mapping[int, Row]) -> Verdict:
    ops = task.at_ops if task.at_ops in by_ops else max(by_ops)
    row = by_ops[ops]
    small, large = last_tenfold(sorted(by_ops))
    return Verdict(
        task,
        ops,
        row.ours.seconds,
        times_faster(row),
        times_smaller(row),
        by_ops[large].ours.seconds / by_ops[small].ours.seconds if small else None,
        by_ops[large].ours.peak_mb / by_ops[small].ours.peak_mb if small else None,
    )


def last_tenfold(sizes: Sequence[int]) -> tuple[int, int]:
    """A tenth of a size and that size, the largest for which both were measured; or zeros."""
    pairs = [(size // 10, size) for size in sizes if size // 10 in sizes and size % 10 == 0]
    return pairs[-1] if pairs else (0, 0)


def times_faster(row: Row) -> float | None:
    """The original's seconds over tfprof's."""
    return row.original and row.original.seconds / row.ours.seconds


def times_smaller(row: Row) -> float | None:
    """The original's memory over tfprof's."""
    return row.original and row.original.peak_mb / row.ours.peak_mb
