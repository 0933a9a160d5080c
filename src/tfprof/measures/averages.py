"""Averages over steps: a column per op from a column per record, by one of two rules.

- The original averages each number of an op over the steps in which the op was seen. Its recorded
  answers require the same, so this is the rule for TensorFlow's RunMetadata.
- Other recordings are averaged over all chosen steps, so an op that ran in 2 of 16 steps has an
  eighth of the time that it takes when it runs, and the sum over all ops is the op time of a step.
  With several recordings, these are the steps of the recordings in which the op ran: what all
  hosts do is averaged over the hosts, and what only one host does is not divided by the others.
"""

from __future__ import annotations

import numpy as np

from tfprof import sums
from tfprof.columns import Ints, distinct, ints
from tfprof.model.profile import ProfileColumns

_ONE = ints([1])


def over_steps_seen(profile: ProfileColumns, column: Ints, steps: Ints | None) -> Ints:
    """The average over the steps in which each op was seen; all steps if `steps` is None."""
    op, column = _of_steps(profile, column, steps)
    result = np.zeros(len(profile.ops), np.int64)
    if bool(np.all(op[1:] > op[:-1])):  # one record per op: nothing to average
        result[op] = column
        return result
    np.add.at(result, op, column)
    count = np.maximum(np.bincount(op, minlength=len(profile.ops)), 1)
    # The original divides unsigned 64-bit integers, so a negative sum (of residual bytes) becomes
    # huge; recorded answers require the same.
    return (result.view(np.uint64) // count.astype(np.uint64)).view(np.int64)


def totals(profile: ProfileColumns, column: Ints, steps: Ints | None) -> Ints:
    """The sum of `column` over the records of each op; all steps if `steps` is None."""
    op, column = _of_steps(profile, column, steps)
    result = np.zeros(len(profile.ops), np.int64)
    np.add.at(result, op, column)
    return result


def step_counts(profile: ProfileColumns, steps: Ints) -> Ints:
    """How many of `steps` each op is averaged over: those of the recordings in which it ran."""
    width = max(len(profile.recordings), 1)
    chosen = np.bincount(profile.steps.recording[steps], minlength=width)
    records = profile.records
    op, recording = np.divmod(
        distinct(records.op * width + profile.steps.recording[records.step]), width
    )
    counts = np.zeros(len(profile.ops), np.int64)
    np.add.at(counts, op, chosen[recording])
    return np.maximum(counts, 1)


def quotients(totals: Ints, counts: Ints, factor: Ints = _ONE) -> Ints:
    """`totals * factor / counts`, rounded to the nearest whole number."""
    # The product of a large factor and all runs may not fit into 64 bits.
    if sums.magnitude(totals) * sums.magnitude(factor) + sums.magnitude(counts) > sums.LARGEST:
        return sums.exact(_rounded_quotients, totals, counts, factor)
    return _rounded_quotients(totals, counts, factor)


def _rounded_quotients(totals: Ints, counts: Ints, factor: Ints) -> Ints:
    return (totals * factor + counts // 2) // counts


def carried_quotients(totals: Ints, counts: Ints, order: Ints) -> Ints:
    """`totals / counts` in whole numbers, the rounding error of each row carried to the next."""
    whole, rest = np.divmod(totals[order], counts[order])
    until = np.floor(np.cumsum(rest / counts[order]) + 0.5).astype(np.int64)
    result = np.empty(len(totals), np.int64)
    result[order] = whole + np.diff(until, prepend=0)
    return result


def _of_steps(profile: ProfileColumns, column: Ints, steps: Ints | None) -> tuple[Ints, Ints]:
    """The ops of the records of these steps, and their part of `column`."""
    op = profile.records.op
    if steps is None:
        return op, column
    is_chosen = np.zeros(len(profile.steps), np.bool_)
    is_chosen[steps] = True
    rows = np.flatnonzero(is_chosen[profile.records.step])
    return op[rows], column[rows]
