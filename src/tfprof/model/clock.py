"""The model's unit of time: nanoseconds in 64 bits."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints

NANOS_PER_MICRO = 1000

# The start time of a run if it was not recorded.
NO_TIME = -1

# The sum of two times up to this one fits into 64 bits. It is a date in the year 2116.
_LATEST_NS = 2**62


def nanos_of_micros(micros: Ints) -> Ints:
    """Microseconds as nanoseconds; impossible values are clipped to ±146 years."""
    latest = _LATEST_NS // NANOS_PER_MICRO
    if len(micros) and (int(micros.max()) > latest or int(micros.min()) < -latest):
        micros = np.clip(micros, -latest, latest)
    return micros * NANOS_PER_MICRO


def starts_of_micros(micros: Ints) -> Ints:
    """Start times in microseconds as nanoseconds; 0 means that no start was recorded."""
    return np.where(micros == 0, NO_TIME, nanos_of_micros(micros))


def micros_of_nanos(nanos: Ints) -> Ints:
    """Nanoseconds as microseconds, rounded down."""
    return nanos // NANOS_PER_MICRO
