"""The rows of a comparison as plain values, for JSON, CSV and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfprof.columns import Ints
from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import DiffView, is_one_sided, is_renamed, ordered, shown_rows
from tfprof.comparison.numbers import Number
from tfprof.units import exact_micros, without_fraction
from tfprof.views.tree import Tree


def rows(compared: Compared) -> Iterator[dict[str, Any]]:
    """The rows in which any of the numbers changed, ordered by the change of the first."""
    view = compared.view
    tree, places = _shown(compared)
    shares = {number.key: _share(view, number) for number in view.numbers}
    depths, parents = tree.depths.tolist(), tree.parents.tolist()
    for place, row in enumerate(places.tolist()):
        above = int(places[parents[place]]) if place else -1
        yield {
            "name": view.name(row),
            "old_name": view.old_name(row) or None,
            "status": status(view, row),
            "depth": depths[place],
            "parent": view.name(above) if above >= 0 else None,
            "numbers": {
                number.name: _numbers(view, number, row, shares[number.key])
                for number in view.numbers
            },
        }


def status(view: DiffView, row: int) -> str:
    """What happened to a row: `added`, `removed`, `moved`, `renamed`, or `same`."""
    if is_one_sided(view)[row]:
        return "removed" if view.new_row[row] < 0 else "added"
    if view.is_moved[row]:
        return "moved"
    return "renamed" if is_renamed(view)[row] else "same"


def _shown(compared: Compared) -> tuple[Tree, Ints]:
    view = compared.view
    tables = [
        shown_rows(view, number, unchanged=compared.unchanged).rows for number in view.numbers
    ]
    if not tables:
        return Tree.flat(1), np.zeros(1, np.int64)
    places = np.unique(np.concatenate(tables))
    tree = view.tree.keep(places)
    tree, order = ordered(view, tree, places, view.numbers[0])
    return tree, places[order]


def _share(view: DiffView, number: Number) -> float:
    return float(view.change(number.key)[0])


def _numbers(view: DiffView, number: Number, row: int, whole: float) -> dict[str, Any]:
    before, after = (side[row].item() for side in (view.before(number.key), view.after(number.key)))
    plain = exact_micros if number.is_time else without_fraction
    found: dict[str, Any] = {
        "before": plain(before),
        "after": plain(after),
        "change": plain(after - before),
        "share": (after - before) / whole if whole else None,
    }
    if number.is_time:
        times = view.times(number.key)
        found |= {
            "median_before": _micros(times.before[row]),
            "median_after": _micros(times.after[row]),
            "low": _micros(times.low[row]) if times.is_conclusive else None,
            "high": _micros(times.high[row]) if times.is_conclusive else None,
            "is_shown": bool(times.is_shown[row]),
        }
    return found


def _micros(nanos: float) -> int | float:
    return exact_micros(round(float(nanos)))
