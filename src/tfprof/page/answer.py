"""The answer to a question of a page that is served: the rows of a view with any options.

A page has all rows of each view, so an answer only says which of them are shown, in which order and
with which numbers, and a row that is selected stays selected. Options that change the rows
themselves (`my_code` and older dialects) are answered with a whole view.

Ops have numbers of their own, which the page lists and draws: those that differ from the numbers in
the page are sent as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.profile import ProfileColumns
from tfprof.page.merging import MERGED
from tfprof.page.views import (
    column_name,
    fitted,
    numbers_of,
    row_of_ops,
    section_of,
    whole,
)
from tfprof.views.view import View


def answer(view: View, profile: ProfileColumns) -> dict[str, Any]:
    """The rows of `view`; `profile` is that of the page."""
    shown = fitted(view)
    section = section_of(shown, profile)
    rows = _rows_in(whole(view.kind, profile), shown)
    if rows is not None:
        del section["name"], section["facts"]  # those of the page's rows
        return {"view": section, "row": rows, "ops": _ops(view, profile)}
    row = _row_of_ops(view, shown, len(profile.ops))
    return {"view": section, "row": rows, "ops": _ops(view, profile) | {"row": row}}


def _ops(view: View, profile: ProfileColumns) -> dict[str, Any]:
    """Which ops count, and their numbers, 0 for other ops; None for what is as in the page."""
    is_counted = np.zeros(len(profile.ops), np.bool_)
    is_counted[view.counted().op] = True
    of_page = per_op(profile, EVERYTHING)
    keys = [column_name(metric) for metric in numbers_of(profile) if not metric.part_of]
    numbers = {key: np.where(is_counted, view.op_numbers(key), 0) for key in keys}
    return {
        "counted": None if is_counted.all() else is_counted.astype(np.int64),
        "numbers": {
            key: column for key, column in numbers.items() if (column != of_page[key]).any()
        },
        "row": None,
    }


def _row_of_ops(view: View, shown: View, size: int) -> Ints:
    """The row shown that each op is part of, -1 if none; `shown` may have merged rows of `view`."""
    if shown is not view:
        return row_of_ops(shown, size)
    found = np.full(size, -1)
    counted = view.counted()
    found[counted.op] = counted.row
    return found


def _rows_in(page: View, view: View) -> Ints | None:
    """The row of the page that each row of `view` is; None if it has other rows."""
    size = 1 + max(int(page.arranged.max()), int(view.arranged.max()))
    place = np.full(size + 1, -1)
    place[page.arranged] = np.arange(len(page))
    place[MERGED] = -1  # such rows stand for other rows with other options
    rows = place[view.arranged]
    if (rows < 0).any() or not _is_same(page.name.take(rows), view.name):
        return None
    return rows


def _is_same(one: Strings, other: Strings) -> bool:
    one, other = one.packed(), other.packed()
    return one.data == other.data and np.array_equal(one.lengths, other.lengths)
