# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Select and group rows, in fewer passes and with less memory than numpy."""

from __future__ import annotations

import numpy as np

from tfprof.kernels.spans import Ints

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

__all__ = ["grouped", "take_ragged"]


def take_ragged(offsets: Ints, values: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The offsets and the values of `rows`, in that order.

    Row `i` has the values `values[offsets[i]:offsets[i + 1]]`, in the arguments and in the result.
    """
    count = len(rows)
    taken_offsets = np.zeros(count + 1, np.int64)
    np.cumsum(offsets[rows + 1] - offsets[rows], out=taken_offsets[1:])
    if not cython.compiled:
        shift = np.repeat(offsets[rows] - taken_offsets[:count], np.diff(taken_offsets))
        return taken_offsets, values[np.arange(len(shift)) + shift]
    taken_values = np.empty(int(taken_offsets[count]), np.int64)
    old: cython.const[cython.longlong][::1] = np.ascontiguousarray(offsets)
    source: cython.const[cython.longlong][::1] = np.ascontiguousarray(values)
    chosen: cython.const[cython.longlong][::1] = np.ascontiguousarray(rows)
    target: cython.longlong[::1] = taken_values
    place: cython.Py_ssize_t
    at: cython.longlong
    to: cython.Py_ssize_t = 0
    for place in range(chosen.shape[0]):
        for at in range(old[chosen[place]], old[chosen[place] + 1]):
            target[to] = source[at]
            to += 1
    return taken_offsets, taken_values


def grouped(keys: Ints, limit: int) -> Ints:
    """The rows sorted by key, stably; keys are at least 0 and below `limit`."""
    if not cython.compiled:
        return np.argsort(keys, kind="stable")
    counts = np.zeros(limit + 1, np.int64)
    rows = np.empty(len(keys), np.int64)
    key: cython.const[cython.longlong][::1] = np.ascontiguousarray(keys)
    next_place: cython.longlong[::1] = counts
    target: cython.longlong[::1] = rows
    row: cython.Py_ssize_t
    for row in range(key.shape[0]):
        next_place[key[row] + 1] += 1
    for row in range(1, next_place.shape[0]):
        next_place[row] += next_place[row - 1]
    for row in range(key.shape[0]):
        target[next_place[key[row]]] = row
        next_place[key[row]] += 1
    return rows
