"""When the records of a memory snapshot were made: their order is certain, their times need not be.

PyTorch up to 2.1 writes no times, and later versions write whole microseconds, in which a program
can allocate and free several blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints
from tfprof.formats.memory_snapshot import Events
from tfprof.model.clock import NANOS_PER_MICRO


class RecordTimes(NamedTuple):
    """The time of each record, in ascending order for each device."""

    time_ns: Ints
    untimed: int  # records without a time of their own
    is_order: bool  # there are no usable times: each record counts as a microsecond


def record_times(events: Events) -> RecordTimes:
    """The times of records; those of the same time are as far apart as possible, up to 1 ns."""
    first = np.searchsorted(events.device, np.arange(int(events.device.max(initial=-1)) + 1))
    known = events.time_us[events.is_timed]
    untimed = int((~events.is_timed).sum())
    if len(events) > 1 and len(np.unique(known)) < 2:
        place = np.arange(len(events)) - first[events.device]
        return RecordTimes((place + 1) * NANOS_PER_MICRO, untimed, is_order=True)
    time_ns = np.where(events.is_timed, events.time_us * NANOS_PER_MICRO, -1)
    for rows in np.split(np.arange(len(events)), first[1:]):
        time_ns[rows] = _spread(_filled(time_ns[rows], int(known.min(initial=0))))
    return RecordTimes(time_ns, untimed, is_order=False)


def _filled(time_ns: Ints, otherwise: int) -> Ints:
    """Ascending times, in which missing ones are those before them, or else the first one."""
    found = np.maximum.accumulate(time_ns)
    is_known = time_ns >= 0
    start = time_ns[np.argmax(is_known)] if is_known.any() else otherwise * NANOS_PER_MICRO
    return np.where(found < 0, start, found)


def _spread(time_ns: Ints) -> Ints:
    """Ascending times, of which equal ones are divided over the time until the next one."""
    times, first, count = np.unique(time_ns, return_index=True, return_counts=True)
    gap = np.diff(times, append=np.iinfo(np.int64).max)
    rank = np.arange(len(time_ns)) - np.repeat(first, count)
    gap, count = np.repeat(gap, count), np.repeat(count, count)
    return time_ns + np.where(count <= gap, rank, rank * np.minimum(gap, count) // count)
