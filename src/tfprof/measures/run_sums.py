"""Sums over the runs of each op, whether the runs are in memory or in a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfprof import sums
from tfprof.columns import Bools, Floats, Ints, ints
from tfprof.errors import TfprofError
from tfprof.measures import averages, time
from tfprof.memo import remembered
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.profile import ProfileColumns
from tfprof.model.stored_runs import RunSums

_LARGE = 2.0**53

# The column of each memory number.
_MEMORY: dict[str, Callable[[ProfileColumns], Ints]] = {
    "bytes": lambda profile: profile.memory.requested,
    "peak_bytes": lambda profile: profile.memory.peak,
    "residual_bytes": lambda profile: profile.memory.residual,
    "output_bytes": lambda profile: profile.memory.output,
}

# The time of each record: on accelerators, on the op's own device, or both added up; transfers.
_TIMES: dict[str, Callable[[ProfileColumns], Ints]] = {
    "nanos": lambda profile: time.accelerator_nanos(profile) + time.cpu_nanos(profile),
    "accelerator_nanos": time.accelerator_nanos,
    "cpu_nanos": time.cpu_nanos,
    "transfer_nanos": time.transfer_nanos,
    "micros": lambda profile: time.accelerator_micros(profile) + time.cpu_micros(profile),
    "accelerator_micros": time.accelerator_micros,
    "cpu_micros": time.cpu_micros,
}

# The numbers that are times in nanoseconds, and in microseconds.
NANOS = frozenset(name for name in _TIMES if name.endswith("nanos"))
_MICROS = _TIMES.keys() - NANOS
TIMES = frozenset(_TIMES)

# The measured numbers.
MEASURED = frozenset({*_MEMORY, *_TIMES, "runs"})
# The parts of numbers that are sums of others.
PARTS = {
    "nanos": ("accelerator_nanos", "cpu_nanos"),
    "micros": ("accelerator_micros", "cpu_micros"),
}
# The numbers that a store keeps of each record.
KEPT = ("runs", *(name for name in (*_TIMES, *_MEMORY) if name not in PARTS))


def run_sums(profile: ProfileColumns) -> RunSums:
    """The sums over the runs of a profile."""
    return profile.stored_runs if profile.stored_runs is not None else LoadedRuns(profile)


@dataclass(frozen=True, slots=True)
class LoadedRuns:
    """Sums over runs in memory; `RunSums` describes the methods."""

    profile: ProfileColumns

    def totals(self, number: str, steps: Ints | None) -> Ints:
        return averages.totals(self.profile, of_records(self.profile, number), steps)

    def seen(self, steps: Ints | None) -> Ints:
        return averages.totals(self.profile, np.ones(len(self.profile.records), np.int64), steps)

    def step_counts(self, steps: Ints) -> Ints:
        return averages.step_counts(self.profile, steps)

    def averages_seen(self, number: str, steps: Ints | None) -> Ints:
        return averages.over_steps_seen(self.profile, of_records(self.profile, number), steps)

    def by_step(self, number: str, weight: Floats) -> Floats:
        records = self.profile.records
        result = np.zeros(len(self.profile.steps))
        column = of_records(self.profile, number)
        np.add.at(result, records.step, weight[records.op] * column)
        return result

    def most_runs(self) -> int:
        return int(self.profile.records.runs.max(initial=1))

    def is_doubtful(self, number: str, factor: int = 1) -> bool:
        return is_unsafe(_of_runs(self.profile, number)[0], factor)

    def require_summable(self, number: str) -> None:
        _require_summable(self.profile, number)


def of_records(profile: ProfileColumns, number: str) -> Ints:
    """A measured number of each record."""
    if number in _MEMORY:
        return _sums(profile, _MEMORY[number](profile))
    if number == "runs":
        return profile.records.runs
    return _TIMES[number](profile)


def sums_per_step(profile: ProfileColumns, number: str, ops: Bools, steps: Ints) -> Ints:
    """The sum of a measured number over the flagged ops, in each of `steps`."""
    if profile.stored_runs is not None:
        runs = profile.stored_runs
        return ints([int(runs.totals(number, ints([step]))[ops].sum()) for step in steps.tolist()])
    records = profile.records
    rows = ops[records.op]
    found = np.zeros(len(profile.steps), np.int64)
    np.add.at(found, records.step[rows], of_records(profile, number)[rows])
    return found[steps]


def is_unsafe(column: Ints, factor: int = 1) -> bool:
    """Whether any number is negative, or their sum could overflow 64 bits."""
    if not len(column):
        return False
    return int(column.min()) < 0 or float(column.sum(dtype=np.float64)) * factor > _LARGE


def require_fits(profile: ProfileColumns, key: str, column: Ints, op: Ints | None = None) -> None:
    """Raise an error if a sum over `column` may exceed 64 bits; `op` is the op of each row."""
    if not sums.fits(column):
        row = int(np.abs(column.astype(np.float64)).argmax())
        number = f"{int(column[row]) // (NANOS_PER_MICRO if key in NANOS else 1):,}"
        raise too_large(profile, key, row if op is None else int(op[row]), number)


def too_large(profile: ProfileColumns, key: str, row: int, number: str) -> TfprofError:
    """The error for a number of an op that does not fit into 64 bits."""
    name, metric = profile.ops.name[row], key.replace("nanos", "micros")
    return TfprofError(
        f"`{metric}` of all ops exceeds 64 bits: op `{name}` alone has {number}. The file that "
        "defines the op is damaged, or states sizes that no computer can hold."
    )


@remembered
def _require_summable(profile: ProfileColumns, number: str) -> None:
    column, record = _of_runs(profile, number)
    if number in _MICROS and profile.counts_whole_micros:
        column = time.run_micros(profile)
    require_fits(profile, number, column, profile.records.op[record])


def _of_runs(profile: ProfileColumns, number: str) -> tuple[Ints, Ints]:
    """The column of single runs from which a number is summed, and the record of each row."""
    if number in _MEMORY:
        return _MEMORY[number](profile), profile.memory.record
    if number == "runs":
        return profile.records.runs, np.arange(len(profile.records))
    if number == "transfer_nanos":
        known = profile.copies.record >= 0
        return profile.copies.duration_ns[known], profile.copies.record[known]
    return profile.executions.duration_ns, profile.executions.record


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
    """Whether each record has at most one row of memory, so that there is nothing to add up."""
    return bool(np.all(np.diff(profile.memory.record) > 0))
