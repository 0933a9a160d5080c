"""A view of two profiles at once: rows that either side shows, each with both sides' numbers.

Each side has the view that it has on its own, so its numbers are the same. Only which rows are
shown depends on both: a row that one side shows is shown with the numbers of both. Rows nest as in
the new profile; rows that only the base has are below the row that corresponds to their parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.comparison.matching import NO_ROW
from tfprof.comparison.numbers import Number, selected
from tfprof.comparison.pair import Pair, RowPairs, row_pairs
from tfprof.comparison.parts import Parts, Side, compare_parts
from tfprof.comparison.times import TimeChanges
from tfprof.errors import OptionError, TfprofError
from tfprof.kernels import trees
from tfprof.memo import remembered
from tfprof.options import Options
from tfprof.sums import LARGEST, magnitude
from tfprof.views.definitions import applied
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.tree import Tree
from tfprof.views.view import View, build

_EVERY_ROW = 2**31 - 1

# Changes of time that are a smaller share of the whole are not listed.
_LEAST_SHARE = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class DiffView:
    """The rows of two views, in the order of the new one; row 0 is the root.

    `base_row` and `new_row` are the row of each side's view, `NO_ROW` if that side lacks it.
    """

    pair: Pair
    kind: str
    options: Options
    numbers: tuple[Number, ...]
    base: View
    new: View
    base_row: Ints
    new_row: Ints
    tree: Tree
    is_moved: Bools  # which rows are below another row than before
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.new_row)

    @property
    def is_nested(self) -> bool:
        """Whether the number of a row is its total; in flat views it is its own."""
        return Trait.NESTED in VIEWS[self.kind].traits

    def before(self, key: str) -> Ints | Floats:
        """A number of each row in the base."""
        return _taken(_numbers(self.base, key), self.base_row)

    def after(self, key: str) -> Ints | Floats:
        """A number of each row in the new profile."""
        return _taken(_numbers(self.new, key), self.new_row)

    def change(self, key: str) -> Ints | Floats:
        """How much a number changed in each row."""
        return self.after(key) - self.before(key)

    def own_before(self, key: str) -> Ints:
        """The part of a number in the base that no other row has; the parts add up to the root."""
        return np.append(_own_parts(self.base, key), 0)[self.base_row]

    def own_after(self, key: str) -> Ints:
        """The same in the new profile."""
        return np.append(_own_parts(self.new, key), 0)[self.new_row]

    def typical(self, number: Number) -> tuple[Ints | Floats, Ints | Floats]:
        """What to show before and after: the median step for times, if there are enough steps."""
        return _typical(self, number)

    def typical_change(self, number: Number) -> Ints | Floats:
        """The change of what is shown."""
        before, after = self.typical(number)
        return after - before

    def name(self, row: int) -> str:
        """The name of a row in the new profile, or else in the base."""
        place = int(self.new_row[row])
        return self.new.name[place] if place >= 0 else self.old_name(row)

    def old_name(self, row: int) -> str:
        """The name of a row in the base; empty if it is new."""
        place = int(self.base_row[row])
        return self.base.name[place] if place >= 0 else ""

    def times(self, key: str) -> TimeChanges:
        """The medians of a time over steps, and whether they differ, for each row."""
        return _parts(self, key).times

    def parts(self, key: str) -> Parts:
        """The same, compared with the rest of the model."""
        return _parts(self, key)

    def is_changed(self, number: Number) -> Bools:
        """Which rows changed: exactly, or for times as far as the steps show it."""
        is_changed: Bools = self.typical_change(number) != 0
        if number.is_time and (found := self.times(number.key)).is_conclusive:
            is_changed &= found.is_shown
        return is_changed


class DiffRows(NamedTuple):
    """Some rows of a diff, in the order in which they are shown, and how many are left out."""

    tree: Tree
    rows: Ints
    unchanged: int  # those that did not change, as far as the data shows
    small: int  # changes of time that are too small to matter
    beyond: int  # rows beyond `max_depth` of a flat view


def build_diff(pair: Pair, kind: str, options: Options) -> DiffView:
    """Compare one view of two profiles."""
    if options.dialect != "core":
        raise OptionError("A comparison has no dialects; leave out -dialect.")
    sides = Pair(applied(pair.base, options), applied(pair.new, options))
    pair = pair if (sides.base, sides.new) == (pair.base, pair.new) else sides
    numbers = selected(pair.base, pair.new, kind, options)
    keys = tuple(dict.fromkeys(number.metric for number in numbers))
    asked = replace(options, select=keys, order_by="", output="", dump_to_file="")
    if Trait.NESTED not in VIEWS[kind].traits:
        asked = replace(asked, max_depth=_EVERY_ROW)  # a depth is a place in the order of changes
    base, new = (build(kind, side, asked) for side in (pair.base, pair.new))
    pairs = row_pairs(pair, kind, options)
    of_base = _with(base.arranged, pairs.base_of[new.arranged])
    of_new = _with(new.arranged, pairs.new_of[base.arranged])
    base = _showing(base, of_base, kind, asked)
    new = _showing(new, of_new, kind, asked)
    base_row, new_row = _joined(base, new, pairs)
    tree, order = _nested(base, new, base_row)
    view = DiffView(
        pair,
        kind,
        options,
        numbers,
        base,
        new,
        base_row[order],
        new_row[order],
        tree,
        np.append(pairs.is_moved[new.arranged], False)[new_row[order]],
    )
    for number in numbers:
        _require_comparable(view, number)
    return view


def _require_comparable(view: DiffView, number: Number) -> None:
    """Raise an error if the changes of a number may exceed 64 bits."""
    if magnitude(view.before(number.key)) + magnitude(view.after(number.key)) > LARGEST:
        raise TfprofError(
            f"`{number.metric}` is too large to be compared in 64 bits: a file is damaged, or "
            "states sizes that no computer can hold. -select other numbers."
        )


def shown_rows(view: DiffView, number: Number, *, unchanged: bool = False) -> DiffRows:
    """The rows in which a number changed and those above them, the largest change first.

    Rows that were added, removed, renamed or moved are shown if they have such a number. With
    `unchanged`, all rows are shown.
    """
    if unchanged:
        rows, small, same = np.arange(len(view)), 0, 0
    else:
        changed = view.is_changed(number) | (is_renamed(view) & _is_filled(view, number))
        worth = changed & ~_is_small(view, number)
        rows = np.flatnonzero(view.tree.sums_below(worth.astype(np.int64)) > 0)
        rows = np.union1d(rows, 0)
        left = np.ones(len(view), np.bool_)
        left[rows] = False
        small, same = int((left & changed).sum()), int((left & ~changed).sum())
    tree = view.tree.keep(rows)
    tree, order = ordered(view, tree, rows, number)
    rows = rows[order]
    most = len(rows) if view.is_nested else max(view.options.max_depth, 0) + 2
    beyond = max(len(rows) - most, 0)
    if beyond:
        rows = rows[:most]
        tree = Tree.flat(most)
    return DiffRows(tree, rows, same, small, beyond)


def ordered(view: DiffView, tree: Tree, rows: Ints, number: Number) -> tuple[Tree, Ints]:
    """The tree of `rows` with the largest change first, and the old place of each new one.

    The change is that of `order_by`, if it is compared, or else of `number`; rows that are sorted
    by name keep their places.
    """
    key = view.options.order_by
    if key == "name":
        return tree, np.arange(len(rows))
    number = next((one for one in view.numbers if one.metric == key), number)
    return tree.ordered(-np.abs(view.typical_change(number)[rows]))


def _is_filled(view: DiffView, number: Number) -> Bools:
    return np.asarray((view.before(number.key) != 0) | (view.after(number.key) != 0))


def _is_small(view: DiffView, number: Number) -> Bools:
    """Which changes of time are too small to be listed."""
    if not number.is_time:
        return np.zeros(len(view), np.bool_)
    before, after = view.typical(number)
    whole = max(abs(int(before[0])), abs(int(after[0])))
    return np.asarray(np.abs(after - before) < _LEAST_SHARE * whole)


@remembered
def is_one_sided(view: DiffView) -> Bools:
    """Which rows were added or removed."""
    return np.asarray((view.base_row < 0) | (view.new_row < 0))


@remembered
def is_renamed(view: DiffView) -> Bools:
    """Which rows were moved, or have another name than before that is not due to a row above."""
    found = view.is_moved.copy()
    both = np.flatnonzero(~is_one_sided(view) & ~found)
    old = view.base.name.take(view.base_row[both])
    new = view.new.name.take(view.new_row[both])
    own = _last if view.kind == "scope" else str
    found[both] = [own(one) != own(other) for one, other in zip(old, new, strict=True)]
    found[0] = False
    return found


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _with(rows: Ints, others: Ints) -> Ints:
    return np.union1d(rows, others[others >= 0])


def _showing(view: View, rows: Ints, kind: str, options: Options) -> View:
    """The same view with exactly these rows of its arrangement."""
    if np.array_equal(np.sort(view.arranged), rows):
        return view
    return build(kind, view.profile, options, rows)


def _joined(base: View, new: View, pairs: RowPairs) -> tuple[Ints, Ints]:
    """The row of each side for every row of either side: first those of the new one."""
    shown = np.full(len(pairs.base_of) + 1, NO_ROW)  # the last place is that of `NO_ROW`
    shown[new.arranged] = np.arange(len(new))
    counterpart = shown[pairs.new_of[base.arranged]]
    base_row = np.full(len(new), NO_ROW)
    paired = np.flatnonzero(counterpart >= 0)
    base_row[counterpart[paired]] = paired
    alone = np.flatnonzero(counterpart < 0)
    return np.append(base_row, alone), np.append(np.arange(len(new)), np.full(len(alone), NO_ROW))


def _nested(base: View, new: View, base_row: Ints) -> tuple[Tree, Ints]:
    """The tree of joined rows, and the joined row at each place of it."""
    row_of_base = np.full(len(base), NO_ROW)
    paired = np.flatnonzero(base_row >= 0)
    row_of_base[base_row[paired]] = paired
    parents = np.append(new.tree.parents, row_of_base[base.tree.parents[base_row[len(new) :]]])
    # The root stays first; the kernel numbers the other rows from 0.
    nodes, ends = trees.arranged(parents[1:] - 1, np.arange(len(parents) - 1))
    return Tree(ends, is_flat=new.tree.is_flat), nodes + 1


def _numbers(view: View, key: str) -> Ints | Floats:
    """A number of each row; a number of runs may have a fraction."""
    found = _wholes(view, key)
    return view.runs(found) if key == "runs" else found


def _wholes(view: View, key: str) -> Ints:
    if Trait.NESTED in view.traits:
        return view.total[key]
    own = view.own[key].copy()
    own[0] = int(own.sum()) + view.hidden.numbers[key]
    return own


def _own_parts(view: View, key: str) -> Ints:
    """The number of each row without those of the rows below it, but with what is hidden.

    Runs are rounded.
    """
    parts = _wholes(view, key).copy()
    if Trait.NESTED in view.traits:
        np.subtract.at(parts, view.tree.parents[1:], view.total[key][1:])
    else:
        parts[0] = view.hidden.numbers[key]
    return np.rint(view.runs(parts)).astype(np.int64) if key == "runs" else parts


def _taken(column: Ints | Floats, rows: Ints) -> Ints | Floats:
    """The numbers of `rows`, 0 for rows that are not there."""
    found: Ints | Floats = np.append(column, 0)[rows]
    return found


@remembered
def _typical(view: DiffView, number: Number) -> tuple[Ints | Floats, Ints | Floats]:
    if number.is_time and (times := view.times(number.key)).is_conclusive:
        return times.before.round().astype(np.int64), times.after.round().astype(np.int64)
    return view.before(number.key), view.after(number.key)


@remembered
def _parts(view: DiffView, key: str) -> Parts:
    base, new = Side(view.base, view.base_row), Side(view.new, view.new_row)
    return compare_parts(view.pair, base, new, view.tree, key)
