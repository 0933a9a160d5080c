"""How much each host has to do in each step, whatever time that takes.

In a data-parallel job all hosts should have the same work. A host with more of it makes the others
wait even if it is as fast as they are.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Floats
from tfprof.measures.collectives import is_collective
from tfprof.measures.host_steps import HostSteps
from tfprof.measures.numbers import float_ops_per_run
from tfprof.measures.run_sums import run_sums
from tfprof.model.profile import ProfileColumns

FLOAT_OPS = "float operations"


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
