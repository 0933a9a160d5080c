"""Trees as arrays: a node a row, each followed by everything below it.

In that order a subtree is a slice, so sums below a node and along its ancestors are differences
of running sums, and leaving nodes out keeps the order.
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
    """Row 0 is the root; the nodes below row `i` are the rows from `i + 1` to `end[i]`."""

    end: Ints
    is_flat: bool = False  # known to have all other rows right below the root
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_depths(cls, depths: Ints) -> Tree:
        """The tree of rows of these depths, each followed by what is below it."""
        return cls(trees.ends_of(depths))

    @classmethod
    def of_parents(cls, parents: Sequence[int]) -> Tree:
        """The tree of rows that stand after their parents, each subtree in one piece."""
        sizes = [1] * len(parents)
        for row in range(len(parents) - 1, 0, -1):
            sizes[parents[row]] += sizes[row]
        return cls(np.arange(len(parents)) + np.asarray(sizes, np.int64))

    @classmethod
    def flat(cls, count: int) -> Tree:
        """A root with all other rows right below it."""
        end = np.arange(1, count + 1)
        end[0] = count
        return cls(end, is_flat=True)

    def __len__(self) -> int:
        return len(self.end)

    @property
    def sizes(self) -> Ints:
        """How many nodes each subtree has, its top included."""
        return self.end - np.arange(len(self))

    @property
    def depths(self) -> Ints:
        """How deep each node is; the root is at 1."""
        return _levels(self)[1]

    @property
    def parents(self) -> Ints:
        """The row above each node, -1 for the root."""
        return _levels(self)[0]

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
        if not flags.any():
            return np.zeros(len(self), np.bool_)
        return self.sums_above(flags.astype(np.int64)) > flags

    def walk(self) -> tuple[Ints, Ints]:
        """When a walk that enters and leaves every node enters each, and when it leaves it."""
        # Of the nodes before one, as many are still open as it is deep.
        above = self.depths - 1
        return 2 * np.arange(len(self)) - above, 2 * self.end - 1 - above

    def keep(self, rows: Ints) -> Tree:
        """The tree of `rows`, ascending; what was below another moves up to one that is left."""
        return Tree(np.searchsorted(rows, self.end[rows]), self.is_flat)

    def ordered(self, key: Ints) -> tuple[Tree, Ints]:
        """The tree with siblings in ascending order of `key`, and the old row of each new one."""
        if self.is_flat:
            return self, np.concatenate(([0], 1 + np.argsort(key[1:], kind="stable")))
        if self._is_ordered(key):
            return self, np.arange(len(self))
        # The root stays where it is, so the other rows count from 0 here.
        order = np.argsort(key[1:], kind="stable")
        nodes, ends = trees.arranged(self.parents[1:] - 1, order)
        return Tree(ends), nodes + 1

    def _is_ordered(self, key: Ints) -> bool:
        """Whether no node has a sibling right behind it whose key is smaller."""
        rows = np.flatnonzero(self.end < len(self))
        behind = self.end[rows]
        is_sibling = self.depths[behind] == self.depths[rows]
        return not np.any(is_sibling & (key[behind] < key[rows]))


@remembered
def _levels(tree: Tree) -> tuple[Ints, Ints]:
    """The parent of each row, and its depth."""
    return trees.levels(tree.end)
