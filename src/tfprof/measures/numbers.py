"""Every number of every op, averaged over the chosen steps of the chosen recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.errors import OptionError
from tfprof.measures import time
from tfprof.memo import OnDemand, remembered, remembering
from tfprof.metrics import NUMBERS
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import UNKNOWN_RANK, Chosen
from tfprof.patterns import Patterns

_LARGE = 2.0**53

EVERYTHING = Chosen()

# Where the memory of a run is found.
_MEMORY: dict[str, Callable[[ProfileColumns], Ints]] = {
    "bytes": lambda profile: profile.memory.requested,
    "peak_bytes": lambda profile: profile.memory.peak,
    "residual_bytes": lambda profile: profile.memory.residual,
    "output_bytes": lambda profile: profile.memory.output,
}

# The times of a record: those of its runs on the accelerator, on its own device, or on both.
_TIMES: dict[str, Callable[[ProfileColumns], Ints]] = {
    "nanos": lambda profile: time.accelerator_nanos(profile) + time.cpu_nanos(profile),
    "accelerator_nanos": time.accelerator_nanos,
    "cpu_nanos": time.cpu_nanos,
    "micros": lambda profile: time.accelerator_micros(profile) + time.cpu_micros(profile),
    "accelerator_micros": time.accelerator_micros,
    "cpu_micros": time.cpu_micros,
}

# The exact times that whole microseconds are rounded from; parts are rounded, so they add up.
_ROUNDED: dict[str, tuple[str, ...]] = {
    "micros": ("accelerator_nanos", "cpu_nanos"),
    "accelerator_micros": ("accelerator_nanos",),
    "cpu_micros": ("cpu_nanos",),
}

# What each measured number is summed from.
_MEASURED: dict[str, Callable[[ProfileColumns], Ints]] = {
    **_MEMORY,
    **dict.fromkeys(_TIMES, lambda profile: profile.executions.duration_ns),
    "runs": lambda profile: profile.records.runs,
}

if TYPE_CHECKING:
    from tfprof.measures.flops import FloatOps

Numbers: TypeAlias = Mapping[str, Ints]  # a column for each name in `metrics.NUMBERS`


@remembering(2)  # each may hold a dozen columns
def per_op(profile: ProfileColumns, chosen: Chosen) -> Numbers:
    """The numbers of each op, averaged over those of the chosen steps in which it was seen.

    Each number is rounded down on its own, so a total may differ by one from the sum of its parts.
    Times also come in nanoseconds; `measures.time` describes how microseconds are made of them.
    """
    require_steps(profile, chosen, "averages over all steps")
    return OnDemand(NUMBERS, lambda key: ints(_column(profile, chosen, key)))


def require_steps(profile: ProfileColumns, chosen: Chosen, otherwise: str) -> None:
    """Refuse a step, recording or rank that does not exist; `otherwise` says what step -1 does."""
    steps, recordings = profile.steps, profile.recordings
    if chosen.step >= 0 and chosen.step not in steps.number:
        known = ", ".join(map(str, steps.numbers())) or "none"
        raise OptionError(f"No step {chosen.step}. Recorded: {known}; -1 {otherwise}.")
    for rank in chosen.rank:
        if rank not in recordings.rank:
            ranks = sorted(set(recordings.rank[recordings.rank != UNKNOWN_RANK].tolist()))
            known = ", ".join(map(str, ranks)) or "none is known"
            raise OptionError(f"No rank {rank}. Ranks: {known}.")
    if chosen.recording != EVERYTHING.recording and not len(chosen_recordings(profile, chosen)):
        labels = ", ".join(recordings.label) or "none"
        wanted = ",".join(chosen.recording)
        raise OptionError(f"No recording matches `{wanted}`. Recordings: {labels}.")
    if not chosen.is_everything and not len(chosen_steps(profile, chosen)):
        raise OptionError(f"Step {chosen.step} was not recorded by the chosen recordings.")


def chosen_recordings(profile: ProfileColumns, chosen: Chosen) -> Ints:
    """The rows of the chosen recordings."""
    recordings = profile.recordings
    flags = Patterns(chosen.recording).match_column(recordings.label)
    if chosen.rank:
        flags &= np.isin(recordings.rank, chosen.rank)
    return np.flatnonzero(flags)


def chosen_steps(profile: ProfileColumns, chosen: Chosen) -> Ints:
    """The rows of the chosen steps."""
    flags = np.isin(profile.steps.recording, chosen_recordings(profile, chosen))
    if chosen.step >= 0:
        flags &= profile.steps.number == chosen.step
    return np.flatnonzero(flags)


def _column(profile: ProfileColumns, chosen: Chosen, key: str) -> Ints:
    if key == "params":
        return profile.ops.shape.sizes()
    if key == "definitions":
        return np.ones(len(profile.ops), np.int64)
    if key == "float_ops":
        once = float_ops_per_run(profile).per_run
        was_seen = np.zeros(len(profile.ops), np.bool_)
        was_seen[profile.records.op] = True
        # How often an op runs that was never seen is unknown: it counts as one run.
        return np.where(was_seen, once * per_op(profile, chosen)["runs"], once)
    if key in _ROUNDED and not profile.counts_whole_micros:
        exact = per_op(profile, chosen)
        parts = [time.carried_micros(profile, exact[part]) for part in _ROUNDED[key]]
        return ints(np.sum(parts, axis=0))
    return _over_steps(profile, _of_records(profile, key), chosen)


@remembering(len(NUMBERS))  # each is a single flag
def may_be_negative(profile: ProfileColumns, key: str) -> bool:
    """Whether a sum of this number over some ops could be below zero; True if in doubt."""
    if key == "float_ops":
        # Counted float ops are never negative.
        runs = int(profile.records.runs.max(initial=1))
        return _is_odd(profile.ops.logged_float_ops, runs) or _is_odd(profile.records.runs)
    if key == "params":
        return _is_odd(per_op(profile, EVERYTHING)[key])
    return _is_odd(_MEASURED[key](profile))


def _is_odd(column: Ints, factor: int = 1) -> bool:
    """Whether numbers are negative, or so large that 64 bits may be too few for their sum."""
    if not len(column):
        return False
    return int(column.min()) < 0 or float(column.sum(dtype=np.float64)) * factor > _LARGE


@remembered
def float_ops_per_run(profile: ProfileColumns) -> FloatOps:
    """The float ops of one run of each op, and which ops they are not known of."""
    from tfprof.measures import flops  # noqa: PLC0415 -- many rules, for those who ask for it

    return flops.count(profile)


def _of_records(profile: ProfileColumns, key: str) -> Ints:
    """For each record, one of the numbers that were measured."""
    if key in _MEMORY:
        return _sums(profile, _MEASURED[key](profile))
    if key == "runs":
        return profile.records.runs
    return _TIMES[key](profile)


def _sums(profile: ProfileColumns, column: Ints) -> Ints:
    """For each record, the sum of `column` over its rows of memory."""
    record = profile.memory.record
    total = np.zeros(len(profile.records), np.int64)
    if _is_used_once(profile):
        total[record] = column
    else:
        np.add.at(total, record, column)
    return total


@remembered
def _is_used_once(profile: ProfileColumns) -> bool:
    """Whether no record has a second row of memory, so that there is nothing to add up."""
    return bool(np.all(np.diff(profile.memory.record) > 0))


def _over_steps(profile: ProfileColumns, column: Ints, chosen: Chosen) -> Ints:
    """A column of records as one of ops: the average over an op's records in the chosen steps."""
    op = profile.records.op
    if not chosen.is_everything:
        is_chosen = np.zeros(len(profile.steps), np.bool_)
        is_chosen[chosen_steps(profile, chosen)] = True
        rows = np.flatnonzero(is_chosen[profile.records.step])
        op, column = op[rows], column[rows]
    result = np.zeros(len(profile.ops), np.int64)
    if bool(np.all(op[1:] > op[:-1])):  # no op has a second record, so there is no average
        result[op] = column
        return result
    np.add.at(result, op, column)
    count = np.maximum(np.bincount(op, minlength=len(profile.ops)), 1)
    # The original divides 64-bit patterns without a sign, so a negative sum (of residual bytes)
    # comes out huge; recorded answers require the same.
    return (result.view(np.uint64) // count.astype(np.uint64)).view(np.int64)
