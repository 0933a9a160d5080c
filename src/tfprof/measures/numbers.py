"""Every number of every op, for one step or averaged over the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.errors import OptionError
from tfprof.measures import time
from tfprof.memo import OnDemand, remembered
from tfprof.metrics import NUMBERS
from tfprof.model.profile import ProfileColumns

_LARGE = 2.0**53

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


@remembered
def per_op(profile: ProfileColumns, step: int) -> Numbers:
    """The numbers of each op in `step`, or with a negative `step` its average over steps.

    An op is averaged over the steps it was seen in; each number is cut to a whole one on its own,
    so a total may differ by one from the sum of its parts. Times also come in nanoseconds; how
    whole microseconds are made of them is described in `measures.time`.
    """
    require_step(profile, step, "averages over them")
    return OnDemand(NUMBERS, lambda key: ints(_column(profile, step, key)))


def require_step(profile: ProfileColumns, step: int, otherwise: str) -> None:
    """Refuse a step that was not recorded; `otherwise` says what -1 does."""
    if step >= 0 and step not in profile.steps:
        recorded_steps = ", ".join(map(str, profile.steps.tolist())) or "none"
        raise OptionError(f"No step {step}. Recorded: {recorded_steps}; -1 {otherwise}.")


def _column(profile: ProfileColumns, step: int, key: str) -> Ints:
    if key == "params":
        return profile.ops.shape.sizes()
    if key == "definitions":
        return np.ones(len(profile.ops), np.int64)
    if key == "float_ops":
        once = float_ops_per_run(profile).per_run
        was_seen = np.zeros(len(profile.ops), np.bool_)
        was_seen[profile.records.op] = True
        # Nobody can say how often an op that was never seen runs: it counts as once.
        return np.where(was_seen, once * per_op(profile, step)["runs"], once)
    if profile.has_exact_times and key in _ROUNDED:
        exact = per_op(profile, step)
        parts = [time.carried_micros(profile, exact[part]) for part in _ROUNDED[key]]
        return ints(np.sum(parts, axis=0))
    return _over_steps(profile, _of_records(profile, key), step)


@remembered
def may_be_negative(profile: ProfileColumns, key: str) -> bool:
    """Whether a sum of this number over some ops could be below zero, to be on the safe side."""
    if key == "float_ops":
        # Those that are counted never are.
        runs = int(profile.records.runs.max(initial=1))
        return _is_odd(profile.ops.logged_float_ops, runs) or _is_odd(profile.records.runs)
    if key == "params":
        return _is_odd(per_op(profile, -1)[key])
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


def _over_steps(profile: ProfileColumns, column: Ints, step: int) -> Ints:
    """A column of records as one of ops: of one step, or the average over an op's records."""
    records = profile.records
    result = np.zeros(len(profile.ops), np.int64)
    if step >= 0:
        chosen = records.step == step
        result[records.op[chosen]] = column[chosen]
        return result
    if _is_seen_once(profile):
        result[records.op] = column
        return result
    np.add.at(result, records.op, column)
    count = np.maximum(np.bincount(records.op, minlength=len(profile.ops)), 1)
    # The original divides 64-bit patterns without a sign, so a negative sum (of residual bytes)
    # comes out huge; the numbers are its numbers.
    return (result.view(np.uint64) // count.astype(np.uint64)).view(np.int64)


@remembered
def _is_seen_once(profile: ProfileColumns) -> bool:
    """Whether no op has a second record, so that there is nothing to average."""
    return bool(np.all(np.diff(profile.records.op) > 0))
