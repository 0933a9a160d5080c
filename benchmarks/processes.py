"""Runs commands and functions in processes of their own, and measures commands from outside."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

from phases import PEAK_UNIT, Measure

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_QUOTED = 2000  # characters of the error output of a failed process


class FailedError(Exception):
    """A command failed."""


def run(command: Sequence[str], *, output: Path) -> Measure:
    """Measure `command` from start to end; its standard output goes to the file `output`.

    On Linux a process inherits the memory peak of its parent, so no figure is smaller than the
    memory of the caller: keep the caller small.
    """
    errors = output.with_name("errors")
    with output.open("wb") as out, errors.open("wb") as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # Popen must not wait again
    if process.returncode:
        message = errors.read_text(errors="replace")[-_QUOTED:]
        raise FailedError(f"{' '.join(command)}\nended with {process.returncode}:\n{message}")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Measure(seconds, usage.ru_maxrss * PEAK_UNIT / 1e6, cpu_seconds)


def in_new_process(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """What `function` returns in a new interpreter, where nothing is imported or cached yet."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()
