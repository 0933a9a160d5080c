"""How long ops ran: microseconds of each record."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns


@remembered
def accelerator_micros(profile: ProfileColumns) -> Ints:
    """For each record, the time its runs took on accelerator lanes."""
    return _micros(profile, profile.devices.is_accelerator_lane)


@remembered
def cpu_micros(profile: ProfileColumns) -> Ints:
    """For each record, the time its runs took on the op's own device."""
    return _micros(profile, ~profile.devices.is_accelerator_lane)


def _micros(profile: ProfileColumns, is_wanted: Bools) -> Ints:
    runs = profile.executions
    total = np.zeros(len(profile.records), np.int64)
    if len(runs):
        chosen = is_wanted[runs.device]
        np.add.at(total, runs.record[chosen], runs.duration[chosen])
    return total
