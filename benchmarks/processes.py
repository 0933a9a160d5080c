"""Runs commands one at a time and says what each took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# The unit of `ru_maxrss` in bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Cost:
    """What a process took, from its start to its end."""

    wall_seconds: float
    user_seconds: float  # of processor time, over all its threads
    peak_mb: float  # of resident memory, in millions of bytes
    status: int  # 0 is success; minus the signal where it was ended by one


def run(
    command: Sequence[str],
    *,
    output: Path,
    errors: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """What `command` took; it writes its output to a file, and there is nobody at its input.

    On Linux a process inherits the peak of the one that starts it, so the caller's own memory is
    the least that can be measured: keep the caller small.
    """
    with output.open("wb") as out, (errors or Path(os.devnull)).open("wb") as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # so that nobody waits for it again
    return Cost(
        wall_seconds, usage.ru_utime, usage.ru_maxrss * _PEAK_UNIT / 1e6, process.returncode
    )
