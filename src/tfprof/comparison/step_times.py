"""The time of each row of a view in each step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.measures.numbers import chosen_steps
from tfprof.measures.parts import PARTS
from tfprof.measures.repetitions import RunSteps
from tfprof.measures.run_sums import run_sums, sums_per_step
from tfprof.model.profile import ProfileColumns
from tfprof.views.registry import Trait
from tfprof.views.view import View, chosen_by

# More steps hardly narrow an interval any more.
_MOST_STEPS = 200


def steps_of(view: View) -> RunSteps:
    """The steps that a view covers, at most 200 spread over all of them."""
    found = RunSteps.of(view.profile, chosen_steps(view.profile, chosen_by(view.options)))
    return found.spread(_MOST_STEPS)


def times_of_rows(view: View, key: str, steps: RunSteps, ops: Bools | None = None) -> Floats:
    """The time in nanoseconds of each row (a row) in each step (a column).

    It is the total of the row, or in a flat view its own, in which the root is everything. With
    `ops`, only the flagged ops count.
    """
    found = np.zeros((len(view), len(steps.run)))
    for place, nanos in enumerate(_of_steps(view.profile, key, steps)):
        found[:, place] = of_rows(view, nanos if ops is None else np.where(ops, nanos, 0))
    return found


def times_of_ops(profile: ProfileColumns, key: str, steps: RunSteps, ops: Bools) -> Floats:
    """The time in nanoseconds that the flagged ops take in each step."""
    whole, is_part = PARTS.get(key, (key, None))
    flags = ops if is_part is None else ops & is_part(profile)
    return steps.means(sums_per_step(profile, whole, flags, steps.rows))


def _of_steps(profile: ProfileColumns, key: str, steps: RunSteps) -> Iterator[Ints]:
    """The time of each op, for one step after the other: the average over its ranks."""
    whole, is_part = PARTS.get(key, (key, None))
    runs = run_sums(profile)
    for step in range(len(steps.run)):
        rows = steps.of_step(step)
        nanos = runs.totals(whole, rows) // len(rows)
        yield nanos if is_part is None else np.where(is_part(profile), nanos, 0)


def of_rows(view: View, column: Ints) -> Ints:
    """The sum of a column of ops for each row of a view."""
    if Trait.NESTED in view.traits:
        return view.totals_of(column)
    own = view.members.sums(column[view.members.values])
    own[0] = column[view.counted().op].sum()
    return own
