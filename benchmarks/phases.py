"""The job that a measured process gets, and the report that it prints on its phases."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Self

# The unit of `ru_maxrss` in bytes.
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Job:
    """Files to load, and questions to ask; each question is a dict of `task`, `view`, `options`.

    Both profilers understand the options; `options["output"]` says where the answer goes. `load` is
    the name of the first phase.
    """

    load: str
    graph: str
    run_meta: str
    op_log: str
    questions: Sequence[dict[str, Any]] = ()

    def argument(self) -> str:
        """The job as one command line argument."""
        return json.dumps(asdict(self))

    @classmethod
    def given(cls) -> Self:
        """The job this process was started with."""
        return cls(**json.loads(sys.argv[1]))


@dataclass(frozen=True)
class Measure:
    """The time and memory of one task."""

    seconds: float
    peak_mb: float  # peak resident memory of the process until the end of the task
    cpu_seconds: float = 0.0  # of all threads, if it was measured


class Phases:
    """A stopwatch for the phases of this process."""

    def __init__(self) -> None:
        self._measures: dict[str, Measure] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._measures[name] = Measure(seconds, peak * PEAK_UNIT / 1e6)
        os.getpgrp()  # does nothing, but tells callgrind that a phase has ended

    def report(self) -> None:
        """Print the phases, in order, as the last line."""
        print(json.dumps({name: asdict(measure) for name, measure in self._measures.items()}))


def reported(printed: str) -> dict[str, Measure]:
    """The phases that a process has reported, in order."""
    return {
        name: Measure(**values) for name, values in json.loads(printed.splitlines()[-1]).items()
    }
