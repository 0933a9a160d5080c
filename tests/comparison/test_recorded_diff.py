"""Two recordings of the same Keras program, one of which computes attention in float64."""

from pathlib import Path

import pytest

import tfprof

FOLDER = Path(__file__).parents[2] / "examples" / "compare"
FLOAT32, FLOAT64 = FOLDER / "float32.tfprof", FOLDER / "float64.tfprof"


@pytest.mark.parametrize(
    ("base", "new", "types", "casts"),
    [
        (FLOAT32, FLOAT64, "float64 instead of float32", "6 more `Cast`"),
        (FLOAT64, FLOAT32, "float32 instead of float64", "6 fewer `Cast`"),
    ],
    ids=["slower", "faster"],
)
def test_the_layer_whose_time_changed_is_named_with_its_line_and_the_reason(
    base, new, types, casts
):
    found = tfprof.diff(base, new).summary

    assert found.steps == (30, 30)
    assert (found.cause.name, found.cause.line) == ("model/attention", "train.py:30")
    kinds = ("BatchMatMulV2", "Softmax", "Mul")
    assert found.cause.facts == (*(f"`{kind}` now runs in {types}" for kind in kinds), casts)


def test_nothing_is_named_in_a_recording_that_is_compared_with_itself():
    assert tfprof.diff(FLOAT32, FLOAT32).summary.cause is None
