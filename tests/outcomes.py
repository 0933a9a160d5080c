"""What became of each test, and the command that repeats a failed one alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tiers import is_random


def pytest_addoption(parser):
    parser.addoption(
        "--outcomes", type=Path, metavar="FILE", help="write outcomes and seconds as JSON"
    )


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(config))


class _Recorder:
    """Collects the reports of all worker processes."""

    def __init__(self, config):
        self.config = config
        self.outcomes: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid
        if report.outcome != "passed" or name not in self.outcomes:
            self.outcomes[name] = report.outcome
        self.seconds[name] = self.seconds.get(name, 0) + report.duration

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = "failed"

    def pytest_terminal_summary(self, terminalreporter):
        if is_random(self.config):
            terminalreporter.line(f"new examples, with seed {self.config.option.randomly_seed}")
        failed = [name for name, outcome in self.outcomes.items() if outcome == "failed"]
        if failed:
            terminalreporter.section("repeat a failure alone")
        for name in failed:
            terminalreporter.line(self.command(name))

    def command(self, name: str) -> str:
        """The command that runs a test again, with the same seed."""
        seed = self.config.option.randomly_seed
        same = f"--tier=random --hypothesis-seed={seed}" if is_random(self.config) else ""
        words = f".venv/bin/python -m pytest {shlex.quote(name)} --randomly-seed={seed} {same}"
        return words.rstrip()

    def pytest_sessionfinish(self):
        if path := self.config.getoption("outcomes"):
            path.parent.mkdir(parents=True, exist_ok=True)
            written = {
                "seed": self.config.option.randomly_seed,
                "outcomes": self.outcomes,
                "seconds": {name: round(took, 4) for name, took in self.seconds.items()},
                "repeat": [
                    self.command(name)
                    for name, outcome in self.outcomes.items()
                    if outcome == "failed"
                ],
            }
            path.write_text(json.dumps(written, indent=0), "utf-8")
