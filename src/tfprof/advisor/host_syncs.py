"""Ops that make the host wait for the accelerator, such as `.item()` and `nonzero`.

While the host waits it launches nothing, so the accelerator is idle afterwards. Counts the calls
that synchronise in a typical recorded step. Without them, the step could be shorter by the time
that the host waits, but not by more than the accelerator is idle.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.advisor.finding import Finding
from tfprof.advisor.host_waits import delays
from tfprof.advisor.steps import gain
from tfprof.measures.host_waits import is_synchronisation
from tfprof.measures.steps import typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import counted, format_nanos

SUMMARY = "Ops that make the host wait for the accelerator, such as `.item()` (PyTorch)."

# A step that ends with reading its loss waits once, which costs little.
_LEAST_SHARE = 0.05


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if waiting for the accelerator delays the step."""
    step = typical_step(profile)
    found = delays(profile, step, is_synchronisation, _LEAST_SHARE)
    if found is None:
        return
    yield Finding(
        f"The host waited for the accelerator {counted(found.runs, 'time', 'times')} in "
        f"{step.title}, for {format_nanos(found.nanos)}. Read values on the host (`.item()`, "
        "`.cpu()`, `print`, `nonzero`, `if tensor:`) less often, or after the step.",
        found.evidence,
        ops=found.causes,
        gain=gain(profile, step, found.most_gained),
        command=(
            *("scope", "-show_name_regexes", ".*Synchronize", "-select", "micros"),
            *("-order_by", "micros", "-max_depth", "100", *step.option),
        ),
    )
