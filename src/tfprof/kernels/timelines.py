# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: cdivision=True, show_performance_hints=False
"""Walks along time: thinning out points, and the largest amounts that are held at each of them.

Uncompiled, it gives the same results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfprof.kernels.spans import Ints

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

__all__ = ["largest", "spaced"]


def _cells(column: Ints) -> Any:
    """The column in the form whose elements are fastest to read."""
    return column if cython.compiled else column.tolist()


def spaced(times: Ints, gap: int) -> Ints:
    """The rows to keep of ascending times, each at least `gap` after the one kept before it.

    The first one kept is at least `gap` after 0.
    """
    rows = np.empty(len(times), np.int64)
    chosen: cython.longlong[::1] = rows
    time: cython.const[cython.longlong][::1] = _cells(times)
    least: cython.longlong = gap
    last: cython.longlong = 0
    row: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    for row in range(len(times)):
        if time[row] - last >= least:
            chosen[count] = row
            last = time[row]
            count += 1
    return rows[:count]


def largest(
    times: Ints, amounts: Ints, begins: Ints, ends: Ints, held: Ints, *, most: int
) -> tuple[Ints, Ints]:
    """The largest amounts held at each time that fit into the sum `held`, at most `most` of them.

    Amounts are positive and sorted in descending order. An amount is held at the times after its
    `begins`, up to and including its `ends`. At each time the largest amount that fits is taken
    from `held`, then the largest that fits into the rest, and so on. Returns the offsets of each
    time's results, and the rows of the amounts.
    """
    leaves: cython.Py_ssize_t = _leaves(len(amounts))
    # A tree over the amounts: each node has the number of amounts below it that are held.
    tree = np.zeros(2 * leaves, np.int64)
    live: cython.longlong[::1] = tree
    first_rows = np.zeros(len(times) + 1, np.int64)
    offset: cython.longlong[::1] = first_rows
    found = np.empty(len(times) * min(most, len(amounts)), np.int64)
    chosen: cython.longlong[::1] = found
    order_of_begins = np.argsort(begins, kind="stable")
    order_of_ends = np.argsort(ends, kind="stable")
    beginning: cython.const[cython.longlong][::1] = _cells(order_of_begins)
    ending: cython.const[cython.longlong][::1] = _cells(order_of_ends)
    amount: cython.const[cython.longlong][::1] = _cells(amounts)
    begin: cython.const[cython.longlong][::1] = _cells(begins)
    end: cython.const[cython.longlong][::1] = _cells(ends)
    time: cython.const[cython.longlong][::1] = _cells(times)
    whole: cython.const[cython.longlong][::1] = _cells(held)
    count: cython.Py_ssize_t = len(amounts)
    begun: cython.Py_ssize_t = 0
    ended: cython.Py_ssize_t = 0
    written: cython.Py_ssize_t = 0
    point: cython.Py_ssize_t
    taken: cython.Py_ssize_t
    row: cython.Py_ssize_t
    rest: cython.longlong
    limit: cython.Py_ssize_t = most
    for point in range(len(times)):
        while begun < count and begin[beginning[begun]] < time[point]:
            _count(live, beginning[begun] + leaves, 1)
            begun += 1
        while ended < count and end[ending[ended]] < time[point]:
            _count(live, ending[ended] + leaves, -1)
            ended += 1
        rest = whole[point]
        row = 0
        taken = 0
        while taken < limit:
            row = _first_held(live, leaves, _first_within(amount, row, count, rest))
            if row >= count:
                break
            chosen[written] = row
            written += 1
            rest -= amount[row]
            row += 1
            taken += 1
        offset[point + 1] = written
    return first_rows, found[:written]


def _leaves(count: int) -> int:
    """The smallest power of two that is at least `count`."""
    return 1 << max(count - 1, 0).bit_length()


@cython.cfunc
def _count(live: cython.longlong[::1], node: cython.Py_ssize_t, change: cython.longlong) -> None:
    while node > 0:
        live[node] += change
        node //= 2


@cython.cfunc
def _first_within(
    amount: cython.const[cython.longlong][::1],
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    limit: cython.longlong,
) -> cython.Py_ssize_t:
    """The first row from `low` on whose amount is at most `limit`; `high` if there is none."""
    middle: cython.Py_ssize_t
    while low < high:
        middle = (low + high) // 2
        if amount[middle] > limit:
            low = middle + 1
        else:
            high = middle
    return low


@cython.cfunc
def _first_held(
    live: cython.longlong[::1], leaves: cython.Py_ssize_t, row: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The first row from `row` on that is held; `leaves` if there is none."""
    if row >= leaves:
        return leaves
    node: cython.Py_ssize_t = row + leaves
    while live[node] == 0:
        while node % 2 == 1:
            node //= 2
        if node == 0:
            return leaves
        node += 1
    while node < leaves:
        node *= 2
        if live[node] == 0:
            node += 1
    return node - leaves
