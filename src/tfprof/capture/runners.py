"""Recognises the frames of what runs a program: tfprof, its command, and Python's `runpy`."""

from __future__ import annotations

import os
from pathlib import Path

from tfprof.sources.kineto.python_calls import is_command

_RUNNERS = (f"{Path(__file__).parents[1]}{os.sep}", "<frozen runpy>")


def is_runner(file: str, function: str) -> bool:
    """Whether a frame belongs to what runs the program, and not to the program."""
    return file.startswith(_RUNNERS) or is_command(file, function)
