# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
# cython: show_performance_hints=False
"""Find the intervals that contain others, and what they inherit from them.

Uncompiled, it gives the same results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.kernels.spans import Ints

try:
    import cython
except ImportError:
    from tfprof.kernels import no_cython as cython

__all__ = ["Chains", "chains", "containers", "inherited"]

# An interval that does not contain a later one can be open at its start only if the two cross. In
# real recordings few do, and a hostile one must not take quadratic time.
_MOST_CROSSING = 256


def containers(lane: Ints, start: Ints, end: Ints, kind: Ints, kinds: int) -> Ints:
    """For each interval and each kind, the latest interval of that kind that contains it, or -1.

    The intervals are sorted by lane, then start, then descending end. An interval contains those
    after it on its lane that do not end later. Intervals of a negative kind contain nothing. The
    result has one row per kind.
    """
    count = len(start)
    found = np.full((kinds, count), -1, np.int64)
    opened = np.empty((kinds, max(count, 1)), np.int64)
    _sweep(lane, start, end, kind, np.zeros(kinds, np.int64), opened, found)
    return found


def _sweep(  # noqa: PLR0917 -- columns
    lanes: Ints, starts: Ints, ends: Ints, kind_of: Ints, depths: Ints, opened: Ints, found: Ints
) -> None:
    lane: cython.const[cython.longlong][::1] = lanes
    start: cython.const[cython.longlong][::1] = starts
    end: cython.const[cython.longlong][::1] = ends
    kind: cython.const[cython.longlong][::1] = kind_of
    depth: cython.longlong[::1] = depths
    stack: cython.longlong[:, ::1] = opened
    container: cython.longlong[:, ::1] = found
    row: cython.Py_ssize_t
    one: cython.Py_ssize_t
    place: cython.Py_ssize_t
    kinds: cython.Py_ssize_t = len(depths)
    for row in range(len(starts)):
        if row and lane[row] != lane[row - 1]:
            for one in range(kinds):
                depth[one] = 0
        for one in range(kinds):
            while depth[one] and end[stack[one, depth[one] - 1]] < start[row]:
                depth[one] -= 1
            place = depth[one] - 1
            while place >= 0 and end[stack[one, place]] < end[row]:
                place -= 1
                if depth[one] - 1 - place > _MOST_CROSSING:
                    place = -1
            if place >= 0:
                container[one, row] = stack[one, place]
        if kind[row] >= 0:
            one = kind[row]
            stack[one, depth[one]] = row
            depth[one] += 1


def inherited(container: Ints, own: Ints) -> Ints:
    """For each row its own value or, if that is negative, the one of its container.

    Containers precede their rows. The value is -1 if no container has one.
    """
    result = np.empty(len(own), np.int64)
    _inherit(container, own, result)
    return result


def _inherit(containers_of: Ints, values: Ints, result: Ints) -> None:
    container: cython.const[cython.longlong][::1] = containers_of
    own: cython.const[cython.longlong][::1] = values
    found: cython.longlong[::1] = result
    row: cython.Py_ssize_t
    for row in range(len(values)):
        if own[row] >= 0:
            found[row] = own[row]
        else:
            found[row] = found[container[row]] if container[row] >= 0 else -1


class Chains(NamedTuple):
    """The distinct chains of labels from the outermost container down to a row."""

    of_row: Ints  # the chain of each row, or -1
    above: Ints  # for each chain the one without its last label, or -1
    label: Ints  # the last label of each chain


def chains(container: Ints, label: Ints) -> Chains:
    """The chains of labels of all rows; a row with a negative label has that of its container.

    Containers precede their rows.
    """
    of_row = np.empty(len(label), np.int64)
    above = np.empty(max(len(label), 1), np.int64)
    last = np.empty(max(len(label), 1), np.int64)
    size = 2 << max(len(label), 1).bit_length()
    count = _chain(container, label, of_row, above, last, np.full(size, -1, np.int64))
    return Chains(of_row, above[:count].copy(), last[:count].copy())


def _chain(  # noqa: PLR0917 -- columns
    containers_of: Ints, labels: Ints, chain_of: Ints, aboves: Ints, lasts: Ints, slots: Ints
) -> int:
    """Number the chains in the order of their first rows; returns how many there are.

    `slots` is a hash table of chains, at most half full.
    """
    container: cython.const[cython.longlong][::1] = containers_of
    label: cython.const[cython.longlong][::1] = labels
    of_row: cython.longlong[::1] = chain_of
    above: cython.longlong[::1] = aboves
    last: cython.longlong[::1] = lasts
    slot: cython.longlong[::1] = slots
    mask: cython.ulonglong = len(slots) - 1
    place: cython.ulonglong
    count: cython.Py_ssize_t = 0
    parent: cython.longlong
    row: cython.Py_ssize_t
    for row in range(len(labels)):
        parent = of_row[container[row]] if container[row] >= 0 else -1
        if label[row] < 0:
            of_row[row] = parent
            continue
        place = ((parent + 1) * 0x9E37_79B1 + label[row] * 0x85EB_CA77) & 0xFFFF_FFFF
        place = (place ^ (place >> 15)) & mask
        while slot[place] >= 0 and not (
            above[slot[place]] == parent and last[slot[place]] == label[row]
        ):
            place = (place + 1) & mask
        if slot[place] < 0:
            slot[place] = count
            above[count], last[count] = parent, label[row]
            count += 1
        of_row[row] = slot[place]
    return int(count)
