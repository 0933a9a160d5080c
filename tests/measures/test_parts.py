"""Numbers that are a part of another number."""

import numpy as np
import pytest

from build import GPU_STREAM, op, profile, run
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.measures.parts import PARTS
from tfprof.metrics import BY_KEY


def numbers(p, key):
    """The number of each op that has any, by name."""
    column = per_op(p, EVERYTHING)[key]
    return {p.ops.name[row]: int(column[row]) for row in np.flatnonzero(column).tolist()}


def network():
    return profile(
        op("w", shape=(3,), types=["_trainable_variables"]),
        op("mean", shape=(2,)),
        op("conv", float_ops=5),
        op("gradients/conv_grad/filter", float_ops=7),
        op("update", "ApplyAdam", float_ops=1),
        run("conv", 10),
        run("conv", 3, device=GPU_STREAM),
        run("gradients/conv_grad/filter", 20),
        run("update", 4),
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("trainable_params", {"w": 3}),
        ("other_params", {"mean": 2}),
        ("forward_float_ops", {"conv": 5}),
        ("backward_float_ops", {"gradients/conv_grad/filter": 7}),
        ("forward_micros", {"conv": 13}),
        ("forward_accelerator_micros", {"conv": 3}),
        ("backward_accelerator_micros", {}),
        ("backward_micros", {"gradients/conv_grad/filter": 20}),
        ("backward_nanos", {"gradients/conv_grad/filter": 20_000}),
    ],
)
def test_a_part_has_the_numbers_of_some_ops(key, expected):
    assert numbers(network(), key) == expected


def test_a_program_without_trainable_variables_has_only_other_parameters():
    p = profile(op("w", shape=(3,)))

    assert numbers(p, "trainable_params") == {}
    assert numbers(p, "other_params") == {"w": 3}


def test_every_part_of_a_metric_is_computed():
    exact = {metric.exact for metric in BY_KEY.values() if metric.part_of} - {""}

    assert set(PARTS) == {key for key, metric in BY_KEY.items() if metric.part_of} | exact
