"""Commands that are timed as a user runs them: each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

QUESTION = ("account_type_regexes", "Conv2D.*")  # which ops count; only Python can answer it


def write(paths: Sequence[Path], report: Path) -> float:
    """The seconds that writing a report takes."""
    return _seconds("report", *paths, "-o", report)


def rows(paths: Sequence[Path]) -> float:
    """The seconds that printing all rows takes."""
    return _seconds("scope", *paths, "-max_depth", "1000")


def question(paths: Sequence[Path]) -> float:
    """The milliseconds that printing the rows of some ops takes."""
    name, text = QUESTION
    return 1000 * _seconds("scope", *paths, "-max_depth", "1000", f"-{name}", text)


def _seconds(*words: str | Path) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "tfprof", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start
