"""Hosts that take longer than the others, so that the others wait for them in every step.

Compares the time that hosts take for their own work, without waiting for each other. Hosts that
are slow because they wait for input are reported by another checker.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.advisor.finding import MOST_ROWS, Finding
from tfprof.advisor.hosts import compared, finding
from tfprof.model.profile import ProfileColumns

SUMMARY = "Hosts that are clearly slower than the others, and where they lose time."


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report each slow host, the one that loses most first."""
    if len(profile.recordings) < 2:
        return
    found = compared(profile)
    for one in [host for host in found.slow if not host.waits_for_input][:MOST_ROWS]:
        scopes = [loss.scope for loss in one.losses if loss.scope]
        where = f"mostly in {' and '.join(scopes)}" if scopes else "in no particular scope"
        yield finding(found, one, f"{where}: look for other load, throttling or a slow device.")
