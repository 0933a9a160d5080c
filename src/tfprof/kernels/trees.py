# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Walks over trees and graphs whose nodes are numbers.

A tree is stored in pre-order: the rows below row `i` are those from `i + 1` to `ends[i]`.
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

__all__ = ["arranged", "chains", "ends_of", "levels", "search"]


def _cells(column: Ints) -> Any:
    """The column in the form whose elements are fastest to read."""
    return column if cython.compiled else column.tolist()


def levels(ends: Ints) -> tuple[Ints, Ints]:
    """The parent of each row (-1 for the first) and its depth (1 for the first)."""
    count = len(ends)
    parents = np.empty(count, np.int64)
    depths = np.empty(count, np.int64)
    end: cython.const[cython.longlong][::1] = _cells(ends)
    parent: cython.longlong[::1] = parents
    depth: cython.longlong[::1] = depths
    row: cython.Py_ssize_t
    above: cython.longlong = -1
    level: cython.longlong = 0
    for row in range(count):
        while above >= 0 and end[above] <= row:
            above = parent[above]
            level -= 1
        parent[row] = above
        level += 1
        depth[row] = level
        above = row
    return parents, depths


def ends_of(depths: Ints) -> Ints:
    """Where the rows below each row end, given the depths of rows; the first is the root."""
    count = len(depths)
    ends = np.full(count, count, np.int64)
    depth: cython.const[cython.longlong][::1] = _cells(depths)
    end: cython.longlong[::1] = ends
    above = np.full(count, -1, np.int64)
    parent: cython.longlong[::1] = above
    row: cython.Py_ssize_t
    last: cython.longlong
    for row in range(1, count):
        last = row - 1
        while last >= 0 and depth[last] >= depth[row]:
            end[last] = row
            last = parent[last]
        parent[row] = last
    return ends


def chains(parents: Ints, rows: Ints, offsets: Ints) -> Ints:
    """The chain of each of `rows`: the row and its ancestors, without the first row.

    `offsets` has the start of each chain and the end of the last. The chain of the first row is
    the row itself.
    """
    found = np.empty(int(offsets[len(rows)]), np.int64)
    value: cython.longlong[::1] = found
    parent: cython.const[cython.longlong][::1] = _cells(parents)
    start: cython.const[cython.longlong][::1] = _cells(rows)
    place: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    row: cython.longlong
    for place in range(len(rows)):
        row = start[place]
        value[at] = row
        at += 1
        row = parent[row]
        while row > 0:
            value[at] = row
            at += 1
            row = parent[row]
    return found


def search(offsets: Ints, sources: Ints, tops: Ints) -> tuple[Ints, Ints]:
    """The tree of a depth-first search from each of `tops` in turn.

    The neighbours of node `i` are `sources[offsets[i]:offsets[i + 1]]`; -1 is no neighbour. The
    parent of a node is the one from which it was first reached. Returns a row per node that was
    found, in the two columns that `arranged` returns.
    """
    count = len(offsets) - 1
    row_nodes = np.empty(count + 1, np.int64)
    row_ends = np.empty(count + 1, np.int64)
    rows_of = np.full(count, -1, np.int64)
    parents = np.empty(count, np.int64)
    followed = np.array(offsets[:count])
    nodes: cython.longlong[::1] = row_nodes
    ends: cython.longlong[::1] = row_ends
    row_of: cython.longlong[::1] = rows_of
    parent: cython.longlong[::1] = parents
    edge: cython.longlong[::1] = followed
    last: cython.const[cython.longlong][::1] = _cells(offsets)
    source: cython.const[cython.longlong][::1] = _cells(sources)
    start: cython.const[cython.longlong][::1] = _cells(tops)
    place: cython.Py_ssize_t
    row: cython.Py_ssize_t = 1
    node: cython.longlong
    above: cython.longlong
    nodes[0] = -1
    for place in range(len(tops)):
        above = -1
        node = start[place] if row_of[start[place]] < 0 else -1
        while node >= 0:
            if row_of[node] < 0:
                nodes[row] = node
                row_of[node] = row
                parent[node] = above
                row += 1
            if edge[node] == last[node + 1]:
                ends[row_of[node]] = row
                node = parent[node]
                continue
            above = node
            edge[node] += 1
            node = source[edge[above] - 1]
            if node < 0 or row_of[node] >= 0:
                node = above
    ends[0] = row
    return row_nodes[:row], row_ends[:row]


def arranged(parents: Ints, order: Ints) -> tuple[Ints, Ints]:
    """The tree of nodes with these parents; siblings are in the order of `order`.

    Nodes at the top have the parent -1. Returns two columns, with a row for the root and one per
    node: its node (-1 for the root), and where the rows below it end.
    """
    count = len(parents)
    first_children = np.full(count + 1, -1, np.int64)  # the last one is the root's
    last_children = np.full(count + 1, -1, np.int64)
    next_siblings = np.full(count, -1, np.int64)
    child: cython.longlong[::1] = first_children
    last: cython.longlong[::1] = last_children
    sibling: cython.longlong[::1] = next_siblings
    parent: cython.const[cython.longlong][::1] = _cells(parents)
    row_nodes = np.empty(len(order) + 1, np.int64)
    row_ends = np.empty(len(order) + 1, np.int64)
    nodes: cython.longlong[::1] = row_nodes
    ends: cython.longlong[::1] = row_ends
    rows_of = np.empty(count + 1, np.int64)
    row_of: cython.longlong[::1] = rows_of
    named: cython.const[cython.longlong][::1] = _cells(order)
    place: cython.Py_ssize_t
    node: cython.longlong
    above: cython.longlong
    row: cython.Py_ssize_t = 1
    for place in range(len(order)):
        node = named[place]
        above = parent[node] if parent[node] >= 0 else count
        if last[above] < 0:
            child[above] = node
        else:
            sibling[last[above]] = node
        last[above] = node
    nodes[0] = -1
    row_of[count] = 0
    node = child[count]
    while node >= 0:
        nodes[row] = node
        row_of[node] = row
        row += 1
        if child[node] >= 0:
            node = child[node]
            continue
        while True:
            ends[row_of[node]] = row
            if sibling[node] >= 0:
                node = sibling[node]
                break
            node = parent[node]
            if node < 0:
                break
    ends[0] = row
    return row_nodes[:row], row_ends[:row]
