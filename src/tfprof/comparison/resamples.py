"""The bootstrap interval of the difference of two medians, computed exactly.

The median of a resample is one of the values, and the chance of each is known: the smaller half of
the draws is at most the value of rank `i` with a binomial probability (Maritz and Jarrett, 1978).
Both medians are independent, so the chance of each difference is a product. Nothing is drawn at
random, and no end of an interval is beyond the differences that were measured.

The median of an even number of values is the mean of two. A resample of one value fewer has the
same distribution as either of them, each half of the time, so that is what is used.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from tfprof.columns import Floats, Ints

# Values that are the median of fewer resamples than this are left out.
_RARE = 1e-6
_MOST_PAIRS = 2_000_000  # differences that are sorted at once
_FEWER = 1.5  # the ratio of the sizes of resamples that are distinguished


def intervals(
    before: Floats, after: Floats, confidence: float, *, is_sequence: bool
) -> tuple[Floats, Floats]:
    """For each row, the interval of `median(after) - median(before)`.

    In a sequence, neighbours may resemble each other, so that there is less to learn from it.
    """
    sizes = [_sizes(side, is_sequence=is_sequence) for side in (before, after)]
    ordered = [np.sort(side, axis=1) for side in (before, after)]
    low, high = np.zeros(len(before)), np.zeros(len(before))
    for old, new in sorted(set(zip(*(side.tolist() for side in sizes), strict=True))):
        rows = np.flatnonzero((sizes[0] == old) & (sizes[1] == new))
        chances = _chances(before.shape[1], old), _chances(after.shape[1], new)
        places = [np.flatnonzero(side > _RARE) for side in chances]
        weights = np.multiply.outer(*(side[at] for side, at in zip(chances, places, strict=True)))
        for some in np.array_split(rows, len(rows) * weights.size // _MOST_PAIRS + 1):
            left, right = (side[some][:, at] for side, at in zip(ordered, places, strict=True))
            pairs = (right[:, None, :] - left[:, :, None]).reshape(len(some), -1)
            low[some], high[some] = _central(pairs, weights.ravel(), confidence)
    return low, high


def _central(values: Floats, weights: Floats, confidence: float) -> tuple[Floats, Floats]:
    """For each row of values, the least and the largest that is not in either tail."""
    order = np.argsort(values, axis=1)
    tail = (1 - confidence) / 2 * weights.sum()
    mass = weights[order]
    first = (np.cumsum(mass, axis=1) > tail).argmax(axis=1)
    last = values.shape[1] - 1 - (np.cumsum(mass[:, ::-1], axis=1) > tail).argmax(axis=1)
    rows = np.arange(len(values))
    return values[rows, order[rows, first]], values[rows, order[rows, last]]


@cache
def _chances(count: int, size: int) -> Floats:
    """The chance of each of `count` sorted values to be the median of an odd number of draws."""
    share = np.arange(count + 1) / count
    at_most = sum(
        comb(size, draws) * share**draws * (1 - share) ** (size - draws)
        for draws in range((size + 1) // 2, size + 1)
    )
    return np.diff(at_most)


def _sizes(times: Floats, *, is_sequence: bool) -> Ints:
    """The size of a resample of each row: an odd number."""
    rows, count = times.shape
    if not is_sequence:
        return np.full(rows, _odd(count))
    levels = [_odd(count)]
    while levels[-1] > 1:
        levels.append(_odd(int(levels[-1] / _FEWER)))
    places = np.searchsorted(-np.array(levels), -_independent(times))
    return np.array(levels)[np.minimum(places, len(levels) - 1)]


def _independent(times: Floats) -> Floats:
    """How many independent values would say as much about the median of each row.

    What counts for a median is whether neighbours are on the same side of it.
    """
    count = times.shape[1]
    side = np.sign(times - np.median(times, axis=1)[:, None])
    same = (side[:, 1:] * side[:, :-1]).sum(axis=1)
    # Independent neighbours are on the same side a little less than half of the time.
    alike = np.clip(same / np.maximum((side**2).sum(axis=1), 1) + 1 / count, 0, 1)
    return np.asarray(count * (1 - alike) / (1 + alike))


def _odd(count: int) -> int:
    return max(count - 1 + count % 2, 1)
