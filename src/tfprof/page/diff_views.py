"""The section `views` of a diff page: the rows of each view on both sides, and what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats, Ints, Strings
from tfprof.comparison.diff import DiffView, build_diff, is_one_sided, is_renamed, shown_rows
from tfprof.comparison.matching import NO_ROW
from tfprof.comparison.numbers import Number, numbers_named
from tfprof.comparison.pair import Pair
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.metrics import BY_KEY, METRICS, Metric, Need
from tfprof.options import Options
from tfprof.page import units
from tfprof.page.views import WHOLE, label, row_of_ops
from tfprof.views.registry import VIEWS
from tfprof.views.tree import Tree
from tfprof.views.view import View

# Of each view. A page with this many rows opens within two seconds.
MOST_ROWS = 100_000

# What happened to a row; `static/diff_marks.js` has the words.
_SAME, _ADDED, _REMOVED, _RENAMED, _MOVED = range(5)

_COUNTS = "occurrence"


def compared_numbers(pair: Pair) -> list[Number]:
    """The numbers that either side has, measured ones only if both have; times first."""
    sides = [per_op(side, EVERYTHING) for side in (pair.base, pair.new)]
    ran = all(side.has(Need.RUNS) for side in (pair.base, pair.new))
    keys = [metric.key for metric in METRICS if metric.is_number and not metric.part_of]
    found = [
        number
        for number in numbers_named([*keys, _COUNTS])
        if any(side[number.key].any() for side in sides) and (ran or not _is_measured(number))
    ]
    return sorted(found, key=lambda number: number.metric != "micros" or not number.is_time)


def _is_measured(number: Number) -> bool:
    return number.key == "runs" or BY_KEY[number.metric].needs is Need.RUNS


def metrics(numbers: list[Number]) -> list[dict[str, Any]]:
    """The numbers that can be chosen for the page."""
    return [_described(number, BY_KEY[number.metric]) for number in numbers]


def _described(number: Number, metric: Metric) -> dict[str, Any]:
    return {
        # Two numbers belong to the same metric if it is not a number itself.
        "key": metric.key if metric.is_number else number.key,
        "select": metric.key,
        "column": number.key,
        "label": label(metric) if metric.is_number else number.label,
        "meaning": metric.meaning,
        "unit": units.NAMES[number.unit],
        "is_time": number.is_time,
    }


class Rows(NamedTuple):
    """The rows of a diff that a page has, and the row of the page that each row is part of."""

    view: DiffView
    kept: Ints
    place: Ints


def build_rows(pair: Pair, kind: str, numbers: list[Number], options: Options) -> Rows:
    """Compare one view; if it has too many rows, those with the least to show are left out."""
    select = tuple(dict.fromkeys(number.metric for number in numbers))
    view = build_diff(pair, kind, replace(_unlimited(options), select=select))
    if len(view) <= MOST_ROWS:
        every = np.arange(len(view))
        return Rows(view, every, every)
    is_kept = _kept(view, numbers)
    return Rows(view, np.flatnonzero(is_kept), _places(view.tree, is_kept))


def _unlimited(options: Options) -> Options:
    """The options with all rows, unless a limit was given."""
    depth = WHOLE.max_depth if options.max_depth == Options().max_depth else options.max_depth
    return replace(options, max_depth=depth, order_by="", output="", dump_to_file="")


def section(rows: Rows, numbers: list[Number]) -> dict[str, Any]:
    """The rows in the order of their arrangement, those of the new side first."""
    view, kept = rows.view, rows.kept
    renamed = np.flatnonzero(is_renamed(view)[kept])
    old = view.base_row[kept[renamed]]
    return {
        "kind": view.kind,
        "sentence": VIEWS[view.kind].sentence,
        "nested": view.is_nested,
        "end": view.tree.keep(kept).end,
        "name": _names(view, kept),
        "mark": _marks(view)[kept],
        "renamed": {"row": renamed, "name": view.base.name.take(old)},
        "numbers": {number.key: _number(view, kept, number) for number in numbers},
        "left_out": _left_out(rows, numbers),
    }


def rows_of_ops(rows: Rows, ops: Ints, *, is_new: bool) -> Ints:
    """The row of the page that has each of some ops of one side, -1 if none has."""
    view = rows.view
    side, of_side = (view.new, view.new_row) if is_new else (view.base, view.base_row)
    found = np.full(len(side) + 1, NO_ROW)  # the last place is that of `NO_ROW`
    known = np.flatnonzero(of_side >= 0)
    found[of_side[known]] = rows.place[known]
    return found[_row_of_ops(side)[ops]]


def _row_of_ops(side: View) -> Ints:
    return row_of_ops(side, len(side.profile.ops))


def _names(view: DiffView, rows: Ints) -> Strings:
    """The names in the new profile, or else in the base."""
    both = Strings.joined([view.new.name, view.base.name])
    places = np.where(view.new_row < 0, len(view.new) + view.base_row, view.new_row)
    return both.take(places[rows])


def _marks(view: DiffView) -> Ints:
    marks = np.full(len(view), _SAME)
    marks[is_renamed(view)] = _RENAMED
    marks[view.is_moved] = _MOVED
    marks[is_one_sided(view) & (view.base_row < 0)] = _ADDED
    marks[is_one_sided(view) & (view.new_row < 0)] = _REMOVED
    marks[0] = _SAME
    return marks


def _number(view: DiffView, kept: Ints, number: Number) -> dict[str, Any]:
    shown = shown_rows(view, number)
    listed = np.zeros(len(view), np.bool_)
    listed[shown.rows] = True
    before, after = view.typical(number)
    return {
        "before": before[kept],
        "after": after[kept],
        "listed": listed[kept],
        "unchanged": shown.unchanged,
        "small": shown.small,
        "times": _times(view, kept, number) if number.is_time else None,
    }


def _times(view: DiffView, kept: Ints, number: Number) -> dict[str, Any]:
    """Whether the steps show a difference, and the interval of the change of the median."""
    found = view.times(number.key)
    if not found.is_conclusive:
        return {"is_conclusive": False}
    return {
        "is_conclusive": True,
        "shown": found.is_shown[kept],
        "low": found.low[kept],
        "high": found.high[kept],
    }


def _kept(view: DiffView, numbers: list[Number]) -> Bools:
    """Which rows are kept: as many of the largest as there is room for, and all rows above them."""
    largest = np.argsort(-_sizes(view, numbers), kind="stable")
    low, high = 1, MOST_ROWS
    while low < high:
        count = (low + high + 1) // 2
        if _with_rows_above(view.tree, largest[:count]).sum() <= MOST_ROWS:
            low = count
        else:
            high = count - 1
    return _with_rows_above(view.tree, largest[:low])


def _sizes(view: DiffView, numbers: list[Number]) -> Floats:
    """The largest share of each row in any number, or in the largest change of any."""
    sizes = np.zeros(len(view))
    for number in numbers:
        before, after = view.typical(number)
        for amounts in (np.maximum(before, after), np.abs(after - before)):
            np.maximum(sizes, amounts / max(int(amounts.max()), 1), out=sizes)
    return sizes


def _with_rows_above(tree: Tree, rows: Ints) -> Bools:
    flags = np.zeros(len(tree), np.int64)
    flags[0] = 1
    flags[rows] = 1
    return np.asarray(tree.sums_below(flags) > 0)


def _places(tree: Tree, is_kept: Bools) -> Ints:
    """For each row its place among the kept ones, or that of the nearest kept row above it."""
    rows = np.arange(len(tree))
    while (dropped := ~is_kept[rows]).any():
        rows[dropped] = tree.parents[rows[dropped]]
    place = np.cumsum(is_kept) - 1
    return np.asarray(place[rows])


def _left_out(rows: Rows, numbers: list[Number]) -> dict[str, Any] | None:
    """How many rows the page lacks, and their sums."""
    view, kept = rows.view, rows.kept
    if len(kept) == len(view):
        return None
    is_kept = np.zeros(len(view), np.bool_)
    is_kept[kept] = True
    # Rows below others that are left out are part of their totals.
    tops = np.flatnonzero(~is_kept & is_kept[view.tree.parents])
    return {
        "rows": len(view) - len(kept),
        "before": {number.key: int(view.typical(number)[0][tops].sum()) for number in numbers},
        "after": {number.key: int(view.typical(number)[1][tops].sum()) for number in numbers},
    }
