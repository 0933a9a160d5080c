"""Whether times differ: medians over steps before and after, an interval, and a test.

The interval is that of the bootstrap (`comparison.resamples`), the test is that of the ranks of the
steps (`comparison.chance`). Repeated recordings of a program differ by more than their steps show.
If a side has several, their medians are compared too; with three or more on each side they take
the place of the steps, otherwise nothing but the steps says how wide the interval is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.comparison.chance import found_among, of_ranks, of_recordings
from tfprof.comparison.resamples import intervals

CONFIDENCE = 0.95
# A difference that is likelier by chance is not claimed. If recordings are repeated, there is no
# other condition, such as that a part of the model explains it, so chance must be ruled out better.
LEVEL = 0.05
LEVEL_OF_RUNS = 0.01
# Of the rows that are found to differ, at most this share may be found by chance.
FALSE_SHARE = 0.05
# With fewer steps before or after, not even steps that are all longer are less likely than `LEVEL`.
LEAST_STEPS = 4
# From this many recordings of each side on, these are what is compared.
LEAST_RUNS = 3
# A smaller difference, compared with the larger of both medians, is not worth a remark.
LEAST_EFFECT = 0.02


class Steps(NamedTuple):
    """Rows of times, one column per step, and the run of the program that each step is of."""

    times: Floats
    run: Ints

    @classmethod
    def of_one_run(cls, times: Floats) -> Steps:
        """Steps of a single recording."""
        return cls(times, np.zeros(times.shape[1], np.int64))

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(np.unique(self.run))

    def medians(self) -> Floats:
        """The median step of each run."""
        return np.stack(
            [np.median(self.times[:, self.run == run], axis=1) for run in np.unique(self.run)],
            axis=1,
        )


class TimeChanges(NamedTuple):
    """The change of the time of each row: medians over steps, and a 95 % interval in between."""

    before: Floats
    after: Floats
    low: Floats  # of `after - before`
    high: Floats
    chance: Floats  # of steps that differ as much although nothing changed (the p-value)
    level: float  # the largest chance with which a difference is claimed
    is_shown: Bools  # the steps show that the times differ
    is_conclusive: bool  # False if there are too few steps to tell

    @property
    def change(self) -> Floats:
        return self.after - self.before

    @property
    def excludes_zero(self) -> Bools:
        """Whether the interval has changes in one direction only."""
        return np.asarray((self.low > 0) | (self.high < 0))

    @property
    def is_large(self) -> Bools:
        """Whether the medians differ by more than is worth no remark."""
        return np.asarray(np.abs(self.change) > LEAST_EFFECT * np.maximum(self.before, self.after))

    @property
    def is_certain(self) -> Bools:
        """Whether the times differ, be it by little, or because of the machine."""
        return np.asarray(self.excludes_zero & (self.chance <= self.level))

    def among(self, *families: Bools) -> TimeChanges:
        """The same, with differences only in the rows of families, each of which is one question.

        The more rows a family has, the less likely by chance each of them must be.
        """
        found = [found_among(self.chance, family, FALSE_SHARE) for family in families]
        return self._replace(is_shown=self.is_shown & np.any(found, axis=0))


def is_repeated(before: Steps, after: Steps) -> bool:
    """Whether both sides were recorded often enough to compare recordings."""
    return min(before.runs, after.runs) >= LEAST_RUNS


def uncertainty(runs: tuple[int, int]) -> list[str]:
    """A sentence on what is unknown about so many runs of each side, and what to do."""
    fewest = min(runs)
    if fewest >= LEAST_RUNS:
        return []
    if max(runs) == 1:
        what = "Each side was recorded once, so variation between runs is unknown"
    else:
        times = "once" if fewest == 1 else "twice"
        what = f"One side was recorded only {times}, so variation between runs is uncertain"
    return [f"{what}: record each side at least three times."]


def compare_medians(before: Steps, after: Steps) -> TimeChanges:
    """Compare rows of times; before and after may have different steps."""
    if min(before.times.shape[1], after.times.shape[1]) < LEAST_STEPS:
        return _inconclusive(before, after)
    repeated = is_repeated(before, after)
    sides = [side.medians() if repeated else side.times for side in (before, after)]
    old, new = (np.asarray(np.median(side, axis=1)) for side in sides)
    low, high = intervals(sides[0], sides[1], CONFIDENCE, is_sequence=not repeated)
    chance, level = of_ranks(before.times, after.times), LEVEL
    if before.runs + after.runs > 2:
        chance = np.maximum(chance, of_recordings(before.medians(), after.medians()))
        level = LEVEL_OF_RUNS
    every = np.ones(len(old), np.bool_)
    found = TimeChanges(old, new, low, high, chance, level, every, is_conclusive=True)
    return found._replace(is_shown=found.is_certain & found.is_large)


def _inconclusive(before: Steps, after: Steps) -> TimeChanges:
    old, new = (
        np.asarray(np.median(side.times, axis=1))
        if side.times.shape[1]
        else np.zeros(len(side.times))
        for side in (before, after)
    )
    unknown, every = np.full(len(old), np.inf), np.ones(len(old))
    never = np.zeros(len(old), np.bool_)
    return TimeChanges(old, new, -unknown, unknown, every, LEVEL, never, is_conclusive=False)
