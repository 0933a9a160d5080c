# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Split sorted names at their slashes into a tree of scopes.

This module only runs compiled; `plain_names` has the same in ordinary Python. The spans of names
are checked once, on entry, so that the loops need not check every byte.
"""

from __future__ import annotations

import cython
import numpy as np

from tfprof.kernels.spans import Ints, check_spans

if not cython.compiled:
    raise ImportError("this module has to be compiled")

__all__ = ["scope_rows"]

SLASH = cython.declare(cython.uchar, 0x2F)


def scope_rows(data: bytes, starts: Ints, ends: Ints, rows: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The tree of scopes of `rows`, sorted with slashes first; contents follow their scope.

    Four columns: the row of a name that starts with the scope, where in the data the scope's own
    name ends, its depth (1 is the top), and the row of the op with that name (-1: no op has it).
    """
    check_spans(data, starts, ends)
    return _Scopes(data, starts, ends, rows).columns()


@cython.final
@cython.cclass
class _Scopes:
    """Walks names in tree order; scopes shared with the previous name exist already."""

    _data: cython.const[cython.uchar][::1]
    _starts: cython.const[cython.longlong][::1]
    _ends: cython.const[cython.longlong][::1]
    _rows: cython.const[cython.longlong][::1]
    _columns: cython.longlong[:, ::1]
    _count: cython.Py_ssize_t

    def __init__(self, data: bytes, starts: Ints, ends: Ints, rows: Ints) -> None:
        self._data = data or b"\0"
        self._starts = starts
        self._ends = ends
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(starts):
            raise ValueError("no such row")
        self._rows = rows
        self._columns = np.empty((4, 2 * len(rows) + 16), np.int64)
        self._count = 0

    def columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        before: cython.longlong = -1
        row: cython.longlong
        place: cython.Py_ssize_t
        at: cython.Py_ssize_t
        depth: cython.Py_ssize_t
        for place in range(self._rows.shape[0]):
            row = self._rows[place]
            at = self._shared(before, row)
            depth = self._depth(row, at)
            at += 1
            while at < self._ends[row]:
                if self._data[at] == SLASH:
                    depth += 1
                    self._add(row, at, depth, -1)
                at += 1
            self._add(row, self._ends[row], depth + 1, row)
            before = row
        found = np.asarray(self._columns)[:, : self._count]
        return found[0].copy(), found[1].copy(), found[2].copy(), found[3].copy()

    @cython.cfunc
    @cython.exceptval(-2)
    def _shared(self, before: cython.longlong, row: cython.longlong) -> cython.Py_ssize_t:
        """Where the scopes that both names share end; just before the name if they share none."""
        start: cython.Py_ssize_t = self._starts[row]
        at: cython.Py_ssize_t = start
        last: cython.Py_ssize_t = start - 1
        if before < 0:
            return last
        there: cython.Py_ssize_t = self._starts[before]
        while True:
            here_ends: cython.bint = at == self._ends[row]
            there_ends: cython.bint = there == self._ends[before]
            if (here_ends or self._data[at] == SLASH) and (
                there_ends or self._data[there] == SLASH
            ):
                last = at
            if here_ends or there_ends or self._data[at] != self._data[there]:
                return last
            at += 1
            there += 1

    @cython.cfunc
    @cython.exceptval(-2)
    def _depth(self, row: cython.longlong, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The depth of the scope that ends at `end`."""
        at: cython.Py_ssize_t
        depth: cython.Py_ssize_t = 1
        if end < self._starts[row]:
            return 0
        for at in range(self._starts[row], end):
            depth += self._data[at] == SLASH
        return depth

    @cython.cfunc
    @cython.exceptval(-1)
    def _add(
        self,
        row: cython.longlong,
        end: cython.Py_ssize_t,
        depth: cython.Py_ssize_t,
        op: cython.longlong,
    ) -> cython.int:
        if self._count == self._columns.shape[1]:
            columns = np.empty((4, 2 * self._count), np.int64)
            columns[:, : self._count] = self._columns
            self._columns = columns
        self._columns[0, self._count] = row
        self._columns[1, self._count] = end
        self._columns[2, self._count] = depth
        self._columns[3, self._count] = op
        self._count += 1
        return 0
