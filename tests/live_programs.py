"""Runs programs that use TensorFlow in a process of their own, to test what they leave behind."""

import os
import subprocess
import sys
from pathlib import Path


def run(program: Path, *arguments: str | Path) -> None:
    """Run a Python file with these arguments; fails with what it printed if it fails."""
    # What tfprof notes on a recording is a warning there, also if the tests run with `-W error`.
    quiet = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "default"}
    command = [sys.executable, str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=quiet)
    assert done.returncode == 0, done.stderr
