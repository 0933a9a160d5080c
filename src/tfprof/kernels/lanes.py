# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Assign lanes to runs that overlap in time. Uncompiled, it gives the same results."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tfprof.kernels.spans import Ints

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

__all__ = ["first_free"]

_FREE = -(2**63)  # earlier than any start


def first_free(starts: Ints, ends: Ints, groups: Ints, *, opened: int = _FREE) -> Ints:
    """The lane of each row: the first one whose previous row ended before this row starts.

    Rows are assigned in order. Group `i` is the rows from `groups[i]` to `groups[i + 1]` and has
    its own lanes. A row that starts exactly when another ends needs another lane. The first lane
    is occupied until `opened`.
    """
    lanes = np.empty(len(starts), np.int64)
    for first, last in pairwise(groups.tolist()):
        if last > first:
            _fill(starts[first:last], ends[first:last], lanes[first:last], opened)
    return lanes


def _fill(starts: Ints, ends: Ints, lanes: Ints, opened: int) -> None:
    """Assign the lanes of one group.

    The leaves of a tree are the end times of the lanes, and each node has the earliest end below
    it, so the first free lane is found by one walk down the tree.
    """
    leaves: cython.Py_ssize_t = 2
    nodes = np.full(2 * leaves, _FREE, np.int64)
    nodes[leaves] = opened
    earliest: cython.longlong[::1] = nodes if cython.compiled else nodes.tolist()
    start: cython.const[cython.longlong][::1] = starts
    end: cython.const[cython.longlong][::1] = ends
    lane: cython.longlong[::1] = lanes
    row: cython.Py_ssize_t
    node: cython.Py_ssize_t
    for row in range(len(starts)):
        # There are never more lanes than rows, plus one for rows that start at the earliest time.
        if earliest[1] >= start[row] and leaves <= row + 1:
            nodes = _with_room(np.asarray(earliest))
            earliest = nodes if cython.compiled else nodes.tolist()
            leaves *= 2
        node = 1
        while node < leaves:
            node = 2 * node if earliest[2 * node] < start[row] else 2 * node + 1
        lane[row] = node - leaves
        earliest[node] = end[row]
        while node > 1:
            node //= 2
            earliest[node] = min(earliest[2 * node], earliest[2 * node + 1])


def _with_room(nodes: Ints) -> Ints:
    """The same tree with twice as many lanes; the new ones are free."""
    leaves = len(nodes) // 2
    wider = np.full(4 * leaves, _FREE, np.int64)
    wider[2 * leaves : 3 * leaves] = nodes[leaves:]
    level = 2 * leaves
    while level > 1:
        wider[level // 2 : level] = np.minimum(
            wider[level : 2 * level : 2], wider[level + 1 : 2 * level : 2]
        )
        level //= 2
    return wider
