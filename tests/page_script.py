"""Runs modules of the page with Node.js, for tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SECONDS = 60  # for an answer

_PROGRAM = Path(__file__).with_name("page_script.mjs")

# Tests that `ask`; the fixture is `node`.
needs_node = pytest.mark.usefixtures("node")


class ScriptError(Exception):
    """An error that the script threw: its class, and the option that it is about."""

    def __init__(self, message: str, kind: str, option: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.option = kind, option


_running: list[subprocess.Popen[str]] = []


# One process for all tests, because starting it takes longer than its answers.
@pytest.fixture(scope="session")
def node() -> Iterator[None]:
    """Node.js, or a skipped test if it is not installed."""
    program = shutil.which("node")
    if program is None:
        missing = pytest.fail if os.environ.get("TFPROF_REQUIRE_BROWSER") else pytest.skip
        missing("Node.js is not installed")
    with subprocess.Popen(
        [program, str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        _running.append(process)
        try:
            yield
        finally:
            _running.remove(process)
            process.kill()


def ask(call: str, **question: Any) -> Any:
    """The answer of a function in `page_script.mjs`."""
    assert _running, "the test lacks `needs_node`"
    (process,) = _running
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"call": call, **question}) + "\n")
    process.stdin.flush()
    late = threading.Timer(SECONDS, process.kill)
    late.start()
    try:
        line = process.stdout.readline()
    finally:
        late.cancel()
        late.join()
    assert line, f"Node.js ended, or did not answer `{call}` within {SECONDS} s"
    answer = json.loads(line)
    if "error" in answer:
        raise ScriptError(answer["error"], answer["kind"], answer.get("option"))
    return answer["value"]
