"""The edges between ops in the data of a report."""

from __future__ import annotations

import numpy as np
import pytest

from build import op, profile
from tfprof.page.ops import ops
from tfprof.page.views import build_views


@pytest.fixture
def model():
    return profile(
        op("a", outputs=[(2,)]),
        op("b", inputs=["a", "a:1", "^a"]),
        op("c", inputs=["missing", "b"]),
    )


def edges(section):
    """The source and the output of each edge by op."""
    ends = np.cumsum(section["inputs"]["counts"])
    rows = np.split(np.arange(ends[-1]), ends[:-1])
    back, slot = section["inputs"]["back"], section["inputs"]["slot"]
    return [[(row - back[edge], slot[edge]) for edge in own] for row, own in enumerate(rows)]


def test_each_op_has_its_inputs_in_order(model):
    found = edges(ops(model, build_views(model)))

    assert found[:2] == [[], [(0, 0), (0, 1), (0, -1)]]


def test_the_source_of_an_unknown_input_is_minus_one(model):
    found = edges(ops(model, build_views(model)))

    assert found[2] == [(-1, 0), (1, 0)]
