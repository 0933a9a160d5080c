"""
Finds tests that are not the same each time: `make flaky N=8 LOAD=4 TIER=gate`.

A tier runs N times, with some busy processes beside it. Runs are kept in build/flaky and add up;
`--fresh` forgets the earlier ones.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from run_tests import ROOT, pytest_command, run_pytest

from tiers import TIERS

KEPT = ROOT / "build" / "flaky"

Outcomes = Mapping[str, str]  # by test


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Find tests that are not the same each time.")
    parser.add_argument("--runs", type=int, default=8, help="how often to run [8]")
    parser.add_argument("--load", type=int, default=4, help="busy processes beside it [4]")
    parser.add_argument("--tier", choices=TIERS, default="gate", help="[gate]")
    parser.add_argument("--fresh", action="store_true", help="forget the runs before")
    given = parser.parse_args(words)
    folder = KEPT / given.tier
    if given.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    with busy(given.load):
        for number in range(1, given.runs + 1):
            started = time.monotonic()
            results = folder / f"{time.time_ns()}.json"
            run_pytest(pytest_command(given.tier, results))
            took = time.monotonic() - started
            print(f"=== run {number} of {given.runs}: {took:.0f} s", flush=True)
    return report(given.tier, [read(path) for path in sorted(folder.glob("*.json"))])


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep some processes busy; the more there are, the slower everything else."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def read(path: Path) -> Outcomes:
    return json.loads(path.read_text("utf-8"))["outcomes"]


def report(tier: str, runs: Sequence[Outcomes]) -> int:
    """Print which tests were not the same in all runs, or failed in all; 1 if there are any."""
    names = sorted(set().union(*runs))
    rows = {name: Counter(run.get(name, "not run") for run in runs) for name in names}
    odd = {name: row for name, row in rows.items() if len(row) > 1 or "failed" in row}
    for name, row in odd.items():
        print(f"{', '.join(f'{count} {outcome}' for outcome, count in row.items())}: {name}")
    print(f"{tier}: {len(runs)} runs, {len(names)} tests, {len(odd)} not the same or failed")
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
