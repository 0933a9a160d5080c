"""Fixtures of shells in a terminal."""

from __future__ import annotations

import pytest


@pytest.fixture
def start(files):  # noqa: ARG001 -- makes the folder of the files the current one
    """Starts shells, and closes them after the test."""
    from driven_shell import FILES, Shell  # noqa: PLC0415 -- needs a terminal, as few tests do

    started = []

    def open_shell(*words, **others):
        started.append(Shell(*(words or FILES), **others))
        return started[-1]

    yield open_shell
    for shell in started:
        shell.terminal.close(force=True)


@pytest.fixture
def shell(start):
    """A shell that is waiting for its first line."""
    shell = start()
    shell.wait()
    return shell
