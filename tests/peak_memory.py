"""Measures the memory that a call takes at its peak.

`allocated` counts what Python and numpy allocate, to the byte, and is the choice for small limits.
`resident` counts the pages of the process, which includes what compiled code allocates; what the
process did before moves it by megabytes.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")

needs_resident = pytest.mark.skipif(not _RESET.exists(), reason="the system does not measure this")


def allocated(run: Callable[[], object]) -> int:
    """How many bytes more Python had allocated at the peak of a call than before it."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak


def resident(run: Callable[[], object]) -> int:
    """How many bytes more the process had at the peak of a call than before it."""
    gc.collect()
    _RESET.write_text("5")  # the peak is now what is in use
    before = _kilobytes("VmRSS")
    run()
    return (_kilobytes("VmHWM") - before) << 10


def _kilobytes(key: str) -> int:
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1])
