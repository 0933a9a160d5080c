"""Finding the tensors of a checkpoint by name."""

import numpy as np
import pytest

from tfprof.columns import Shapes, Strings
from tfprof.errors import MissingInputError
from tfprof.model.tensors import Tensors


@pytest.fixture
def tensors():
    names = ["a", "a/b", "b"]
    shapes = Shapes.of([(1,), (), None])
    return Tensors(Strings(names), Strings(["float"] * 3), shapes, lambda _: np.array(7))


@pytest.mark.parametrize(("name", "row"), [("a", 0), ("a/b", 1), ("b", 2)])
def test_a_tensor_is_found_by_its_name(tensors, name, row):
    assert tensors.find(name) == row


@pytest.mark.parametrize("name", ["", "A", "a/", "a/bc", "c"])
def test_a_missing_tensor_is_not_found(tensors, name):
    assert tensors.find(name) == -1


def test_a_table_of_tensors_may_be_empty():
    assert len(Tensors.none()) == 0
    assert Tensors.none().find("a") == -1


def test_the_values_of_tensors_that_are_only_described_are_in_a_checkpoint():
    described = Tensors.described(Strings(["a"]), Strings(["float"]), Shapes.of([()]))

    assert described.find("a") == 0
    with pytest.raises(MissingInputError, match="The values of a are in a checkpoint: give the"):
        described.read("a")
