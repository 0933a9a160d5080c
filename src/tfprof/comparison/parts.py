"""Which rows take longer or shorter than the machine explains.

Two recordings of the same program differ: the machine is busier, or has another clock, and then all
ops take longer alike, some a little more than others. The steps of a recording do not show that,
because they share it. So each row is compared with the rest of its own step: its time is divided by
that of the ops outside of it that are the same on both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.comparison.changed_ops import changed_ops
from tfprof.comparison.pair import Pair
from tfprof.comparison.step_times import of_rows, steps_of, times_of_ops, times_of_rows
from tfprof.comparison.times import TimeChanges, compare_medians
from tfprof.views.tree import Tree
from tfprof.views.view import View

# The least change that is claimed, as a share of a step: of a row with other ops than before, and
# of a row whose ops are all the same, where the machine is a likelier reason.
LEAST_CHANGED = 0.03
LEAST_SAME = 0.12

# Recordings differ by more than their steps show.
_WIDER = 2
# What did not change is the measure of a row if it takes at least this share of a step.
_LEAST_REST = 0.25
# A row is not claimed if it takes a larger share of a step and all its ops are the same.
_LARGEST_SAME = 0.5
# A row holds the change of the row above it if it has at least this share of it.
_LEAST_HELD = 0.5
# The ops of a row that changed matter if they take at least this share of a step.
_LEAST_TIME = 0.01


class Side(NamedTuple):
    """A view of one side, and its row for each row of the comparison, `NO_ROW` if it has none."""

    view: View
    rows: Ints


class Parts(NamedTuple):
    """The rows of a comparison as parts of a step; all times are in nanoseconds."""

    times: TimeChanges
    pace: Floats  # how many times as long takes the rest of the model, which is the same; or 1
    change: Floats  # of the time, compared with the rest
    score: Floats  # how much of a step the change exceeds the least that is claimed; negative: none
    has_measure: bool  # whether enough of the model is the same to tell the pace


def compare_parts(pair: Pair, base: Side, new: Side, tree: Tree, key: str) -> Parts:
    """Compare the times of rows over all steps."""
    is_changed = changed_ops(pair)
    old, now = _Times.of(base, is_changed[0], key), _Times.of(new, is_changed[1], key)
    times = compare_medians(old.rows, now.rows)
    if not times.is_conclusive:
        ones = np.ones(len(old.rows))
        return Parts(times, ones, times.change, -ones, has_measure=False)
    has_rest = np.minimum(old.rest / old.whole, now.rest / now.whole) >= _LEAST_REST
    has_measure = bool(has_rest[0])
    has_rest[0] = False
    # The rest in a step of a pace between both.
    rest = np.sqrt(old.rest * now.rest)
    paced = _scaled(compare_medians(old.per_rest, now.per_rest), rest)
    is_shown = times.is_shown
    if has_measure:
        is_beyond = is_shown & _is_clear(paced) & (times.change * paced.change > 0)
        # A row without a rest is nearly everything: the rows in it are compared.
        held = _held(tree, is_beyond & has_rest, times.change) | (tree.sizes == 1)
        is_shown = np.where(has_rest, is_beyond, is_shown & held)
    else:
        paced, has_rest = times, np.arange(len(has_rest)) > 0
    return Parts(
        times._replace(is_shown=is_shown),
        np.where(has_rest | has_measure, now.rest / old.rest, 1.0),
        paced.change,
        np.where(has_rest, _scores(old, now, times, paced), -1.0),
        has_measure,
    )


def part_of_change(tree: Tree, parts: Parts) -> int:
    """The row that holds a change, as small as one row holds it; 0 if there is none."""
    row = int(parts.score.argmax())
    if parts.score[row] < 0:
        return 0
    sign = np.sign(parts.change[row])
    while True:
        children = np.flatnonzero(tree.parents == row)
        children = children[(parts.score[children] >= 0) & (children > 0)]
        best = max(children.tolist(), key=lambda child: sign * parts.change[child], default=0)
        if not best or sign * parts.change[best] < _LEAST_HELD * abs(parts.change[row]):
            return row
        row = best


def _scaled(changes: TimeChanges, by: Floats) -> TimeChanges:
    return changes._replace(
        before=changes.before * by,
        after=changes.after * by,
        low=changes.low * by,
        high=changes.high * by,
    )


def _is_clear(paced: TimeChanges) -> Bools:
    """Whether a change is larger than recordings of the same program differ."""
    margin = (paced.high - paced.low) / 2
    return np.asarray(paced.is_shown & (np.abs(paced.change) > _WIDER * margin))


def _held(tree: Tree, is_shown: Bools, change: Floats) -> Bools:
    """Which rows have a row below them that is shown and changes in the same direction."""
    more, less = (
        tree.sums_below((is_shown & (sign * change > 0)).astype(np.int64)) > 0 for sign in (1, -1)
    )
    return np.where(change > 0, more, less)


def _scores(old: _Times, now: _Times, times: TimeChanges, paced: TimeChanges) -> Floats:
    """By how much of a step the change of each row exceeds the least change that is claimed."""
    whole = np.sqrt(old.whole * now.whole)
    share = np.maximum(times.before / old.whole, times.after / now.whole)
    is_changed = np.maximum(old.changed, now.changed) >= _LEAST_TIME
    agrees = times.is_shown & (times.change * paced.change > 0) & (share <= _LARGEST_SAME)
    size, plain = np.abs(paced.change), np.abs(times.change)
    excess = np.where(
        is_changed, size / whole - LEAST_CHANGED, np.minimum(size, plain) / whole - LEAST_SAME
    )
    is_claimed = paced.is_shown & (is_changed | agrees) & ~old.waits & ~now.waits
    return np.where(is_claimed, excess, -1.0)


class _Times(NamedTuple):
    """The times of one side, in each step or in the median step."""

    rows: Floats  # of each row in each step
    per_rest: Floats  # the same, divided by the rest of its step
    rest: Floats  # of the ops outside of each row that are the same on both sides
    whole: float  # of all ops
    changed: Floats  # of the ops of each row that are not the same, as a share of the whole
    waits: Bools  # which rows have iterators of the input pipeline, whose time includes waiting

    @classmethod
    def of(cls, side: Side, is_changed: Bools, key: str) -> _Times:
        view, rows = side
        steps = steps_of(view)
        waits = view.profile.ops.is_iterator()
        is_same = ~is_changed & ~waits
        times = _taken(times_of_rows(view, key, steps), rows)
        same = _taken(times_of_rows(view, key, steps, is_same), rows)
        changed = _medians(times - same)
        everything, all_same = (
            times_of_ops(view.profile, key, steps, flags) for flags in (~waits, is_same)
        )
        rest = np.subtract(all_same, same, out=same)
        rest[0] = all_same
        np.maximum(rest, 1.0, out=rest)
        whole = max(_median(everything), 1.0)
        has_waits = np.append(of_rows(view, waits.astype(np.int64)), 0)[rows] > 0
        return cls(times, times / rest, _medians(rest), whole, changed / whole, has_waits)


def _median(times: Floats) -> float:
    return float(_medians(times[None])[0])


def _medians(times: Floats) -> Floats:
    if not times.shape[1]:
        return np.zeros(len(times))
    return np.asarray(np.median(times, axis=1))


def _taken(times: Floats, rows: Ints) -> Floats:
    return np.concatenate((times, np.zeros((1, times.shape[1]))))[rows]
