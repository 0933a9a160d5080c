"""Runs modules of the page with Node.js, for tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_PROGRAM = Path(__file__).with_name("page_script.mjs")
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(
    NODE is None and not os.environ.get("TFPROF_REQUIRE_BROWSER"),
    reason="Node.js is not installed",
)


class ScriptError(Exception):
    """An error that the script threw: its class, and the option that it is about."""

    def __init__(self, message: str, kind: str, option: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.option = kind, option


@cache
def _process() -> subprocess.Popen[str]:
    """One process for all tests: starting it takes longer than its answers."""
    assert NODE, "Node.js is not installed"
    return subprocess.Popen(
        [NODE, str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def ask(call: str, **question: Any) -> Any:
    """The answer of a function in `page_script.mjs`."""
    process = _process()
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"call": call, **question}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    if "error" in answer:
        raise ScriptError(answer["error"], answer["kind"], answer.get("option"))
    return answer["value"]
