"""Hosts that have more to do than the others, so that the others wait for them.

In a data-parallel job all hosts should compute the same. A host with more float operations has a
larger batch or longer sequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding
from tfprof.advisor.hosts import compared
from tfprof.model.profile import ProfileColumns

SUMMARY = "Hosts that have clearly more to compute than the others."


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report each host that has more work, the one with most of it first."""
    if len(profile.recordings) < 2:
        return
    for one in compared(profile).uneven[:MOST_ROWS]:
        parts = [f"{100 * excess:.0f}% more {name}" for name, excess in one.excess.items()]
        yield Finding(
            f"{one.recording} has more work than {one.than} {one.when}: {' and '.join(parts)}; "
            "give all ranks batches of the same size and sequences of similar length.",
            Evidence.of(
                {"work": None, "more": None},
                [(name, f"{100 * excess:+.1f}%") for name, excess in one.excess.items()],
            ),
            command=(
                *("scope", "-recording", re.escape(one.recording)),
                *("-select", "float_ops,micros", "-order_by", "float_ops"),
            ),
        )
