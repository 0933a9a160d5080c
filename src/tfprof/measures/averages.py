"""Averages over steps: a column per op from a column per record, by one of two rules.

- The original averages each number of an op over the steps in which the op was seen. Its recorded
  answers require the same, so this is the rule for TensorFlow's RunMetadata.
- Other recordings are averaged over all chosen steps, so an op that ran in 2 of 16 steps has an
  eighth of the time that it takes when it runs, and the sum over all ops is the op time of a step.
  With several recordings, these are the steps of the recordings in which the op ran: what all
  hosts do is averaged over the hosts, and what only one host does is not divided by the others.
  The ops of PyTorch depend on the shapes of their inputs, which are not the same on all ranks, so
  there it matters on which ranks any op of the same module ran. And a process of PyTorch may
  write a trace for every few steps: these count as one recording.

Sums of averages are exact, because averages are integers: parts of a run, a byte or a float op, so
many to one that no average needs to be rounded. Only a sum that is shown is, once. Nanoseconds are
rounded op by op, and the error of each is carried over to the next in scope order.
"""

from __future__ import annotations

from math import lcm
from typing import NamedTuple

import numpy as np

from tfprof import sums
from tfprof.columns import Coded, Floats, Ints, distinct, ints
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import UNKNOWN_RANK

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
    """How many of `steps` each op is averaged over: those of the processes in which it ran.

    Instead of an op, that is a whole group of `averaged_together`.
    """
    width = max(len(profile.recordings), 1)
    process_of = processes(profile)[profile.steps.recording]
    chosen = np.bincount(process_of[steps], minlength=width)
    records, group_of = profile.records, averaged_together(profile)
    group, process = np.divmod(
        distinct(group_of[records.op] * width + process_of[records.step]), width
    )
    counts = np.zeros(len(profile.ops), np.int64)
    np.add.at(counts, group, chosen[process])
    return ints(np.maximum(counts, 1)[group_of])


@remembered
def processes(profile: ProfileColumns) -> Ints:
    """For each recording, the first of the same process.

    Those of a rank of PyTorch are of one process. If ranks are unknown, recordings are of one
    process if no two of them have a step in common: the ranks of a program record the same steps.
    """
    recordings, steps = profile.recordings, profile.steps
    rows = np.flatnonzero([name == "pytorch" for name in recordings.framework])
    _, first, place = np.unique(recordings.rank[rows], return_index=True, return_inverse=True)
    process = np.arange(len(recordings))
    process[rows] = rows[first][place]
    unknown = rows[recordings.rank[rows] == UNKNOWN_RANK]
    numbers = steps.number[np.isin(steps.recording, unknown)]
    if len(distinct(numbers)) < len(numbers):
        process[unknown] = unknown
    return ints(process)


@remembered
def averaged_together(profile: ProfileColumns) -> Ints:
    """For each op the first op of its group: itself, or those in the same module or other scope.

    Only ops of traces, which have signatures, form groups.
    """
    ops = profile.ops
    rows = np.flatnonzero(ops.signature)
    group = np.arange(len(ops))
    outermost = rows.copy()
    while len(inner := np.flatnonzero(ops.part_of[outermost] >= 0)):
        outermost[inner] = ops.part_of[outermost[inner]]
    found, place = np.unique(outermost, return_inverse=True)
    scopes = Coded.of([name.rpartition("/")[0] for name in ops.name.take(found)]).codes[place]
    _, first, place = np.unique(scopes, return_index=True, return_inverse=True)
    group[rows] = rows[first][place]
    return group


class Parts(NamedTuple):
    """A number of each op, in parts; so many `per` one."""

    column: Ints
    per: int

    def shown(self, column: Ints) -> Ints:
        """Sums of parts, rounded to the nearest whole number."""
        return column if self.per == 1 else (column + self.per // 2) // self.per

    def exactly(self, column: Ints) -> Ints | Floats:
        """Sums of parts: integers if all are whole, else their quotients."""
        whole, rest = np.divmod(column, self.per)
        return column / self.per if rest.any() else whole


def in_parts(totals: Ints, counts: Ints, factor: Ints = _ONE) -> Parts:
    """`totals * factor / counts`, exactly; rounded row by row if their sum exceeds 64 bits."""
    per = lcm(*distinct(counts).tolist())
    size = float((np.abs(totals.astype(np.float64)) * np.abs(factor)).sum())
    if size * per < sums.LARGEST // 2:
        return Parts(totals * factor * (per // counts), per)
    return Parts(quotients(totals, counts, factor), 1)


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
