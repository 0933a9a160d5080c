"""What changed, before any table: the time of a step, where it went, and the totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged
from tfprof.comparison.diff import DiffView, build_diff
from tfprof.comparison.matching import NO_ROW
from tfprof.comparison.numbers import Number, has_number, numbers_named
from tfprof.comparison.op_facts import changed_facts
from tfprof.comparison.pair import Pair, op_pairs
from tfprof.comparison.times import Floats, TimeChanges, compare_medians
from tfprof.measures.memory import allocator_traces
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.measures.step_sums import step_totals
from tfprof.measures.steps import timed_steps
from tfprof.metrics import Need
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.units import Unit
from tfprof.views import lines
from tfprof.views.code import GRADIENT_SUFFIX

_EVERY_ROW = 2**31 - 1

# A row holds the change if it has at least this share of the change of the row above it.
_LEAST_SHARE = 0.5
# A phase is named if it has at least this share of the change.
_LEAST_PHASE = 0.8
# A line is named if it has at least this share of the change of its row.
_LEAST_LINE = 0.3

_OF_EVERY_MODEL = ("params", "float_ops")
# The totals that are compared, if either side has them.
_TOTALS = ("params", "trainable_params", "slots", "float_ops", "occurrence")


class DiffTotal(NamedTuple):
    """A number of the whole model on both sides."""

    number: Number
    before: int
    after: int

    @property
    def change(self) -> int:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class DiffCause:
    """The part of the model that holds most of a change of time; all times in nanoseconds."""

    kind: str  # the view that has the row
    name: str
    old_name: str
    before_ns: int  # in the median step
    after_ns: int
    share: float  # of the change of the time of all ops
    phase: str  # `forward`, `backward`, or empty if it is both
    line: str  # the line of code that holds most of it, such as `model.py:88`
    facts: tuple[str, ...]  # what is different there, in sentences

    @property
    def change_ns(self) -> int:
        return self.after_ns - self.before_ns


@dataclass(frozen=True, slots=True)
class DiffSummary:
    """The comparison of two profiles as a whole."""

    steps: tuple[int, int]  # how many steps with times each side has
    step: TimeChanges | None  # one row: the wall time of a step; None if a side has no times
    cause: DiffCause | None  # of a change of time that the steps show
    totals: tuple[DiffTotal, ...]


def build_summary(pair: Pair) -> DiffSummary:
    """Compare two profiles as a whole."""
    walls = [_wall_times(side) for side in (pair.base, pair.new)]
    step, cause = None, None
    if all(len(wall) for wall in walls):
        step = compare_medians(walls[0][None], walls[1][None])
        if step.is_shown[0]:
            cause = _cause(pair, grows=bool(step.change[0] > 0))
    return DiffSummary((len(walls[0]), len(walls[1])), step, cause, tuple(_totals(pair)))


def _wall_times(profile: ProfileColumns) -> Floats:
    if not profile.has(Need.RUNS) or not len(timed_steps(profile)):
        return np.zeros(0)
    return step_totals(profile).wall_ns.astype(np.float64)


def _totals(pair: Pair) -> Iterator[DiffTotal]:
    sides = [per_op(side, EVERYTHING) for side in (pair.base, pair.new)]
    ran = all(side.has(Need.RUNS) for side in (pair.base, pair.new))
    for number in numbers_named(_TOTALS):
        if (number.key == "runs" and not ran) or _is_one_sided(pair, number):
            continue
        before, after = (int(side[number.key].sum()) for side in sides)
        is_all = number.key == "trainable_params" and all(
            bool((side["trainable_params"] == side["params"]).all()) for side in sides
        )
        if (before or after) and not is_all:
            yield DiffTotal(number, before, after)
    peaks = [_peak(side) for side in (pair.base, pair.new)]
    if peaks[0] is not None and peaks[1] is not None:
        number = Number("peak_bytes", "peak_bytes", "memory peak", Unit.BYTES, is_time=False)
        yield DiffTotal(number, peaks[0], peaks[1])


def _is_one_sided(pair: Pair, number: Number) -> bool:
    """Whether one side lacks a number that every model has, so that its files do not contain it."""
    sides = (pair.base, pair.new)
    return number.key in _OF_EVERY_MODEL and not all(has_number(side, number.key) for side in sides)


def _peak(profile: ProfileColumns) -> int | None:
    """The most memory that any allocator held at one time; None if it was not recorded."""
    return max((trace.peak_bytes for trace in allocator_traces(profile)), default=None)


def _cause(pair: Pair, *, grows: bool) -> DiffCause | None:
    """The part that holds most of the change, in the view that can name the smallest part."""
    sign = 1 if grows else -1
    found = [cause for kind in ("layers", "scope") if (cause := _cause_in(pair, kind, sign))]
    return max(found, key=lambda cause: cause.share, default=None)


def _cause_in(pair: Pair, kind: str, sign: int) -> DiffCause | None:
    options = Options(max_depth=_EVERY_ROW, select=("micros",))
    view = build_diff(pair, kind, options)
    (number, *_) = view.numbers
    before, after = view.typical(number)
    change = sign * (after - before)
    row = _deepest(view, change)
    if row == 0 or not view.times("nanos").is_shown[row]:
        return None
    ops = _ops_below(view, row)
    by_op = _OpChanges.of(pair, ops, sign)
    return DiffCause(
        kind=kind,
        name=view.name(row),
        old_name=view.old_name(row),
        before_ns=int(before[row]),
        after_ns=int(after[row]),
        share=float(change[row] / change[0]) if change[0] > 0 else 1.0,
        phase=by_op.phase(),
        line=by_op.line(),
        facts=tuple(changed_facts(pair, *ops)),
    )


def _deepest(view: DiffView, change: Ints) -> int:
    """The row below the root that holds most of the change, as deep as one row holds it."""
    row = 0
    while True:
        children = np.flatnonzero(view.tree.parents == row)
        if not len(children):
            return row
        best = int(children[change[children].argmax()])
        if change[best] <= 0 or change[best] < _LEAST_SHARE * change[row]:
            return row
        row = best


def _ops_below(view: DiffView, row: int) -> tuple[Bools, Bools]:
    """Which ops of each side are below a row."""
    rows = np.arange(row, int(view.tree.end[row]))
    return (
        _flags(len(view.pair.base.ops), view.base.members, view.base_row[rows]),
        _flags(len(view.pair.new.ops), view.new.members, view.new_row[rows]),
    )


def _flags(count: int, members: Ragged, rows: Ints) -> Bools:
    found = np.zeros(count, np.bool_)
    found[members.take(rows[rows >= 0]).values] = True
    return found


class _OpChanges(NamedTuple):
    """The changes of time of some ops: each new one with its pair, and those that were removed."""

    pair: Pair
    ops: Ints  # of the new profile
    change: Ints  # times the sign of the whole change
    removed: Ints  # of the base
    lost: Ints

    @classmethod
    def of(cls, pair: Pair, chosen: tuple[Bools, Bools], sign: int) -> _OpChanges:
        before, after = (per_op(side, EVERYTHING)["nanos"] for side in (pair.base, pair.new))
        new_of = op_pairs(pair)
        base_of = np.full(len(after), NO_ROW)
        known = np.flatnonzero(new_of >= 0)
        base_of[new_of[known]] = known
        ops = np.flatnonzero(chosen[1])
        change = after[ops] - np.append(before, 0)[base_of[ops]]
        removed = np.flatnonzero(chosen[0] & (new_of < 0))
        return cls(pair, ops, sign * change, removed, -sign * before[removed])

    def phase(self) -> str:
        """The phase that has nearly all of the change."""
        whole = int(self.change.sum() + self.lost.sum())
        for phase in (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER):
            here = self.change[self.pair.new.phase[self.ops] == phase].sum()
            here += self.lost[self.pair.base.phase[self.removed] == phase].sum()
            if whole > 0 and here >= _LEAST_PHASE * whole:
                return phase.name.lower()
        return ""

    def line(self) -> str:
        """The line of the program with the largest change; empty if no line has much of it."""
        amounts: dict[str, int] = {}
        for profile, ops, change in (
            (self.pair.new, self.ops, self.change),
            (self.pair.base, self.removed, self.lost),
        ):
            if not profile.has_code:
                continue
            names = lines.of_ops(profile)
            for op, nanos in zip(ops.tolist(), change.tolist(), strict=True):
                name = names[op].removesuffix(GRADIENT_SUFFIX)
                if name != lines.NO_LINE:
                    amounts[name] = amounts.get(name, 0) + nanos
        whole = int(self.change.sum() + self.lost.sum())
        best = max(amounts, key=lambda name: amounts[name], default="")
        if not best or whole <= 0 or amounts[best] < _LEAST_LINE * whole:
            return ""
        return best.rpartition(":")[0]
