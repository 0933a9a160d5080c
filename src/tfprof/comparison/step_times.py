"""The time of each row of a view in each step."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.comparison.times import Floats
from tfprof.measures.numbers import chosen_steps
from tfprof.measures.parts import PARTS
from tfprof.measures.run_sums import run_sums
from tfprof.views.registry import Trait
from tfprof.views.view import View, chosen_by

# More steps hardly narrow an interval any more.
_MOST_STEPS = 200


def steps_of(view: View) -> Ints:
    """The rows of the steps that a view covers, at most 200 spread over all of them."""
    found = chosen_steps(view.profile, chosen_by(view.options))
    if len(found) > _MOST_STEPS:
        return found[np.linspace(0, len(found) - 1, _MOST_STEPS).round().astype(np.int64)]
    return found


def times_of_rows(view: View, key: str, steps: Ints) -> Floats:
    """The time in nanoseconds of each row (a row) in each step (a column).

    It is the total of the row, or in a flat view its own, in which the root is everything.
    """
    whole, is_part = PARTS.get(key, (key, None))
    runs = run_sums(view.profile)
    found = np.zeros((len(view), len(steps)))
    for place, step in enumerate(steps.tolist()):
        nanos = runs.totals(whole, ints([step]))
        if is_part is not None:
            nanos = np.where(is_part(view.profile), nanos, 0)
        found[:, place] = _of_rows(view, nanos)
    return found


def _of_rows(view: View, nanos: Ints) -> Ints:
    if Trait.NESTED in view.traits:
        return view.totals_of(nanos)
    own = view.members.sums(nanos[view.members.values])
    own[0] = nanos[view.counted().op].sum()
    return own
