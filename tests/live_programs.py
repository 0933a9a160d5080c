"""Runs programs of TensorFlow and PyTorch in a process of their own, to test what they leave."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

# Frameworks warn of their own parts. Only what tfprof says, or calls, is an error.
only_own_warnings = pytest.mark.filterwarnings("ignore", "error:tfprof", r"error:::tfprof\.")


def finished(
    *words: str | Path, cwd: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    """A process of Python with these words and settings that has ended, and what it printed."""
    # What tfprof notes on a recording is a warning there, also if the tests run with `-W error`.
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "default"}
    with tempfile.TemporaryDirectory() as scratch:  # PyTorch does not remove what it compiled
        return subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | quiet | {"TMPDIR": scratch} | settings,
        )


def run(program: Path, *arguments: str | Path) -> None:
    """Run a Python file with these arguments; fails with what it printed if it fails."""
    done = finished(program, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
