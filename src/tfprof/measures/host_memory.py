"""The highest memory use of each host."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.measures.memory import allocator_traces
from tfprof.model.profile import ProfileColumns

UNKNOWN_BYTES = -1


def peak_bytes(profile: ProfileColumns, steps: Ints) -> Ints:
    """For each recording, the highest level of one allocator in these steps, or `UNKNOWN_BYTES`.

    The level is the allocator's own count if that was recorded, which includes memory that was
    allocated before the step.
    """
    found = np.full(len(profile.recordings), UNKNOWN_BYTES)
    wanted = {*steps.tolist()}
    for trace in allocator_traces(profile):
        if trace.step in wanted:
            recording = profile.steps.recording[trace.step]
            found[recording] = max(found[recording], trace.reported_bytes or trace.peak_bytes)
    return ints(found)
