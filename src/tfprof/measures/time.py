"""How long ops ran, in nanoseconds and in whole microseconds.

The model stores nanoseconds. Classic tables show whole microseconds, by one of two rules:

- TensorFlow's RunMetadata counts whole microseconds per run, and a run within one microsecond
  counts as one. These numbers have been quoted for years, so they stay.
- Other recordings have runs far shorter than a microsecond, whose rounded times would not add up.
  There, times are averaged first and then rounded op by op in scope order. The rounding error of
  each op is carried over to the next, so the time of any scope is correct to a microsecond, and
  in nanoseconds to a nanosecond.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.memo import remembered
from tfprof.model.clock import NANOS_PER_MICRO, micros_of_nanos
from tfprof.model.profile import ProfileColumns


@remembered
def run_micros(profile: ProfileColumns) -> Ints:
    """The whole microseconds of each run as RunMetadata counts them: at least one."""
    runs = profile.executions
    return whole_micros(runs.start_ns, runs.duration_ns)


def whole_micros(start_ns: Ints, duration_ns: Ints) -> Ints:
    """How many microsecond boundaries each run crosses; 1 for a run within one microsecond."""
    micros = micros_of_nanos(start_ns + duration_ns) - micros_of_nanos(start_ns)
    micros[micros == 0] = 1
    return micros


@remembered
def accelerator_nanos(profile: ProfileColumns) -> Ints:
    """The time of each record's runs on accelerator lanes."""
    return _sums(profile, profile.executions.duration_ns, profile.devices.is_accelerator_lane)


@remembered
def cpu_nanos(profile: ProfileColumns) -> Ints:
    """The time of each record's runs on the op's own device."""
    return _sums(profile, profile.executions.duration_ns, ~profile.devices.is_accelerator_lane)


@remembered
def transfer_nanos(profile: ProfileColumns) -> Ints:
    """The time of the copies and fills that each record's op launched."""
    copies = profile.copies
    total = np.zeros(len(profile.records), np.int64)
    known = np.flatnonzero(copies.record >= 0)
    np.add.at(total, copies.record[known], copies.duration_ns[known])
    return total


@remembered
def accelerator_micros(profile: ProfileColumns) -> Ints:
    """The whole microseconds of each record on accelerator lanes, counted run by run."""
    return _sums(profile, run_micros(profile), profile.devices.is_accelerator_lane)


@remembered
def cpu_micros(profile: ProfileColumns) -> Ints:
    """The whole microseconds of each record on the op's own device, counted run by run."""
    return _sums(profile, run_micros(profile), ~profile.devices.is_accelerator_lane)


def _sums(profile: ProfileColumns, column: Ints, is_wanted: Bools) -> Ints:
    """For each record, the sum of `column` over its runs on the wanted devices."""
    runs = profile.executions
    total = np.zeros(len(profile.records), np.int64)
    if len(runs):
        chosen = is_wanted[runs.device]
        np.add.at(total, runs.record[chosen], column[chosen])
    return total


@remembered
def last_end_micros(profile: ProfileColumns) -> Ints:
    """When the last run of each record ended, in whole microseconds."""
    runs = profile.executions
    last = micros_of_nanos(profile.records.last_end_ns)
    np.maximum.at(last, runs.record, micros_of_nanos(runs.start_ns) + run_micros(profile))
    return last


def exported_micros(profile: ProfileColumns) -> Ints:
    """The whole microseconds of each run, for formats that cannot store nanoseconds.

    If the recorded times are exact, rounding errors are carried over to the next run, so that sums
    stay correct.
    """
    if profile.counts_whole_micros:
        return run_micros(profile)
    return carried(profile.executions.duration_ns)


def carried_micros(profile: ProfileColumns, nanos: Ints) -> Ints:
    """The nanoseconds of each op as whole microseconds, rounded so that sums stay correct."""
    order = scope_order(profile)
    micros = np.empty(len(order), np.int64)
    micros[order] = carried(nanos[order])
    return micros


def carried(nanos: Ints) -> Ints:
    """Nanoseconds in whole microseconds; each row's rounding error is carried over to the next."""
    until = (np.cumsum(nanos) + NANOS_PER_MICRO // 2) // NANOS_PER_MICRO
    return np.diff(until, prepend=0)


@remembered
def scope_order(profile: ProfileColumns) -> Ints:
    """The ops in the order in which rounding errors are carried: those of a scope in a row."""
    return profile.ops.name.order(slash_first=True)
