"""The change of a time between the steps of a base and those of new recordings."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from tfprof.columns import Floats, Ints
from tfprof.comparison.times import compare_medians

Worker: TypeAlias = tuple[str, int]  # a host and a rank


class Times(NamedTuple):
    """The time of each step in nanoseconds, the recording it belongs to, and their workers."""

    nanos: Floats
    recording: Ints
    workers: tuple[Worker, ...]  # of each recording

    @property
    def hosts(self) -> set[str]:
        """The hosts whose names are known."""
        return {host for host, _ in self.workers if host}

    def of(self, workers: Collection[Worker]) -> Times:
        """The times of the recordings of some workers."""
        rows = [row for row, worker in enumerate(self.workers) if worker in workers]
        flags = np.isin(self.recording, rows)
        return Times(self.nanos[flags], self.recording[flags], self.workers)

    def medians(self) -> list[float]:
        """The median step of each recording."""
        rows = np.unique(self.recording).tolist()
        return [float(np.median(self.nanos[self.recording == row])) for row in rows]


class Change(NamedTuple):
    """Medians in nanoseconds, the interval of their difference, and whether recordings agree."""

    before: Fraction
    after: Fraction
    low: Fraction
    high: Fraction
    is_conclusive: bool
    # The smallest difference between a new recording and one of the base. Repeated recordings of a
    # program differ by more than their steps, so all of them must agree.
    closest: Fraction

    @property
    def amount(self) -> Fraction:
        """The difference of the medians."""
        return self.after - self.before


def compare(before: Times, after: Times) -> Change:
    """Compare the times of steps; of several workers, the one with the median change."""
    shared = set(before.workers) & set(after.workers)
    groups = [{worker} for worker in sorted(shared)] or [{*before.workers, *after.workers}]
    pairs = [(before.of(group), after.of(group)) for group in groups]
    found = [_compared(*pair) for pair in pairs if all(len(side.nanos) for side in pair)]
    return sorted(found, key=lambda change: (change.amount, change.after))[(len(found) - 1) // 2]


def _compared(before: Times, after: Times) -> Change:
    found = compare_medians(before.nanos[None, :], after.nanos[None, :])
    numbers = (found.before, found.after, found.low, found.high)
    old, new, low, high = (
        Fraction(float(column[0])) if np.isfinite(column[0]) else Fraction(0) for column in numbers
    )
    closest = Fraction(min(after.medians()) - max(before.medians()))
    return Change(old, new, low, high, found.is_conclusive, closest)
