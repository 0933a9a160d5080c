"""Fixtures for comparisons with TensorFlow's own profiler."""

import pytest

from parity.original import Original


@pytest.fixture(scope="session")
def original():
    """The original, in a separate process, where each question has a fork of its own."""
    with Original() as worker:
        yield worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder for the input files of a question."""
    return tmp_path_factory.mktemp("inputs")
