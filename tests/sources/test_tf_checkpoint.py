"""Checkpoints: their variables get a type or become ops, and values are read on request."""

from pathlib import Path

import numpy as np
import pytest

import tfprof
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


# A checkpoint without a graph

KERAS = Path(__file__).parents[1] / "samples" / "keras"
TRAINING = KERAS / "training" / "ckpt-1"  # the model and its optimizer
ARCHIVE = KERAS / "archive" / "variables" / "variables"  # of an exported model


def alone(path):
    columns = tfprof.load(path).columns
    columns.check()
    return columns


def typed(columns, wanted):
    """The names of the ops with a type."""
    ops = columns.ops
    return [name for row, name in enumerate(ops.name) if wanted in ops.types.of(row)]


def test_the_variables_of_a_checkpoint_alone_become_ops():
    columns = alone(CHECKPOINTS / "v2" / "model.ckpt")
    row = list(columns.ops.name).index("parts/tall")

    assert columns.ops.kind[row] == "Variable"
    assert columns.ops.shape[row] == (300, 2)
    assert columns.ops.types.of(row) == ["Variable", "_checkpoint_variables"]


def test_text_in_a_checkpoint_is_not_a_parameter():
    columns = alone(CHECKPOINTS / "v2" / "model.ckpt")

    assert columns.ops.shape[list(columns.ops.name).index("types/string")] is None


@pytest.mark.parametrize("path", [TRAINING, f"{TRAINING}.index", ARCHIVE])
def test_an_object_based_checkpoint_has_the_names_and_parameters_of_the_model(path):
    columns = alone(path)
    of_optimizer = set(typed(columns, "_optimizer_variables"))
    sizes = dict(zip(columns.ops.name, columns.ops.shape.sizes().tolist(), strict=True))
    sizes = {name: size for name, size in sizes.items() if size and name not in of_optimizer}

    assert sizes == {
        "conv/bias": 4,
        "conv/kernel": 108,
        "frozen/bias": 3,
        "frozen/kernel": 9,
        "head/bias": 2,
        "head/kernel": 6,
        "inner/first/bias": 3,
        "inner/first/kernel": 12,
        "norm/beta": 4,
        "norm/gamma": 4,
        "norm/moving_mean": 4,
        "norm/moving_variance": 4,
    }


@pytest.mark.parametrize("path", [TRAINING, ARCHIVE])
def test_trainable_variables_are_those_that_the_checkpoint_lists(path):
    assert typed(alone(path), "_trainable_variables") == [
        "conv/bias",
        "conv/kernel",
        "head/bias",
        "head/kernel",
        "inner/first/bias",
        "inner/first/kernel",
        "norm/beta",
        "norm/gamma",
    ]


def test_variables_of_the_optimizer_have_their_own_type():
    found = typed(alone(TRAINING), "_optimizer_variables")

    assert len(found) == 18
    assert {"adam/iteration", "adam/learning_rate", "adam/conv_kernel_momentum"} <= set(found)
    assert not any(name.partition("/")[0] != "adam" for name in found)


def test_parameters_do_not_include_the_variables_of_the_optimizer():
    profile = tfprof.load(TRAINING)
    root = profile.scope(select=["params", "slots"])["_TFProfRoot"]

    assert (root["total_params"], root["total_slots"]) == (163, 288)


def test_a_question_about_float_operations_is_answered_with_a_note():
    profile = tfprof.load(TRAINING)
    note = f"{TRAINING} contains variables only; float operations and times require other files."

    assert note in profile.flops().notes
    assert note not in profile.scope(select=["params"]).notes


def test_the_save_counter_and_seeds_are_not_parameters():
    for path, names in ((TRAINING, {"save_counter"}), (ARCHIVE, {"seed_generator"})):
        ops = alone(path).ops
        shapeless = {name for row, name in enumerate(ops.name) if ops.shape[row] is None}

        assert {name.partition("/")[0].removesuffix("_1") for name in shapeless} == names


def test_values_are_read_by_the_name_of_the_variable():
    profile = tfprof.load(TRAINING)

    assert profile.columns.tensors.read("save_counter").item() == 1
    assert profile.columns.tensors.read("norm/gamma").shape == (4,)
