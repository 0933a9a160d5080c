"""Ops in which several hosts or ranks take part, such as adding up gradients."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints, ints
from tfprof.memo import remembered
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import Collectives

# The starts of the kinds of collectives, and the kinds among them that only prepare one.
_STARTS = ("Collective", "Nccl", "_Nccl")
_OTHERS = frozenset({"CollectiveAssignGroupV2", "CollectiveInitializeCommunicator"})


@remembered
def is_collective(profile: ProfileColumns) -> Bools:
    """For each op, whether it is a collective, by its kind or as its source states."""
    kind = profile.ops.kind
    flags = [name.startswith(_STARTS) and name not in _OTHERS for name in kind.values]
    found: Bools = np.array(flags, np.bool_)[kind.codes]
    is_stated: Bools = profile.phase == Phase.COMMUNICATION
    return found | is_stated


@remembered
def is_collective_run(profile: ProfileColumns) -> Bools:
    """For each execution, whether it is a collective at work.

    If the times of an accelerator were recorded, the run on the host only launched it.
    """
    runs, records = profile.executions, profile.records
    found = is_collective(profile)[records.op[runs.record]]
    if not found.any():
        return found
    on_lane = found & profile.devices.is_accelerator_lane[runs.device]
    has_lane = np.zeros(len(records), np.bool_)
    has_lane[runs.record[on_lane]] = True
    return found & (on_lane | ~has_lane[runs.record])


@remembered
def collectives(profile: ProfileColumns) -> Collectives:
    """The runs of collectives."""
    if profile.stored_runs is not None:
        return profile.stored_runs.collectives
    runs, records = profile.executions, profile.records
    rows = np.flatnonzero(is_collective_run(profile))
    step, op = (column[runs.record[rows]] for column in (records.step, records.op))
    start = runs.start_ns[rows]
    order = np.lexsort((start, op, step))
    step, op, start = step[order], op[order], start[order]
    end = start + np.maximum(runs.duration_ns[rows][order], 0)
    return Collectives(ints(step), ints(op), _counted(step, op), ints(start), ints(end))


def _counted(step: Ints, op: Ints) -> Ints:
    """The number of each row within its op and step; the rows are sorted by them."""
    is_first = np.ones(len(step), np.bool_)
    is_first[1:] = (step[1:] != step[:-1]) | (op[1:] != op[:-1])
    rows = np.arange(len(step))
    return ints(rows - np.maximum.accumulate(np.where(is_first, rows, 0)))
