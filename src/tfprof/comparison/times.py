"""Whether times differ: medians over steps before and after, and an interval for their change.

The interval is that of the bootstrap. The bootstrap distribution of a median is known exactly: each
of the sorted values has a certain chance of being the median of a resample (Maritz and Jarrett,
1978). So nothing is drawn at random, and many rows are compared at once. For an even number of
steps the chances are those between its neighbours.
"""

from __future__ import annotations

from functools import cache
from math import fsum, lgamma, pi, sqrt, tan
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats

CONFIDENCE = 0.95
# With fewer steps before or after, nothing can be concluded.
LEAST_STEPS = 2
# A smaller difference, compared with the larger of both medians, is not worth a remark.
LEAST_EFFECT = 0.02

_GRID = 4_000  # points at which the chances are integrated


class TimeChanges(NamedTuple):
    """The change of the time of each row: medians over steps, and a 95 % interval in between."""

    before: Floats
    after: Floats
    low: Floats  # of `after - before`
    high: Floats
    is_shown: Bools  # the steps show that the times differ
    is_conclusive: bool  # False if there are too few steps to tell

    @property
    def change(self) -> Floats:
        return self.after - self.before


def compare_medians(before: Floats, after: Floats) -> TimeChanges:
    """Compare rows of times, one column per step; before and after may have different steps."""
    steps = min(before.shape[1], after.shape[1])
    (old, old_variance), (new, new_variance) = _median(before), _median(after)
    change = new - old
    if steps < LEAST_STEPS:
        unknown = np.full(len(change), np.inf)
        is_shown = np.zeros(len(change), np.bool_)
        return TimeChanges(old, new, -unknown, unknown, is_shown, is_conclusive=False)
    margin = _student(steps - 1) * np.sqrt(old_variance + new_variance)
    low, high = change - margin, change + margin
    is_large = np.abs(change) > LEAST_EFFECT * np.maximum(old, new)
    is_shown = ((low > 0) | (high < 0)) & is_large
    return TimeChanges(old, new, low, high, is_shown, is_conclusive=True)


def _median(times: Floats) -> tuple[Floats, Floats]:
    """The median of each row, and its variance in resamples of the row."""
    rows, steps = times.shape
    if not steps:
        return np.zeros(rows), np.zeros(rows)
    ordered = np.sort(times, axis=1)
    middle = (ordered[:, (steps - 1) // 2] + ordered[:, steps // 2]) / 2
    # Differences from the median are small, so their squares lose no digits.
    away = ordered - middle[:, None]
    chances = _chances(steps)
    mean = away @ chances
    return middle, np.maximum((away * away) @ chances - mean * mean, 0)


@cache
def _chances(steps: int) -> Floats:
    """The chance of each of `steps` sorted values to be the median of a resample."""
    shape = (steps + 1) / 2  # of the beta distribution of a median
    place = (np.arange(_GRID) + 0.5) / _GRID
    scale = 2 * lgamma(shape) - lgamma(2 * shape)
    density = np.exp((shape - 1) * (np.log(place) + np.log1p(-place)) - scale)
    below = np.concatenate(([0.0], np.cumsum(density) / density.sum()))
    at = np.interp(np.arange(steps + 1) / steps, np.arange(_GRID + 1) / _GRID, below)
    return np.diff(at)


@cache
def _student(freedom: int) -> float:
    """The quantile of Student's distribution that leaves half of the rest above it."""
    above = (1 + CONFIDENCE) / 2
    if freedom == 1:
        return tan(pi * (above - 0.5))
    if freedom == 2:
        return (2 * above - 1) * sqrt(2 / (4 * above * (1 - above)))
    z = NormalDist().inv_cdf(above)
    # The expansion of Cornish and Fisher; see Abramowitz and Stegun, 26.7.5.
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + fsum(term / freedom**power for power, term in enumerate(terms, 1))
