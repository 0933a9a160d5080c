"""Trees as arrays: a node a row, each followed by everything below it.

In that order a subtree is a slice, so sums below a node and along its ancestors are differences
of running sums, and leaving nodes out keeps the order. No step loops over nodes or levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Row 0 is the root; the nodes below row `i` are the rows from `i + 1` to `end[i]`."""

    end: Ints

    @classmethod
    def of_parents(cls, parents: Sequence[int]) -> Tree:
        """The tree of rows that stand after their parents, each subtree in one piece."""
        sizes = [1] * len(parents)
        for row in range(len(parents) - 1, 0, -1):
            sizes[parents[row]] += sizes[row]
        return cls(np.arange(len(parents)) + np.asarray(sizes, np.int64))

    def __len__(self) -> int:
        return len(self.end)

    @property
    def sizes(self) -> Ints:
        """How many nodes each subtree has, its top included."""
        return self.end - np.arange(len(self))

    @property
    def depths(self) -> Ints:
        """How deep each node is; the root is at 1."""
        return self.sums_above(np.ones(len(self), np.int64))

    @property
    def parents(self) -> Ints:
        """The row above each node, -1 for the root."""
        rows, depths = np.arange(len(self)), self.depths
        # The parent is the last row before that is one level up.
        by_depth = np.lexsort((rows, depths))
        keys = depths[by_depth] * len(self) + by_depth
        place = np.searchsorted(keys, (depths - 1) * len(self) + rows) - 1
        return np.where(depths > 1, by_depth[place], -1)

    def sums_below(self, column: Ints) -> Ints:
        """For each node, the sum of `column` over its subtree, itself included."""
        running = np.concatenate((np.zeros(1, np.int64), np.cumsum(column, dtype=np.int64)))
        return running[self.end] - running[:-1]

    def sums_above(self, column: Ints) -> Ints:
        """For each node, the sum of `column` over its ancestors and itself."""
        closed = np.zeros(len(self) + 1, np.int64)
        np.add.at(closed, self.end, column)
        return np.cumsum(column, dtype=np.int64) - np.cumsum(closed[:-1])

    def is_below(self, flags: Bools) -> Bools:
        """For each node, whether an ancestor of it, not itself, has its flag set."""
        return self.sums_above(flags.astype(np.int64)) > flags

    def keep(self, flags: Bools) -> Tree:
        """The tree of the flagged rows; what was below another row moves up to one that is left."""
        place = np.concatenate(([0], np.cumsum(flags)))
        return Tree(place[self.end[flags]])

    def ordered(self, key: Ints) -> tuple[Tree, Ints]:
        """The tree with siblings in ascending order of `key`, and the old row of each new one."""
        sizes, parents = self.sizes, self.parents
        order = np.lexsort((np.arange(len(self)), key, parents))
        # Where a node stands behind its parent: one row further than all siblings before it.
        running = np.cumsum(sizes[order]) - sizes[order]
        first = np.searchsorted(parents[order], parents[order])
        behind = np.empty(len(self), np.int64)
        behind[order] = running - running[first] + 1
        behind[0] = 0
        place = self.sums_above(behind)
        rows = np.empty(len(self), np.int64)
        rows[place] = np.arange(len(self))
        return Tree(place[rows] + sizes[rows]), rows
