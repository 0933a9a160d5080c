"""Ops in which several hosts or ranks take part, such as adding up gradients."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Strings, ints
from tfprof.memo import remembered
from tfprof.model.ops import COLLECTIVE_WORK, Phase
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
    """The runs of collectives in which hosts meet: kernels, or else what the hosts themselves do.

    A call that only starts a collective, and what it consists of, begins and ends elsewhere.
    """
    if profile.stored_runs is not None:
        return profile.stored_runs.collectives
    runs, records = profile.executions, profile.records
    rows = np.flatnonzero(is_collective_run(profile))
    device, op = runs.device[rows], records.op[runs.record[rows]]
    kind = profile.ops.kind
    is_work = np.array([name.startswith(COLLECTIVE_WORK) for name in kind.values], np.bool_)[
        kind.codes
    ][op]
    rank = np.where(profile.devices.is_accelerator_lane[device], 2, is_work.astype(np.int64))
    recording, best = profile.devices.recording[device], np.zeros(len(profile.recordings), np.int64)
    np.maximum.at(best, recording, rank)
    kept = rank == best[recording]
    rows, op = rows[kept], op[kept]
    step, start = records.step[runs.record[rows]], runs.start_ns[rows]
    messages = profile.messages
    message = _same((step, op, start), (messages.step, messages.op, messages.start_ns))
    kind, group = (
        Coded(np.append(column.codes, len(column.values))[message], Strings([*column.values, ""]))
        for column in (messages.kind, messages.group)
    )
    order = np.lexsort((start, group.codes, op, step))
    message, step, op, start = (column[order] for column in (message, step, op, start))
    group = group.take(order)
    return Collectives(
        step=ints(step),
        op=ints(op),
        order=_counted(step, op, group.codes),
        start_ns=ints(start),
        end_ns=ints(start + np.maximum(runs.duration_ns[rows][order], 0)),
        kind=kind.take(order),
        group=group,
        ranks=ints(np.append(messages.ranks, 0)[message]),
        bytes=ints(np.append(messages.bytes, 0)[message]),
    )


def _same(keys: tuple[Ints, ...], of: tuple[Ints, ...]) -> Ints:
    """For each row of `keys` the first row of the other table with the same, or -1."""
    both = [np.concatenate((other, mine)) for other, mine in zip(of, keys, strict=True)]
    count = len(of[0])
    order = np.lexsort((np.arange(len(both[0])), *both[::-1]))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = np.any([np.diff(column[order]) != 0 for column in both], axis=0)
    first = order[np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))]
    found = np.empty(len(order), np.int64)
    found[order] = np.where(first < count, first, -1)
    return ints(found[count:])


def _counted(*keys: Ints) -> Ints:
    """The number of each row among those with the same keys, by which the rows are sorted."""
    is_first = np.ones(len(keys[0]), np.bool_)
    is_first[1:] = np.any([np.diff(column) != 0 for column in keys], axis=0)
    rows = np.arange(len(keys[0]))
    return ints(rows - np.maximum.accumulate(np.where(is_first, rows, 0)))
