"""The answer to a question of a page that is served: the rows of a view with any options.

A page has all rows of each view, so an answer only says which of them are shown, in which order and
with which numbers, and a row that is selected stays selected. Options that change the rows
themselves (`my_code` and older dialects) are answered with a whole view.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.model.profile import ProfileColumns
from tfprof.page.merging import MERGED
from tfprof.page.views import fitted, section_of, whole
from tfprof.views.view import View


def answer(view: View, profile: ProfileColumns) -> dict[str, Any]:
    """The rows of `view`; `profile` is that of the page."""
    view = fitted(view)
    section = section_of(view, profile)
    rows = _rows_in(whole(view.kind, profile), view)
    if rows is not None:
        del section["name"], section["facts"]  # those of the page's rows
    return {"view": section, "row": rows}


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
