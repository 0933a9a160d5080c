"""Which rows take longer or shorter than the machine explains.

Two recordings of the same program differ: the machine is busier, or has another clock, and then all
ops take longer alike, some a little more than others. The steps of a recording do not show that,
because they share it. So each row is compared with the rest of its own step: its time is divided by
that of the ops outside of it that are the same on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.comparison.changed_ops import changed_ops
from tfprof.comparison.pair import Pair
from tfprof.comparison.step_times import of_rows, steps_of, times_of_ops, times_of_rows
from tfprof.comparison.times import Steps, TimeChanges, compare_medians, is_repeated
from tfprof.views.tree import Tree
from tfprof.views.view import View

# The least change that is claimed, as a share of a step: of a row with other ops than before, and
# of a row whose ops are all the same, where the machine is a likelier reason. The first one is that
# of all rows if the machine is ruled out: if both sides were recorded several times, or if it was
# as fast as before and all other parts together changed by less.
LEAST_CHANGED = 0.03
LEAST_SAME = 0.12

# Recordings differ by more than their steps show.
_WIDER = 2
# The machine is as fast as before if the ops that are the same take this much more or less.
STEADY = 0.05
# With fewer parts that are the same, it is unknown how much they differ.
_LEAST_PARTS = 5
# Ops feel a faster or slower machine more or less than others: by up to this share of its change.
_UNEVEN = 0.5
# Rows that take a smaller share of a step on both sides are not compared.
_LEAST_ROW = 0.005
# What did not change is the measure of a row if it takes at least this share of a step.
_LEAST_REST = 0.25
# A row is not claimed if it takes a larger share of a step and all its ops are the same.
_LARGEST_SAME = 0.5
# A row holds the change of the row above it if it has at least this share of it.
_LEAST_HELD = 0.5
# The ops of a row that changed matter if they take at least this share of a step.
_LEAST_TIME = 0.01


def is_steady(pace: float) -> bool:
    """Whether the machine was as fast as before, as far as a pace shows it."""
    return pace > 0 and abs(log(pace)) < STEADY


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
        ones = np.ones(len(times.before))
        return Parts(times, ones, times.change, -ones, has_measure=False)
    has_rest = np.minimum(old.rest / old.whole, now.rest / now.whole) >= _LEAST_REST
    has_measure = bool(has_rest[0])
    has_rest[0] = False
    # The rest in a step of a pace between both.
    rest = np.sqrt(old.rest * now.rest)
    paced = _scaled(compare_medians(old.per_rest, now.per_rest), rest)
    families = _families(old, now, times)
    if has_measure:
        is_beyond = _is_beyond(old, now, times, paced, families)
        # A row without a rest is nearly everything: the rows in it are compared.
        held = _held(tree, is_beyond & has_rest, times.change) | (tree.sizes == 1)
        is_shown = np.where(has_rest, is_beyond, times.is_shown & held)
        pace, paced = now.rest / old.rest, paced.among(*families)
    else:
        paced = times.among(*families)
        has_rest = np.arange(len(has_rest)) > 0
        is_shown = np.where(has_rest, paced.is_shown, times.is_shown)
        pace = np.where(has_rest, now.rest / old.rest, 1.0)
    times = times._replace(is_shown=is_shown)
    spread = _Spread.of(tree, times, old, now)
    if has_measure:
        pace[0] = spread.pace
    scores = _scores(old, now, times, paced, spread.stands_out | is_repeated(old.rows, now.rows))
    return Parts(times, pace, paced.change, np.where(has_rest, scores, -1.0), has_measure)


def _families(old: _Times, now: _Times, times: TimeChanges) -> tuple[Bools, Bools]:
    """The rows that are compared: those with other ops than before, and those with the same ops.

    Where ops changed, other times are expected, so these rows are a question of their own.
    """
    is_part = np.maximum(times.before / old.whole, times.after / now.whole) >= _LEAST_ROW
    is_part[0] = False
    is_other = _has_changed(old, now)
    return is_part & is_other, is_part & ~is_other


def _is_beyond(
    old: _Times, now: _Times, times: TimeChanges, paced: TimeChanges, families: Iterable[Bools]
) -> Bools:
    """Which rows changed, also compared with the rest, and by more than the machine explains."""
    both = times._replace(chance=np.maximum(times.chance, paced.chance)).among(*families)
    repeated = is_repeated(old.rows, now.rows)
    found = both.is_shown & paced.is_shown & (times.change * paced.change > 0)
    found &= _is_clear(paced, 1 if repeated else _WIDER)
    return np.asarray(found if repeated else found & _is_uneven(old, now, paced))


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


def _is_clear(paced: TimeChanges, wider: int) -> Bools:
    """Whether an interval that is so many times as wide has changes in one direction only."""
    low = paced.change - wider * (paced.change - paced.low)
    high = paced.change + wider * (paced.high - paced.change)
    return np.asarray((low > 0) | (high < 0))


def _is_uneven(old: _Times, now: _Times, paced: TimeChanges) -> Bools:
    """Which rows have other ops than before, or changed more than the machine explains."""
    before, after = np.maximum(paced.before, 1.0), np.maximum(paced.after, 1.0)
    least = _UNEVEN * np.abs(np.log(now.rest / old.rest))
    return np.asarray((np.abs(np.log(after / before)) > least) | _has_changed(old, now))


def _has_changed(old: _Times, now: _Times) -> Bools:
    """Which rows have other ops than before that take a while."""
    return np.asarray(np.maximum(old.changed, now.changed) >= _LEAST_TIME)


def _held(tree: Tree, is_shown: Bools, change: Floats) -> Bools:
    """Which rows have a row below them that is shown and changes in the same direction."""
    more, less = (
        tree.sums_below((is_shown & (sign * change > 0)).astype(np.int64)) > 0 for sign in (1, -1)
    )
    return np.where(change > 0, more, less)


class _Spread(NamedTuple):
    """How unequally the parts of a model changed that are the same on both sides."""

    pace: float  # of the part in the middle: half of the time is in parts with a smaller one
    stands_out: Bools  # which rows changed more than all others together, at a steady pace

    @classmethod
    def of(cls, tree: Tree, times: TimeChanges, old: _Times, now: _Times) -> _Spread:
        is_leaf = (tree.sizes == 1) & ~old.waits & ~now.waits
        is_leaf &= (times.before > 0) & (times.after > 0) & (old.changed + now.changed == 0)
        leaves = np.flatnonzero(is_leaf)
        pace = now.rest[0] / old.rest[0]
        if len(leaves):
            before, after = times.before[leaves], times.after[leaves]
            order = np.argsort(after / before)
            weight = np.cumsum(np.sqrt(before * after)[order])
            middle = order[np.searchsorted(weight, weight[-1] / 2)]
            pace = after[middle] / before[middle]
        away = np.abs(times.after - pace * times.before)
        of_leaves = np.where(is_leaf, away, 0).astype(np.int64)
        others = of_leaves.sum() - tree.sums_below(of_leaves)
        rules_out = len(leaves) >= _LEAST_PARTS and is_steady(float(pace))
        return cls(float(pace), (away > others) & rules_out)


def _scores(
    old: _Times, now: _Times, times: TimeChanges, paced: TimeChanges, stands_out: Bools
) -> Floats:
    """By how much of a step the change of each row exceeds the least change that is claimed."""
    whole = np.sqrt(old.whole * now.whole)
    share = np.maximum(times.before / old.whole, times.after / now.whole)
    is_changed = _has_changed(old, now)
    agrees = times.is_shown & (times.change * paced.change > 0)
    agrees &= (share <= _LARGEST_SAME) | stands_out
    size, plain = np.abs(paced.change), np.abs(times.change)
    least = np.where(stands_out, LEAST_CHANGED, LEAST_SAME)
    excess = np.where(
        is_changed, size / whole - LEAST_CHANGED, np.minimum(size, plain) / whole - least
    )
    is_claimed = paced.is_shown & (is_changed | agrees) & ~old.waits & ~now.waits
    return np.where(is_claimed, excess, -1.0)


class _Times(NamedTuple):
    """The times of one side, in each step or in the median step."""

    rows: Steps  # of each row
    per_rest: Steps  # the same, divided by the rest of the step
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
        per_rest = Steps(times / rest, steps.run)
        changed /= whole
        return cls(Steps(times, steps.run), per_rest, _medians(rest), whole, changed, has_waits)


def _median(times: Floats) -> float:
    return float(_medians(times[None])[0])


def _medians(times: Floats) -> Floats:
    if not times.shape[1]:
        return np.zeros(len(times))
    return np.asarray(np.median(times, axis=1))


def _taken(times: Floats, rows: Ints) -> Floats:
    return np.concatenate((times, np.zeros((1, times.shape[1]))))[rows]
