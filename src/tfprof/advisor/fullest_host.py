"""A host that uses more memory than the others: it is the first that runs out of memory.

Compares the highest level of one allocator on each host with the median host. How much memory the
device has is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.hosts import compared
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_bytes

SUMMARY = "A host with a higher memory peak than the others, which limits the batch size of all."

# Allocators round sizes up, and hosts may hold other things; a fifth more is more than that.
_UNEVEN = 1.2
_LEAST_BYTES = 100_000_000
_LEAST_HOSTS = 3


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report the fullest host if its peak is far above that of the median host."""
    if len(profile.recordings) < _LEAST_HOSTS:
        return
    peaks = {
        one.recording: one.peak_bytes
        for one in compared(profile).ranks
        if one.peak_bytes is not None
    }
    if len(peaks) < _LEAST_HOSTS:
        return
    order = sorted(peaks, key=lambda label: (-peaks[label], label))
    most, usual = peaks[order[0]], peaks[order[len(order) // 2]]
    if most >= _UNEVEN * usual and most - usual >= _LEAST_BYTES:
        yield Finding(
            f"{order[0]} has a memory peak of {format_bytes(most)}, the median host "
            f"{format_bytes(usual)}: it runs out of memory first.",
            Evidence.of(
                {"host": None, "memory peak": Unit.BYTES},
                [(label, peaks[label]) for label in order[:MOST_ROWS]],
            ),
            ops=(order[0],),
            gain=Gain(most - usual, most, Unit.BYTES, "of the fullest host"),
            command=("memory", "-recording", re.escape(order[0])),
        )
