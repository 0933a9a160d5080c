"""Selects ops by their kinds, adds up runs by kind, and ranks names independently of file order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tfprof.advisor.finding import MOST_ROWS
from tfprof.columns import Bools, Ints, Strings
from tfprof.measures.steps import Step, on_lanes
from tfprof.model.profile import ProfileColumns


def of_kinds(profile: ProfileColumns, prefixes: Iterable[str]) -> Bools:
    """For each op, whether its kind starts with one of `prefixes`."""
    kinds = profile.ops.kind
    flags = np.zeros(len(kinds.values), np.bool_)
    for prefix in prefixes:
        flags |= kinds.values.starts_with(prefix)
    return flags[kinds.codes]


class KindSum(NamedTuple):
    """The runs of a kind."""

    kind: str
    runs: int
    nanos: int


def by_kind(
    profile: ProfileColumns, step: Step, flags: Bools, *, by_time: bool = False
) -> list[KindSum]:
    """The kinds with most of the flagged runs of a step, or with most of their time."""
    kinds = profile.ops.kind
    runs, nanos = np.zeros((2, len(kinds.values)), np.int64)
    np.add.at(runs, kinds.codes, run_counts(profile, step, flags))
    np.add.at(nanos, kinds.codes[step.op[flags]], (step.end - step.start)[flags])
    order = np.lexsort((ranks(kinds.values), -(nanos if by_time else runs)))[:MOST_ROWS]
    return [
        KindSum(kinds.values[one], int(runs[one]), int(nanos[one]))
        for one in order[runs[order] > 0].tolist()
    ]


def run_counts(profile: ProfileColumns, step: Step, flags: Bools) -> Ints:
    """How many runs of each op are flagged.

    A run that calls other ops may consist of several parts, before, between and after them.
    """
    parts = np.bincount(step.op[flags], minlength=len(profile.ops))
    records = profile.records
    here = np.flatnonzero(records.step == step.row)
    runs = np.zeros(len(profile.ops), np.int64)
    np.add.at(runs, records.op[here], records.runs[here])
    on_lane = np.bincount(step.op[flags & on_lanes(profile, step)], minlength=len(profile.ops))
    return np.where(on_lane > 0, parts, np.minimum(parts, runs))


def ranks(texts: Strings) -> Ints:
    """The rank of each text in sorted order; codes depend on first use, which saving changes."""
    found = np.empty(len(texts), np.int64)
    found[texts.order()] = np.arange(len(texts))
    return found
