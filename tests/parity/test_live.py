"""Random questions, asked of tfprof and of TensorFlow's own profiler: the answers are the same.

Where TensorFlow is not installed there is nobody to ask, and the tests are skipped. The tests take
about a minute; to look longer, say how many questions each of them asks:

    TFPROF_PARITY_EXAMPLES=2000 python -m pytest tests/parity/test_live.py
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from parity.original import IS_INSTALLED, Crashed, Inputs, Original, Reply
from parity.strategies import Case, cases

import tfprof
from tfprof.formats.messages import DecodeError

pytestmark = pytest.mark.skipif(
    not IS_INSTALLED, reason="TensorFlow, whose profiler would be asked, is not installed"
)

VIEWS = ("scope", "graph", "code", "op")


def questions(examples):
    """Settings for a test that asks `examples` questions, or as many as the environment says."""
    return settings(
        max_examples=int(os.environ.get("TFPROF_PARITY_EXAMPLES", examples)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@pytest.fixture(scope="module")
def original():
    with Original() as worker:
        yield worker


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")
