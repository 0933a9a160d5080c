"""The change of a time between the steps of a base and those of new recordings."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from tfprof.columns import Floats, Ints
from tfprof.comparison.times import Steps, compare_medians

Worker: TypeAlias = tuple[str, int]  # a host and a rank


class Times(NamedTuple):
    """The time of each step in nanoseconds, its recording and run, and their workers."""

    nanos: Floats
    recording: Ints
    run: Ints  # of the program: recordings of a worker may be of several
    workers: tuple[Worker, ...]  # of each recording

    @property
    def hosts(self) -> set[str]:
        """The hosts whose names are known."""
        return {host for host, _ in self.workers if host}

    def of(self, workers: Collection[Worker]) -> Times:
        """The times of the recordings of some workers."""
        rows = [row for row, worker in enumerate(self.workers) if worker in workers]
        flags = np.isin(self.recording, rows)
        return Times(self.nanos[flags], self.recording[flags], self.run[flags], self.workers)

    def longer(self, nanos: float) -> Times:
        """The same if each step took this much longer."""
        return self._replace(nanos=self.nanos + nanos)

    @property
    def runs(self) -> int:
        """How many runs of the program were recorded."""
        return len(np.unique(self.run))

    def steps(self) -> Steps:
        """The same as a row of times."""
        return Steps(self.nanos[None, :], self.run)


class Change(NamedTuple):
    """Medians in nanoseconds, the interval of their difference, and whether there is any."""

    before: Fraction
    after: Fraction
    low: Fraction
    high: Fraction
    is_conclusive: bool
    is_certain: bool  # whether the times differ, by the interval and by the test
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
    sides = before.steps(), after.steps()
    found = compare_medians(*sides)
    numbers = (found.before, found.after, found.low, found.high)
    old, new, low, high = (
        Fraction(float(column[0])) if np.isfinite(column[0]) else Fraction(0) for column in numbers
    )
    base, latest = (side.medians() for side in sides)
    closest = Fraction(float(latest.min() - base.max()))
    is_certain = bool(found.is_certain[0])
    return Change(old, new, low, high, found.is_conclusive, is_certain, closest)
