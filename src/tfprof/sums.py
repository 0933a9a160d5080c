"""Sums and products that do not wrap around at 64 bits, at no cost for ordinary numbers.

A sum of any rows of a column fits into 64 bits if the sum of all magnitudes does. Only if it does
not, a result is computed again with Python's integers, and limited to the largest 64-bit number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from math import ceil, floor
from typing import Any

import numpy as np

from tfprof.columns import Floats, Ints

LARGEST = 2**63 - 1


def magnitude(column: Ints | Floats) -> int:
    """The largest absolute value, 0 for an empty column."""
    return max(ceil(column.max()), -floor(column.min())) if len(column) else 0


def fits(column: Ints) -> bool:
    """Whether the sum of any rows fits into 64 bits; False if a number is a limited result."""
    if magnitude(column) < LARGEST // max(len(column), 1):
        return True
    return float(np.abs(column.astype(np.float64)).sum()) < float(LARGEST)


def exact(compute: Callable[..., Any], *columns: Ints) -> Ints:
    """`compute` with Python's integers, whose results are limited to 64 bits."""
    found = compute(*(column.astype(np.object_) for column in columns))
    return np.array([max(min(number, LARGEST), -LARGEST) for number in found], np.int64)


def total(column: Ints) -> int:
    """The sum of a column, which may exceed 64 bits."""
    return int(column.sum()) if fits(column) else sum(column.tolist())


def added(*columns: Ints) -> Ints:
    """The sum of columns, row by row."""
    is_small = sum(map(magnitude, columns)) <= LARGEST
    return _added(*columns) if is_small else exact(_added, *columns)


def _added(*columns: Any) -> Any:
    return reduce(operator.add, columns)


def product(column: Ints, factor: Ints) -> Ints:
    """The product of two columns, row by row."""
    if magnitude(column) * magnitude(factor) <= LARGEST:
        return column * factor
    return exact(operator.mul, column, factor)


def group_sums(owner: Ints, column: Ints, count: int) -> Ints:
    """For each owner below `count`, the sum of its rows."""

    def summed(values: Any) -> Any:
        sums = np.zeros(count, values.dtype)
        np.add.at(sums, owner, values)
        return sums

    found: Ints = summed(column) if fits(column) else exact(summed, column)
    return found
