"""How long steps set things up, from the times of the calls that do."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints


def by_step(step_start: Ints, start: Ints, end: Ints) -> Ints:
    """How long each step set something up; several calls at the same time count once.

    All times have the same unit. Calls before the first step belong to it.
    """
    spent = np.zeros(len(step_start), np.int64)
    if not len(step_start) or not len(start):
        return spent
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    begin = np.maximum(start, np.append(start[:1], reach[:-1]))
    step = np.maximum(np.searchsorted(step_start, start, side="right") - 1, 0)
    np.add.at(spent, step, np.maximum(reach - begin, 0))
    return spent
