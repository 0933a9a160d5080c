"""A plugin for pytest: records which lines each test reaches, or runs the tests of one mutant."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Processes that a test starts get its name from here; see `context` in the settings of coverage.
CONTEXT = "TFPROF_TEST"
# The tests to run, in this order: a file with a name in each line.
CHOSEN = "TFPROF_CHOSEN_TESTS"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if "coverage" not in sys.modules:
        yield
        return
    import coverage  # noqa: PLC0415 -- only if it runs

    running = coverage.Coverage.current()
    os.environ[CONTEXT] = item.nodeid.replace("$", "")
    # Coverage hands its settings to other processes with the context of this process. Without
    # them, they read the file of settings, which names the variable.
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    if running is not None:
        running.switch_context(item.nodeid)
    yield
    if running is not None:
        running.switch_context("")
    del os.environ[CONTEXT]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHOSEN not in os.environ:
        return
    names = Path(os.environ[CHOSEN]).read_text("utf-8").splitlines()
    places = {name: place for place, name in enumerate(names)}
    kept = [item for item in items if item.nodeid in places]
    items[:] = sorted(kept, key=lambda item: places[item.nodeid])
