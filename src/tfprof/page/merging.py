"""Merges the smallest rows of a view that has too many rows for a page.

The rows below a row that are merged become one row, so all sums stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeVar

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, ints, offsets_of
from tfprof.measures.numbers import Numbers
from tfprof.memo import OnDemand
from tfprof.metrics import NUMBERS
from tfprof.views.tree import Tree
from tfprof.views.view import View

# A page with this many rows in each view opens within two seconds; see `docs/how-to/report.md`. A
# model of 100,000 ops has about 140,000 scopes and ops, so nothing of it is merged.
MOST_ROWS = 200_000

_Column = TypeVar("_Column", Ints, Bools)

MERGED = -1  # the row of the arrangement that a row of merged rows is


@dataclass(frozen=True, slots=True, eq=False)
class MergedView(View):
    """A view in which some rows stand for several rows; `arranged` of these is `MERGED`."""

    merged: int = 0  # the number of rows that are merged


def merged(view: View, keys: Sequence[str], most: int) -> View:
    """The view with at most `most` rows, if it has more: the smallest are merged.

    The size of a row is its largest share of any of the numbers `keys`.
    """
    # Layers have numbers that cannot be added up, and are never that many.
    if len(view) <= most or view.layer is not None:
        return view
    plan = _plan(view, keys, most)
    groups = len(plan.parents)
    names = [f"{count:,} smaller rows" for count in np.bincount(plan.group, minlength=groups)]
    changes = {
        "tree": Tree.of_depths(plan.placed(view.tree.depths, view.tree.depths[plan.parents] + 1)),
        "name": Strings.joined([view.name.take(plan.kept), Strings(names)]).take(plan.order),
        "is_accounted": plan.placed(view.is_accounted, np.ones(groups, np.bool_)),
        "members": _members(view.members, plan),
        "own": _numbers(view.own, plan, plan.dropped, plan.group),
        "total": _numbers(view.total, plan, plan.tops, plan.group_of_tops),
        "arranged": plan.placed(view.arranged, np.full(groups, MERGED)),
        "skipped": None,
        "merged": len(plan.dropped),
    }
    same = {part.name: getattr(view, part.name) for part in fields(View)}
    return MergedView(**(same | changes))


class _Plan(NamedTuple):
    """Which rows are kept and merged, and where they end up."""

    kept: Ints
    dropped: Ints
    tops: Ints  # the dropped rows directly below a kept row
    parents: Ints  # the kept row above each group of dropped rows
    group: Ints  # of each dropped row
    group_of_tops: Ints
    order: Ints  # of the kept rows and the groups, in the new view

    def placed(self, column: _Column, of_groups: _Column) -> _Column:
        """A column of the new view, from the old one and that of the groups."""
        both: _Column = np.concatenate((column[self.kept], of_groups))
        return both[self.order]


def _plan(view: View, keys: Sequence[str], most: int) -> _Plan:
    is_kept = _kept(view, keys, most)
    dropped = np.flatnonzero(~is_kept)
    parents = view.tree.parents[dropped]
    is_top = is_kept[parents]
    tops = dropped[is_top]
    groups, group_of_tops = np.unique(parents[is_top], return_inverse=True)
    # A dropped row is below the last top before it, because everything below a top is dropped.
    group = group_of_tops[np.cumsum(is_top) - 1]
    kept = np.flatnonzero(is_kept)
    # A group comes after all other rows below its parent, and so before a group further out.
    place = np.concatenate((2 * kept, 2 * view.tree.end[groups] - 1))
    inner_first = np.concatenate((np.zeros(len(kept), np.int64), -view.tree.depths[groups]))
    order = np.lexsort((inner_first, place))
    return _Plan(kept, dropped, tops, groups, group, group_of_tops, order)


def _kept(view: View, keys: Sequence[str], most: int) -> Bools:
    """Which rows are kept: as many of the largest as there is room for, and all rows above them."""
    largest = np.argsort(-_sizes(view, keys), kind="stable")
    low, high = 0, most
    while low < high:
        count = (low + high + 1) // 2
        if _count(view, _with_rows_above(view, largest[:count])) <= most:
            low = count
        else:
            high = count - 1
    is_kept = _with_rows_above(view, largest[:low])
    # A single row is not merged: it takes the place of the row that would stand for it.
    is_kept[_only_dropped(view, is_kept)] = True
    return is_kept


def _sizes(view: View, keys: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The largest share of each row in any number."""
    sizes = np.zeros(len(view))
    for key in keys:
        total = np.maximum(view.total[key], 0).astype(np.float64)
        np.maximum(sizes, total / max(total[0], 1.0), out=sizes)
    return sizes


def _with_rows_above(view: View, rows: Ints) -> Bools:
    """Flags of rows, and of all rows above them."""
    flags = np.zeros(len(view), np.int64)
    flags[0] = 1
    flags[rows] = 1
    found: Bools = view.tree.sums_below(flags) > 0
    return found


def _count(view: View, is_kept: Bools) -> int:
    """The number of rows, with those that stand for merged ones."""
    above = view.tree.parents[1:][~is_kept[1:]]
    return int(is_kept.sum()) + len(np.unique(above[is_kept[above]]))


def _only_dropped(view: View, is_kept: Bools) -> Ints:
    """The dropped rows without others below or beside them."""
    dropped = np.flatnonzero(~is_kept)
    parents = view.tree.parents[dropped]
    tops, parents = dropped[is_kept[parents]], parents[is_kept[parents]]
    is_alone = np.bincount(parents, minlength=len(view))[parents] == 1
    found: Ints = tops[is_alone & (view.tree.sizes[tops] == 1)]
    return found


def _members(members: Ragged, plan: _Plan) -> Ragged:
    """The ops of the new rows."""
    count = len(plan.order)
    row = np.empty(len(members), np.int64)
    row[plan.kept] = np.arange(len(plan.kept))
    row[plan.dropped] = len(plan.kept) + plan.group
    place = np.empty(count, np.int64)
    place[plan.order] = np.arange(count)
    owners = place[row[members.owners]]
    by_owner = np.argsort(owners, kind="stable")
    return Ragged(offsets_of(np.bincount(owners, minlength=count)), members.values[by_owner])


def _numbers(numbers: Numbers, plan: _Plan, rows: Ints, groups: Ints) -> Numbers:
    """The numbers of the new rows; those of groups are the sums over `rows`."""

    def column(key: str) -> Ints:
        sums = np.zeros(len(plan.parents), np.int64)
        np.add.at(sums, groups, numbers[key][rows])
        return ints(plan.placed(numbers[key], sums))

    return OnDemand(NUMBERS, column)
