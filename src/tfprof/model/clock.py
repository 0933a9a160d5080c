"""The model's unit of time: nanoseconds in 64 bits, of which any two can be subtracted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints

NANOS_PER_MICRO = 1000

# The start time of a run if it was not recorded.
NO_TIME = -1

# The first and last start of a run: the years 1933 and 2116.
_EARLIEST_NS, LATEST_NS = -(2**60), 2**62
# The longest run: 73 years.
LONGEST_NS = 2**61


class Limits(NamedTuple):
    """The smallest and the largest value of a column."""

    first: int
    last: int

    def holds(self, column: Ints) -> bool:
        """Whether all values are within the limits."""
        return not len(column) or (self.first <= column.min() and column.max() <= self.last)


# By the ends of their names, the limits of columns. A start can be subtracted from any end.
_LIMITS = {
    "duration_ns": Limits(-LONGEST_NS, LONGEST_NS),
    "end_ns": Limits(_EARLIEST_NS - LONGEST_NS, LATEST_NS + LONGEST_NS),
    "_ns": Limits(_EARLIEST_NS, LATEST_NS),
}


def limits_of(name: str) -> Limits | None:
    """The limits of a column of times, by its name; None for other columns."""
    return next((limits for end, limits in _LIMITS.items() if name.endswith(end)), None)


def nanos_of_micros(micros: Ints, limits: Limits = _LIMITS["_ns"]) -> Ints:
    """Times in microseconds as nanoseconds; impossible ones are clipped.

    They stay impossible, a microsecond past the limit, so that they are noted.
    """
    clipped = Limits(limits.first // NANOS_PER_MICRO - 1, limits.last // NANOS_PER_MICRO + 1)
    if not clipped.holds(micros):
        micros = np.clip(micros, *clipped)
    return micros * NANOS_PER_MICRO


def durations_of_micros(micros: Ints) -> Ints:
    """Durations in microseconds as nanoseconds; impossible ones are clipped likewise."""
    return nanos_of_micros(micros, _LIMITS["duration_ns"])


def starts_of_micros(micros: Ints) -> Ints:
    """Start times in microseconds as nanoseconds; 0 means that no start was recorded."""
    return np.where(micros == 0, NO_TIME, nanos_of_micros(micros))


def micros_of_nanos(nanos: Ints) -> Ints:
    """Nanoseconds as microseconds, rounded down."""
    return nanos // NANOS_PER_MICRO
