"""How likely differences as large as those measured are by chance alone."""

from __future__ import annotations

from functools import cache
from math import comb, erfc, pi, sqrt

import numpy as np

from tfprof.columns import Bools, Floats, Ints

# Up to this product of the numbers of steps all orders are counted.
_MOST_COUNTED = 2_000
_MOST_PAIRS = 20_000_000  # steps that are compared at once


def of_ranks(before: Floats, after: Floats) -> Floats:
    """For each row, the chance that steps of one program are ordered as unevenly (two-sided).

    This is the permutation test of Mann and Whitney: all orders of the steps are equally likely.
    Equal times count as half of each order, which makes the chance larger, if anything.
    """
    counts = before.shape[1], after.shape[1]
    pairs = counts[0] * counts[1]
    wins = np.zeros(len(before))
    for some in np.array_split(np.arange(len(before)), len(before) * pairs // _MOST_PAIRS + 1):
        left, right = before[some][:, :, None], after[some][:, None, :]
        wins[some] = (left < right).sum((1, 2)) + (left == right).sum((1, 2)) / 2
    fewer = np.ceil(np.minimum(wins, pairs - wins))
    if pairs <= _MOST_COUNTED:
        return np.asarray(np.minimum(2 * _below(*counts)[fewer.astype(np.int64)], 1.0))
    spread = sqrt(pairs * (sum(counts) + 1) / 12)
    away = np.maximum(pairs / 2 - fewer - 0.5, 0) / spread
    return np.array([erfc(one / sqrt(2)) for one in away.tolist()])


@cache
def _below(some: int, others: int) -> Floats:
    """The chance of at most 0, 1, 2… pairs in which one of `some` steps is the longer one."""
    # In how many orders that is so in a number of pairs. The longest step of all is one of either
    # side, and the others are in an order of one step fewer.
    ways = np.zeros((others + 1, some * others + 1))
    ways[:, 0] = 1
    for _ in range(some):
        for other in range(1, others + 1):
            more = np.zeros(ways.shape[1])
            more[other:] = ways[other][: ways.shape[1] - other]
            ways[other] = ways[other - 1] + more
    return np.cumsum(ways[others]) / comb(some + others, some)


def of_recordings(before: Floats, after: Floats) -> Floats:
    """For each row, the chance that medians of recordings of one program differ as much.

    This is Student's test with a common variance: a few recordings cannot show by their order
    alone that they differ.
    """
    freedom = before.shape[1] + after.shape[1] - 2
    means = [side.mean(axis=1) for side in (before, after)]
    squares = sum(
        ((side - mean[:, None]) ** 2).sum(axis=1)
        for side, mean in zip((before, after), means, strict=True)
    )
    error = np.sqrt(squares / freedom * (1 / before.shape[1] + 1 / after.shape[1]))
    change = np.abs(means[1] - means[0])
    ratio = np.divide(change, error, out=np.full(len(change), np.inf), where=error > 0)
    return np.where(change > 0, _student(ratio, freedom), 1.0)


def _student(ratio: Floats, freedom: int) -> Floats:
    """The chance of a larger ratio, of either sign; Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = np.arctan(ratio / sqrt(freedom))
    square, term = np.cos(angle) ** 2, np.ones(len(ratio))
    total = np.zeros(len(ratio))
    for degree in range(freedom % 2, freedom - 1, 2):
        total += term
        term = term * square * (degree + 1) / (degree + 2)
    if freedom % 2:
        inside = 2 / pi * (angle + np.sin(angle) * np.cos(angle) * total)
    else:
        inside = np.sin(angle) * total
    return np.clip(1 - inside, 0.0, 1.0)


def found_among(chances: Floats, family: Bools, level: float) -> Bools:
    """Which rows of a family are found, so that at most this share of them is found by chance.

    This is the rule of Benjamini and Hochberg. If nothing differs in any row, one is found with a
    chance of at most `level`.
    """
    rows = np.flatnonzero(family)
    ordered = np.sort(chances[rows])
    places: Ints = np.arange(1, len(rows) + 1)
    passed = ordered[ordered <= level * places / max(len(rows), 1)]
    limit = float(passed[-1]) if len(passed) else -1.0
    return np.asarray(family & (chances <= limit))
