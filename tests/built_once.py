"""Folders that take long to build: the worker processes of a session build each once."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def built_once(temporary: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """The folder that `build` has filled, in this process or in another one."""
    own = temporary.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    finished = folder.with_suffix(".finished")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process that failed
            folder.mkdir()
            build(folder)
            finished.touch()
    return folder
