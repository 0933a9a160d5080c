"""Runs commands one at a time and says what each took."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from phases import PEAK_UNIT, Measure

_SAID = 2000  # letters of what a failed process said last


class FailedError(Exception):
    """A command did not end well."""


def run(command: Sequence[str], *, output: Path) -> Measure:
    """What `command` took from its start to its end; what it prints goes to the file `output`.

    On Linux a process inherits the peak of the one that starts it, so the caller's own memory is
    the least that can be measured: keep the caller small.
    """
    errors = output.with_name("errors")
    with output.open("wb") as out, errors.open("wb") as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # so that nobody waits for it again
    if process.returncode:
        said = errors.read_text(errors="replace")[-_SAID:]
        raise FailedError(f"{' '.join(command)}\nended with {process.returncode}:\n{said}")
    return Measure(seconds, usage.ru_maxrss * PEAK_UNIT / 1e6)
