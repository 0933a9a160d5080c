"""Records some steps of a program that says when a step ends."""

from __future__ import annotations

import atexit
import statistics
import time
from itertools import pairwise

from tfprof.capture.recording import Capture
from tfprof.errors import OptionError

# The steps whose times are representative: earlier ones allocate memory and load kernels.
_LATEST = 10


def checked_steps(steps: tuple[int, int]) -> tuple[int, int]:
    """The first step and the one after the last; raises OptionError for anything else."""
    try:
        first, end = steps
        if 0 <= first < end:
            return int(first), int(end)
    except (TypeError, ValueError):
        pass
    raise OptionError(
        f"`steps` must be (first, end), such as (10, 13) for 10, 11 and 12, not {steps!r}."
    )


class RecordedSteps:
    """Records the steps from `first` up to `end`, counted from 0; `end` 0 records all.

    If `first` is 0, recording starts at once. It is stopped at the end of the program at the
    latest.
    """

    def __init__(self, capture: Capture, first: int, end: int) -> None:
        self.capture = capture
        self.count = 0
        self.is_recording = False
        self._ends: list[int] = []  # of the steps before, as times of a clock
        self._first, self._end = first, end
        if first == 0:
            self._start()

    @property
    def has_started(self) -> bool:
        """Whether there were as many steps as were to be skipped."""
        return self.count >= self._first

    def end_step(self) -> bool:
        """Count a step that has ended; returns whether the recording is now complete."""
        if self.is_recording:
            self.capture.step()
        else:
            self._ends.append(time.perf_counter_ns())
        self.count += 1
        if self.is_recording and self.count == self._end:
            self.stop()
            return True
        if self.count == self._first:
            self._start()
        return False

    def stop(self) -> None:
        """Finish the recording if there is one."""
        if self.is_recording:
            self.is_recording = False
            atexit.unregister(self.stop)
            self.capture.stop()

    def _start(self) -> None:
        took = [end - start for start, end in pairwise(self._ends[-_LATEST:])]
        self.capture.usual_step_ns = round(statistics.median(took)) if took else 0
        self.capture.start()
        self.is_recording = True
        atexit.register(self.stop)
