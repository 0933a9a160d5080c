"""Names of rows that are names of ops, or scopes of them, without repeating their text."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints, Strings
from tfprof.page.container import Spans
from tfprof.views.view import View


def spans(view: View, names: Strings) -> Spans:
    """The names of rows that are at most one op each, as parts of the names of ops.

    A row without an op is a scope: its name is the start of the name of the first op below it.
    """
    row = _first_ops(view)
    length = np.where(view.members.lengths > 0, 0, view.name.lengths)
    others = np.flatnonzero(~_is_start(view.name, names, row, length))
    row[others] = len(names) + np.arange(len(others))
    length[others] = 0
    return Spans(names, row, length, view.name.take(others))


def _first_ops(view: View) -> Ints:
    """The op of each row, or else of the next row that has one; 0 if there is none."""
    count, members = len(view), view.members
    has_op = members.lengths > 0
    place = np.where(has_op, np.arange(count), count)
    following = np.minimum.accumulate(place[::-1])[::-1]
    first = np.append(np.zeros(count, np.int64), 0)
    first[:-1][has_op] = members.values[members.offsets[:-1][has_op]]
    return first[following]


def _is_start(texts: Strings, names: Strings, row: Ints, length: Ints) -> Bools:
    """Whether each text is the start of a name, or all of it if the length is 0."""
    if not len(names):
        return np.zeros(len(texts), np.bool_)
    start, end = names.starts[row], names.ends[row]
    wanted = np.where(length > 0, start + length, end)
    fits: Bools = (wanted <= end) & (wanted - start == texts.lengths)
    # Most scopes are at the same place in a copy of the names. These are not compared, because deep
    # scopes have many times as many bytes as the names.
    copy = texts.data.find(names.data)
    is_same = (texts.starts - copy == start) & (copy >= 0)
    some = np.flatnonzero(fits & ~is_same)
    text = texts.take(some).packed()
    found = Strings.of_spans(names.data, start[some], wanted[some]).packed()
    differs = np.frombuffer(text.data, np.uint8) != np.frombuffer(found.data, np.uint8)
    other = np.searchsorted(text.ends, np.flatnonzero(differs), side="right")
    fits[some[other]] = False
    return fits
