"""Trees as arrays in preorder: one row per node, followed by the rows of its subtree.

In this order a subtree is a slice, so sums over a subtree or over the ancestors of a node are
differences of running sums, and removing nodes keeps the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.kernels import trees
from tfprof.memo import remembered


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Row 0 is the root; the nodes below row `i` are the rows from `i + 1` up to `end[i]`."""

    end: Ints
    is_flat: bool = False  # all other rows are known to be children of the root
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_depths(cls, depths: Ints) -> Tree:
        """The tree of rows with these depths, in preorder."""
        return cls(trees.ends_of(depths))

    @classmethod
    def of_parents(cls, parents: Sequence[int]) -> Tree:
        """The tree of rows with these parents, in preorder."""
        sizes = [1] * len(parents)
        for row in range(len(parents) - 1, 0, -1):
            sizes[parents[row]] += sizes[row]
        return cls(np.arange(len(parents)) + np.asarray(sizes, np.int64))

    @classmethod
    def flat(cls, count: int) -> Tree:
        """A tree in which all other rows are children of the root."""
        end = np.arange(1, count + 1)
        end[0] = count
        return cls(end, is_flat=True)

    def __len__(self) -> int:
        return len(self.end)

    @property
    def sizes(self) -> Ints:
        """The number of nodes of each subtree, including its root."""
        return self.end - np.arange(len(self))

    @property
    def depths(self) -> Ints:
        """The depth of each node; the root has depth 1."""
        return _levels(self)[1]

    @property
    def parents(self) -> Ints:
        """The parent of each node, -1 for the root."""
        return _levels(self)[0]

    def sums_below(self, column: Ints) -> Ints:
        """For each node, the sum of `column` over its subtree, including itself."""
        running = np.concatenate((np.zeros(1, np.int64), np.cumsum(column, dtype=np.int64)))
        return running[self.end] - running[:-1]

    def sums_above(self, column: Ints) -> Ints:
        """For each node, the sum of `column` over its ancestors and itself."""
        closed = np.zeros(len(self) + 1, np.int64)
        np.add.at(closed, self.end, column)
        return np.cumsum(column, dtype=np.int64) - np.cumsum(closed[:-1])

    def is_below(self, flags: Bools) -> Bools:
        """For each node, whether any of its ancestors is flagged; its own flag does not count."""
        if not flags.any():
            return np.zeros(len(self), np.bool_)
        return self.sums_above(flags.astype(np.int64)) > flags

    def walk(self) -> tuple[Ints, Ints]:
        """The times at which a depth-first walk enters and leaves each node."""
        # When a node is entered, exactly its ancestors are still open.
        above = self.depths - 1
        return 2 * np.arange(len(self)) - above, 2 * self.end - 1 - above

    def keep(self, rows: Ints) -> Tree:
        """The tree of the ascending `rows`; children of removed rows move up."""
        return Tree(np.searchsorted(rows, self.end[rows]), self.is_flat)

    def ordered(self, key: Ints) -> tuple[Tree, Ints]:
        """The tree with siblings in ascending order of `key`, and the old row of each new one."""
        if self.is_flat:
            return self, np.concatenate(([0], 1 + np.argsort(key[1:], kind="stable")))
        if self._is_ordered(key):
            return self, np.arange(len(self))
        # The root stays first, so the kernel gets the other rows, counted from 0.
        order = np.argsort(key[1:], kind="stable")
        nodes, ends = trees.arranged(self.parents[1:] - 1, order)
        return Tree(ends), nodes + 1

    def _is_ordered(self, key: Ints) -> bool:
        """Whether no node has a smaller key than its previous sibling."""
        rows = np.flatnonzero(self.end < len(self))
        following = self.end[rows]
        is_sibling = self.depths[following] == self.depths[rows]
        return not np.any(is_sibling & (key[following] < key[rows]))


@remembered
def _levels(tree: Tree) -> tuple[Ints, Ints]:
    """The parent and the depth of each row."""
    return trees.levels(tree.end)
