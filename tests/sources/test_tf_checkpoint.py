"""Reading checkpoints: their variables get a type, and values are read on request."""

import numpy as np
import pytest

from sources.tf_files import CHECKPOINTS, add, graph, node
from tfprof.errors import InputError
from tfprof.formats.checkpoint import open_checkpoint
from tfprof.model.builder import ProfileBuilder
from tfprof.sources import tf_checkpoint
from tfprof.sources.registry import open_file


class Opened:
    """A checkpoint that logs which values are read."""

    def __init__(self, checkpoint):
        self.checkpoint = checkpoint
        self.was_read = []

    @property
    def tensors(self):
        return self.checkpoint.tensors

    def read(self, name):
        self.was_read.append(name)
        return self.checkpoint.read(name)


@pytest.fixture
def checkpoint():
    return Opened(open_checkpoint(str(CHECKPOINTS / "v1" / "model.ckpt")))


@pytest.fixture
def profile(checkpoint):
    """A graph with a variable that is in the checkpoint and an op that is not."""
    builder = ProfileBuilder()
    nodes = graph(node("other", "NoOp"), node(checkpoint.tensors[0].name, "VariableV2"))
    add("graph", "graph.pb", nodes, builder)
    file = open_file(str(CHECKPOINTS / "v1" / "model.ckpt"))
    tf_checkpoint.add(checkpoint, builder, file)
    built = builder.build()
    built.check()
    return built


def test_an_op_with_a_tensor_in_the_checkpoint_has_the_type_of_such_ops(profile, checkpoint):
    types = {name: profile.ops.types.of(row) for row, name in enumerate(profile.ops.name)}

    assert types == {
        "other": ["NoOp"],
        checkpoint.tensors[0].name: ["VariableV2", "_checkpoint_variables"],
    }


def test_a_tensor_without_an_op_does_not_add_one(profile, checkpoint):
    assert len(profile.ops) == 2
    assert len(profile.tensors) == len(checkpoint.tensors) > 2


def test_tensors_have_their_names_types_and_shapes(profile, checkpoint):
    entry = checkpoint.tensors[1]
    row = profile.tensors.find(entry.name)

    assert row == 1
    assert profile.tensors.dtype[row] == entry.dtype
    assert profile.tensors.shape[row] == entry.shape


def test_values_are_read_only_on_request(profile, checkpoint):
    assert checkpoint.was_read == []
    name = checkpoint.tensors[0].name

    values = profile.tensors.read(name)

    assert checkpoint.was_read == [name]
    assert np.array_equal(values, checkpoint.checkpoint.read(name))


def test_reading_a_missing_tensor_is_an_error(profile):
    with pytest.raises(InputError):
        profile.tensors.read("not there")
