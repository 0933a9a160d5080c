"""Measures the memory that a call takes at its peak.

`allocated` counts what Python and numpy allocate in this process, to the byte: for small limits.
`resident` counts the pages of a process of its own, including what compiled code allocates.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from own_process import function_of, name_of, result_in_own_process

_STATUS = Path("/proc/self/status")

needs_resident = pytest.mark.skipif(
    not _STATUS.exists() or "VmHWM" not in _STATUS.read_text(),
    reason="the system does not measure this",
)


def allocated(run: Callable[[], object]) -> int:
    """How many bytes more Python had allocated at the peak of a call than before it.

    The call is made twice: what the first one loads for good, such as modules, does not count.
    """
    run()
    gc.collect()
    tracemalloc.start()
    try:
        run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak


def resident(
    question: Callable[..., object], paths: Sequence[Path], *, before: Sequence[Path]
) -> int:
    """How many bytes more a new process has at the peak of a question about files.

    More than for the same question about the small files `before`, which it asks first.
    """
    names = [[str(path) for path in group] for group in (before, paths)]
    return result_in_own_process(_growth, name_of(question), *names)


def _growth(question: str, before: Sequence[str], paths: Sequence[str]) -> int:
    ask = function_of(question)
    ask(*before)
    peak = _peak_bytes()
    ask(*paths)
    return _peak_bytes() - peak


def _peak_bytes() -> int:
    # Not `getrusage`, whose peak starts with that of the process which started this one.
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10
