"""Copies between host and accelerator that block, because the memory of the host is not pinned.

Such a copy takes longer, and the host waits for it. Counts the calls in a typical recorded step;
copies from pinned memory overlap with computing.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.advisor.finding import Finding
from tfprof.advisor.host_waits import delays
from tfprof.advisor.steps import gain
from tfprof.measures.host_waits import is_blocking_copy
from tfprof.measures.steps import typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import counted, format_nanos

SUMMARY = "Copies that block, because the memory of the host is not pinned (PyTorch)."

# Copies of single numbers take a few microseconds each.
_LEAST_SHARE = 0.02


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if copies delay the step."""
    step = typical_step(profile)
    found = delays(profile, step, is_blocking_copy, _LEAST_SHARE)
    if found is None:
        return
    yield Finding(
        f"{counted(found.runs, 'copy', 'copies')} in {step.title} made the host wait, for "
        f"{format_nanos(found.nanos)}. Load data with `DataLoader(…, pin_memory=True)` and copy it "
        "with `.to(device, non_blocking=True)`.",
        found.evidence,
        ops=found.causes,
        gain=gain(profile, step, found.most_gained),
        command=(
            *("scope", "-show_name_regexes", ".*Memcpy.*", "-select", "micros"),
            *("-order_by", "micros", "-max_depth", "100", *step.option),
        ),
    )
