"""The part of a model that explains a change of time: its phase, its line, what is new there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Floats, Ints, Ragged
from tfprof.comparison.changed_ops import changed_ops
from tfprof.comparison.diff import DiffView, build_diff
from tfprof.comparison.matching import NO_ROW
from tfprof.comparison.op_facts import changed_facts
from tfprof.comparison.pair import Pair, op_pairs
from tfprof.comparison.parts import part_of_change
from tfprof.metrics import Need
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Chosen
from tfprof.options import Options
from tfprof.views import lines
from tfprof.views.code import GRADIENT_SUFFIX

_EVERY_ROW = 2**31 - 1

# A phase is named if it has at least this share of the change.
_LEAST_PHASE = 0.8
# A line is named if it has at least this share of the change.
_LEAST_LINE = 0.3


@dataclass(frozen=True, slots=True)
class DiffCause:
    """The part of the model that holds most of a change of time; all times in nanoseconds."""

    kind: str  # the view that has the row
    name: str
    old_name: str
    before_ns: int  # in the median step
    after_ns: int
    ratio: float | None  # how many times as long it takes at an equal pace; None: it is new
    share: float  # of the change of the time of all ops
    phase: str  # `forward`, `backward`, or empty if it is both
    line: str  # the line of code that holds most of it, such as `model.py:88`
    facts: tuple[str, ...]  # what is different there, in sentences

    @property
    def change_ns(self) -> int:
        return self.after_ns - self.before_ns


class Explanation(NamedTuple):
    """What explains that steps take another time: a part of the model, or the machine."""

    cause: DiffCause | None
    pace: float | None  # how many times as long the ops take that did not change; None if too few
    beyond_ns: float  # how much longer all ops take than at that pace


def explain(pair: Pair, chosen: Chosen) -> Explanation:
    """Find the part that changed compared with the rest, and how much longer the rest takes."""
    has_layers = pair.base.has(Need.LAYERS) and pair.new.has(Need.LAYERS)
    # A layer has its forward and backward pass, which differ less together than on their own.
    kind = "layers" if has_layers else "scope"
    every = Options(max_depth=_EVERY_ROW, select=("micros",), **chosen._asdict())
    view = build_diff(pair, kind, every)
    parts = view.parts("nanos")
    row = part_of_change(view.tree, parts)
    cause = _cause(view, row) if row else None
    if not parts.has_measure:
        return Explanation(cause, None, 0.0)
    pace = float(parts.pace[row])
    return Explanation(cause, pace, float(parts.times.after[0] - pace * parts.times.before[0]))


def _cause(view: DiffView, row: int) -> DiffCause:
    parts = view.parts("nanos")
    before, after = (float(side[row]) for side in (parts.times.before, parts.times.after))
    pace, change = float(parts.pace[row]), after - before * float(parts.pace[row])
    whole = float(parts.times.change[0])
    chosen = _ops_below(view, row)
    by_op = _OpChanges.of(view, chosen, pace, np.sign(change))
    return DiffCause(
        kind=view.kind,
        name=view.name(row),
        old_name=view.old_name(row),
        before_ns=round(before),
        after_ns=round(after),
        ratio=after / (before * pace) if before else None,
        share=(after - before) / whole if (after - before) * whole > 0 else 1.0,
        phase=by_op.phase(),
        line=by_op.line(),
        facts=tuple(changed_facts(view.pair, *chosen)),
    )


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
    """The changes of time of some ops: each new one with its pair, and those that were removed.

    Times of the base are what they would be at the pace of the new profile. A change in the
    direction of the whole is positive.
    """

    pair: Pair
    ops: Ints  # of the new profile
    was: Ints  # the op of the base that each of them was, or `NO_ROW`
    change: Floats
    removed: Ints  # of the base
    lost: Floats
    is_saving: bool

    @classmethod
    def of(
        cls, view: DiffView, chosen: tuple[Bools, Bools], pace: float, sign: float
    ) -> _OpChanges:
        """The ops that are not what they were, or all if these do not explain the change."""
        every = cls._of(view, chosen, pace, sign)
        base, new = changed_ops(view.pair)
        changed = cls._of(view, (chosen[0] & base, chosen[1] & new), pace, sign)
        return changed if changed.whole >= every.whole / 2 else every

    @classmethod
    def _of(
        cls, view: DiffView, chosen: tuple[Bools, Bools], pace: float, sign: float
    ) -> _OpChanges:
        pair = view.pair
        before, after = (
            side.op_numbers("nanos").astype(np.float64) for side in (view.base, view.new)
        )
        new_of = op_pairs(pair)
        base_of = np.full(len(after), NO_ROW)
        known = np.flatnonzero(new_of >= 0)
        base_of[new_of[known]] = known
        ops = np.flatnonzero(chosen[1])
        was = base_of[ops]
        change = sign * (after[ops] - pace * np.append(before, 0.0)[was])
        removed = np.flatnonzero(chosen[0] & (new_of < 0))
        lost = -sign * pace * before[removed]
        return cls(pair, ops, was, change, removed, lost, is_saving=sign < 0)

    @property
    def whole(self) -> float:
        return float(self.change.sum() + self.lost.sum())

    def phase(self) -> str:
        """The phase that has nearly all of the change."""
        for phase in (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER, Phase.COMMUNICATION):
            here = self.change[self.pair.new.phase[self.ops] == phase].sum()
            here += self.lost[self.pair.base.phase[self.removed] == phase].sum()
            if self.whole > 0 and here >= _LEAST_PHASE * self.whole:
                return phase.name.lower()
        return ""

    def line(self) -> str:
        """The line of the program with the largest change; empty if no line has much of it.

        Time that is saved was spent at lines of the base, also by ops that are elsewhere now.
        """
        is_old = self.is_saving & (self.was >= 0)
        amounts = Counter(_by_line(self.pair.new, self.ops[~is_old], self.change[~is_old]))
        amounts.update(_by_line(self.pair.base, self.was[is_old], self.change[is_old]))
        amounts.update(_by_line(self.pair.base, self.removed, self.lost))
        best = max(amounts, key=lambda name: amounts[name], default="")
        if not best or self.whole <= 0 or amounts[best] < _LEAST_LINE * self.whole:
            return ""
        return best.rpartition(":")[0]


def _by_line(profile: ProfileColumns, ops: Ints, change: Floats) -> dict[str, float]:
    """The change of each line that has ops."""
    amounts: dict[str, float] = {}
    if profile.has_code:
        names = lines.of_ops(profile)
        for op, nanos in zip(ops.tolist(), change.tolist(), strict=True):
            name = names[op].removesuffix(GRADIENT_SUFFIX)
            if name != lines.NO_LINE:
                amounts[name] = amounts.get(name, 0.0) + nanos
    return amounts
