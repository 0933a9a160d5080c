"""
Runs tests by tier: `make test`, `make test TIER=live,browser`, `make test-all`.

Each tier is a run of pytest of its own. Those of `changed` are the tiers whose code has changed
since a commit, besides the gate; tests/tiers.py has the table. `failures` prints the failures of
all tiers that ran again, each with the command that repeats it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "build" / "tests"
sys.path.append(str(ROOT / "tests"))

from tiers import GATE, TIERS, tiers_touched_by  # noqa: E402 -- after the path of the tests

# A change without a given start: what was committed in the day before the last commit.
_CHANGE_HOURS = 24
_NO_TESTS = 5  # exit status of pytest


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run tests by tier.")
    parser.add_argument(
        "tiers", help=f"tiers, separated by commas ({', '.join(TIERS)}), all, changed, or failures"
    )
    parser.add_argument("--since", help="with `changed`: the commit before the change")
    given = parser.parse_args(words)
    if given.tiers == "failures":
        return report_failures()
    tiers = _chosen(given.tiers, given.since, parser)
    status = run(tiers)
    # After `changed`, CI prints the failures of the gate as well.
    return status if given.tiers == "changed" else max(status, report_failures(tiers))


def _chosen(text: str, since: str | None, parser: argparse.ArgumentParser) -> list[str]:
    """The tiers to run, in the order of their table."""
    if text == "all":
        return list(TIERS)
    if text == "changed":
        return changed_tiers(since or _start_of_change())
    chosen = text.split(",")
    for name in chosen:
        if name not in TIERS:
            parser.error(f"no tier {name}: use {', '.join(TIERS)}, or all")
    return [name for name in TIERS if name in chosen]


def run(tiers: Sequence[str]) -> int:
    """Run the tests of some tiers; 1 if one fails."""
    status = 0
    for tier in tiers:
        print(f"\n=== {tier}: {TIERS[tier]}", flush=True)
        started = time.monotonic()
        ended = run_pytest(pytest_command(tier))
        print(f"=== {tier}: {time.monotonic() - started:.0f} s", flush=True)
        status = status if ended in (0, _NO_TESTS) else 1
    return status


def run_pytest(command: Sequence[str]) -> int:
    """Run pytest, and let it keep the modules that it has rewritten; the exit status."""
    environment = {key: os.environ[key] for key in os.environ.keys() - {"PYTHONDONTWRITEBYTECODE"}}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def pytest_command(tier: str, results: Path | None = None) -> list[str]:
    """The command that runs the tests of a tier, and writes what became of each."""
    written = results or results_of(tier)
    written.unlink(missing_ok=True)
    words = ["-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", f"--tier={tier}"]
    return [sys.executable, *words, f"--outcomes={written}"]


def results_of(tier: str) -> Path:
    return RESULTS / f"{tier}.json"


def report_failures(tiers: Sequence[str] = tuple(TIERS)) -> int:
    """Print the failures of the last run of each tier; 1 if there are any."""
    count = 0
    for tier in tiers:
        if not results_of(tier).exists():
            continue
        found = json.loads(results_of(tier).read_text("utf-8"))
        if found["repeat"]:
            print(f"\nFailed in {tier}, with the seed {found['seed']}; each can be repeated alone:")
            print(*found["repeat"], sep="\n")
        count += len(found["repeat"])
    return 1 if count else 0


def changed_tiers(since: str | None) -> list[str]:
    """The tiers besides the gate whose code has changed since a commit, all without one."""
    if since is None:
        return [tier for tier in TIERS if tier != GATE]
    named = _git("diff", "--name-only", "-z", since, "--")
    unknown = _git("ls-files", "--others", "--exclude-standard", "-z")
    touched = set()
    for path in filter(None, f"{named}\0{unknown}".split("\0")):
        touched |= tiers_touched_by(path)
    print(f"changed since {since[:12]}: {', '.join(sorted(touched)) or 'no further tier'}")
    return [tier for tier in TIERS if tier in touched - {GATE}]


def _start_of_change() -> str | None:
    """The commit that the branch starts from, or the last one that is a day older."""
    try:
        base = _git("merge-base", "HEAD", "@{upstream}").strip()
        if base != _git("rev-parse", "HEAD").strip():
            return base
    except subprocess.CalledProcessError:
        pass  # the branch has no upstream
    newest = int(_git("log", "-1", "--format=%ct").strip())
    before = newest - _CHANGE_HOURS * 3600
    return _git("rev-list", "-1", f"--before={before}", "HEAD").strip() or None


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
