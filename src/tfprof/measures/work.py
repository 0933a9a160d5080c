"""How much each host has to do in each step, whatever time that takes.

In a data-parallel job all hosts should have the same work. A host with more of it makes the others
wait even if it is as fast as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.columns import Floats
from tfprof.measures.collectives import is_collective
from tfprof.measures.host_steps import HostSteps
from tfprof.measures.numbers import float_ops_per_run
from tfprof.measures.run_sums import run_sums
from tfprof.measures.stragglers import LEAST_HOSTS, LEAST_STEPS, Straggler, find
from tfprof.model.profile import ProfileColumns

FLOAT_OPS = "float operations"

# A smaller difference between two hosts is not worth a remark.
_LEAST_MORE = 0.05


def host_work(profile: ProfileColumns, hosts: HostSteps) -> dict[str, Floats]:
    """The work of each host (a row) in each step (a column), by its name; NaN if unknown.

    Collectives are left out, because waiting for other hosts is part of their time. Work that no
    host has is left out too.
    """
    runs = run_sums(profile)
    per_run = float_ops_per_run(profile).per_run.astype(np.float64)
    is_own = (~is_collective(profile)).astype(np.float64)
    found = {
        FLOAT_OPS: runs.by_step("runs", per_run),
        "accelerator time": runs.by_step("accelerator_nanos", is_own),
    }
    return {
        name: np.where(hosts.step >= 0, np.append(column, np.nan)[hosts.step], np.nan)
        for name, column in found.items()
        if column.any()
    }


def with_more(work: Floats) -> list[Straggler]:
    """The hosts with clearly more of a kind of work than the others, most of it first.

    Of two hosts neither is the usual one, but work can be compared, because it is counted and not
    measured: the one that has more in each step is found.
    """
    if len(work) >= LEAST_HOSTS:
        return find(work)
    shared = np.flatnonzero(~np.isnan(work).any(axis=0))
    if len(work) < 2 or len(shared) < LEAST_STEPS:
        return []
    host, steps = int(work[:, shared].sum(axis=1).argmax()), tuple(shared.tolist())
    more = excess(work, host, steps)
    if not (more > _LEAST_MORE).all():
        return []
    return [Straggler(host, steps, since=0, is_some=False, excess=float(np.median(more)))]


def excess(work: Floats, host: int, steps: Sequence[int]) -> Floats:
    """How much more a host has in each of these steps than the median of the others; 0.3 is 30 %.

    0 in steps in which the others have nothing to do or did not record.
    """
    others = np.delete(work, host, axis=0)[:, steps]
    found = np.zeros(len(steps))
    known = np.flatnonzero(np.nansum(others, axis=0) > 0)
    usual = np.nanmedian(others[:, known], axis=0)
    is_working = usual > 0
    known, usual = known[is_working], usual[is_working]
    found[known] = work[host, np.array(steps, np.int64)[known]] / usual - 1
    return found
