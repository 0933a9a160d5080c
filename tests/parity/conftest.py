"""What every comparison with TensorFlow's own profiler needs."""

import pytest

from parity.original import Original


@pytest.fixture(scope="module")
def original():
    """The original, in a process of its own."""
    with Original() as worker:
        yield worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the inputs of a question are put for tfprof to read."""
    return tmp_path_factory.mktemp("inputs")
