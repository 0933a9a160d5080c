"""Hosts that wait for input while others do not: all hosts wait for them in every step.

Compares the time of hosts without waiting for each other. A host that is clearly slower is reported
if most of what it loses is waiting for input, or fetching it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.advisor.finding import MOST_ROWS, Finding
from tfprof.advisor.hosts import compared, finding
from tfprof.model.profile import ProfileColumns

SUMMARY = "Hosts that wait for input longer than the others."


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report each host that is slow because it waits for input."""
    if len(profile.recordings) < 2:
        return
    found = compared(profile)
    for one in [host for host in found.slow if host.waits_for_input][:MOST_ROWS]:
        why = "waiting for input: divide the data evenly, and compare its storage and CPU."
        yield finding(found, one, why)
