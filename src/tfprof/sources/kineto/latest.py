"""Joins rows with the last ones before them."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints


def latest(known: tuple[Ints, ...], wanted: tuple[Ints, ...]) -> Ints:
    """For each wanted row, the last known one with the same numbers that is not later, or -1.

    The last column of both is the time, and the others are the numbers.
    """
    count = len(known[0])
    *numbers, time = (np.concatenate(pair) for pair in zip(known, wanted, strict=True))
    is_wanted = np.arange(len(time)) >= count
    order = np.lexsort((is_wanted, time, *numbers))
    last = np.maximum.accumulate(np.where(is_wanted[order], -1, np.arange(len(order))))
    row = order[np.maximum(last, 0)]
    is_same = last >= 0
    for number in numbers:
        is_same &= number[row] == number[order]
    found = np.empty(len(order), np.int64)
    found[order] = np.where(is_same, row, -1)
    return found[count:]
