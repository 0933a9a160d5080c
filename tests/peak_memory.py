"""Measures the memory that a call takes at its peak."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")

measured = pytest.mark.skipif(not _RESET.exists(), reason="the system does not measure this")


def peak_bytes(run: Callable[[], object]) -> int:
    """How much more memory the process had at the peak of a call than before it."""
    gc.collect()
    _RESET.write_text("5")  # the peak is now what is in use
    before = _kilobytes("VmRSS")
    run()
    return (_kilobytes("VmHWM") - before) << 10


def _kilobytes(key: str) -> int:
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1])
