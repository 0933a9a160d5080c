# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Lanes for things that overlap in time. As plain Python this gives the same answers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tfprof.kernels.spans import Ints

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

__all__ = ["first_free"]

_FREE = -(2**63)  # before any time


def first_free(starts: Ints, ends: Ints, groups: Ints, *, opened: int = _FREE) -> Ints:
    """A lane for each row: the first in which what came before has ended before it starts.

    Rows come in turn; group `i` is those from `groups[i]` to `groups[i + 1]` and has lanes of its
    own. What runs in a lane must have ended, not just be ending. The first lane is not open before
    `opened` is over.
    """
    lanes = np.empty(len(starts), np.int64)
    for first, last in pairwise(groups.tolist()):
        if last > first:
            _fill(starts[first:last], ends[first:last], lanes[first:last], opened)
    return lanes


def _fill(starts: Ints, ends: Ints, lanes: Ints, opened: int) -> None:
    """Give each row its lane.

    The ends of lanes are the leaves of a tree in which each node has the earliest of those below
    it: the first free lane is a walk down, whatever the number of lanes.
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
        # There are never more lanes than rows, and one for what starts before all time.
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
    """The same tree with as many lanes again, all of them free."""
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
