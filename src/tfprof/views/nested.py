"""A view laid out as nested slices, as in a flame graph: a slice is as long as its total time.

Only the lengths are real times. Children are placed one after the other from the start of their
parent; the rest of the parent is its own time, or the time of rows that are not shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints
from tfprof.kernels.rows import grouped
from tfprof.views.tree import Tree
from tfprof.views.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """One row per slice, each followed by those inside it, the root first."""

    row: Ints  # the row of the view
    depth: Ints  # 0 for the root
    start: Ints
    duration: Ints

    def __len__(self) -> int:
        return len(self.row)


def nested(view: View, time: str = "micros") -> Slices:
    """The slices of a view, without rows that took no time and everything below them.

    `time` is the number that gives the lengths: `micros` or `nanos`.
    """
    tree, total = view.tree, view.total[time]
    is_empty = total <= 0
    is_empty[0] = False
    rows = np.flatnonzero(~is_empty & ~tree.is_below(is_empty))
    tree, duration = tree.keep(rows), total[rows]
    start = tree.sums_above(_before_siblings(tree, duration))
    return Slices(rows, tree.depths - 1, start, duration)


def _before_siblings(tree: Tree, duration: Ints) -> Ints:
    """For each row, the sum of `duration` over its earlier siblings."""
    parents = tree.parents + 1
    order = grouped(parents, len(tree) + 1)
    before = np.cumsum(duration[order]) - duration[order]
    parent = parents[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = parent[1:] != parent[:-1]
    firsts = np.flatnonzero(is_first)
    found = np.empty(len(order), np.int64)
    found[order] = before - before[firsts][np.cumsum(is_first) - 1]
    return found
