"""Notices threads whose ops PyTorch's profiler does not record.

Unless it is asked for all threads, it records the one that started it and those of the autograd
engine. Ops that can be differentiated are numbered per thread, so a thread whose number went up
has run some.
"""

from __future__ import annotations

import threading
from typing import Any

from tfprof.frameworks import torch


class UnrecordedThreads:
    """Counts threads that are started while it is active; `release` must be called at the end."""

    def __init__(self) -> None:
        self.count = 0
        # Not public; without it nothing is counted.
        self._number: Any = getattr(torch()._C._autograd, "_get_sequence_nr", None)  # noqa: SLF001
        self._start = threading.Thread.start
        self._lock = threading.Lock()
        if self._number is not None:
            threading.Thread.start = self._starting()  # type: ignore[method-assign]

    def release(self) -> None:
        """Stop counting."""
        if getattr(threading.Thread.start, "counts_for", None) is self:
            threading.Thread.start = self._start  # type: ignore[method-assign]

    def _starting(self) -> Any:
        def start(thread: threading.Thread) -> None:
            thread.run = self._counted(thread.run)  # type: ignore[method-assign]
            self._start(thread)

        start.counts_for = self  # type: ignore[attr-defined]
        return start

    def _counted(self, run: Any) -> Any:
        def counted() -> None:
            before = self._number()
            try:
                run()
            finally:
                if self._number() != before:
                    with self._lock:
                        self.count += 1

        return counted
