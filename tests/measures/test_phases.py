"""Which part of a training step an op belongs to."""

import pytest

from build import op, profile
from tfprof.measures.phases import Phase, phases


def phase(name, kind="Mul"):
    return Phase(phases(profile(op(name, kind)))[0])


@pytest.mark.parametrize(
    "name",
    [
        "gradients/conv_grad/Mul",
        "tower_1/gradients/conv_grad/Mul",
        "gradients_1/conv_grad/Mul",
        "train/gradients_12/conv_grad/Mul",
        "gradient_tape/model/dense/MatMul",
        "step/gradient_tape/model/dense/MatMul",
    ],
)
def test_what_stands_in_a_scope_of_gradients_is_backward(name):
    assert phase(name) is Phase.BACKWARD


@pytest.mark.parametrize(
    "name",
    ["conv/Mul", "gradients", "my_gradients/Mul", "gradients_of/Mul", "clip_gradients_1/Mul"],
)
def test_what_only_sounds_like_gradients_is_forward(name):
    assert phase(name) is Phase.FORWARD


@pytest.mark.parametrize(
    "kind",
    ["ApplyAdam", "ResourceApplyMomentum", "SparseApplyAdagrad", "ResourceSparseApplyFtrl"],
)
def test_an_update_is_the_optimisers_wherever_it_stands(kind):
    assert phase("train/update", kind) is Phase.OPTIMISER
    assert phase("gradients/update", kind) is Phase.OPTIMISER


@pytest.mark.parametrize("kind", ["AccumulatorApplyGradient", "Apply", "AssignAdd"])
def test_what_applies_no_optimiser_is_forward(kind):
    assert phase("a", kind) is Phase.FORWARD
