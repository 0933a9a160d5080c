"""Phases and forward ops, derived from the names and kinds of TensorFlow ops."""

import pytest

from build import op, profile, run
from tfprof.columns import Strings
from tfprof.model.ops import NOT_A_GRADIENT, UNKNOWN_FORWARD, Phase
from tfprof.sources.tf_names import forward_names


def phase(name, kind="Mul"):
    return Phase(profile(op(name, kind)).phase[0])


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
def test_an_op_in_a_scope_of_gradients_is_backward(name):
    assert phase(name) is Phase.BACKWARD


@pytest.mark.parametrize(
    "name",
    ["conv/Mul", "gradients", "my_gradients/Mul", "gradients_of/Mul", "clip_gradients_1/Mul"],
)
def test_an_op_in_a_scope_with_a_similar_name_is_forward(name):
    assert phase(name) is Phase.FORWARD


@pytest.mark.parametrize(
    "kind",
    ["ApplyAdam", "ResourceApplyMomentum", "SparseApplyAdagrad", "ResourceSparseApplyFtrl"],
)
def test_an_update_belongs_to_the_optimizer_in_any_scope(kind):
    assert phase("train/update", kind) is Phase.OPTIMIZER
    assert phase("gradients/update", kind) is Phase.OPTIMIZER


@pytest.mark.parametrize(
    "kind",
    [
        *("CollectiveReduceV2", "CollectiveGatherV2", "CollectivePermute", "NcclAllReduce"),
        *("_NcclBroadcastRecv", "CrossReplicaSum", "AllToAll", "HorovodAllreduce"),
    ],
)
def test_a_collective_is_communication_in_any_scope(kind):
    assert phase("all_reduce/sum", kind) is Phase.COMMUNICATION
    assert phase("gradients/sum", kind) is Phase.COMMUNICATION


@pytest.mark.parametrize("kind", ["CollectiveInitializeCommunicator", "Collect", "HorovodRank"])
def test_what_only_prepares_a_collective_is_not_communication(kind):
    assert phase("all_reduce/setup", kind) is Phase.FORWARD


@pytest.mark.parametrize(
    "scope", ["adam", "adam_w", "sgd_1", "SGD", "rm_sprop", "while/body/lion", "rmsprop"]
)
def test_an_op_in_the_scope_of_a_keras_optimizer_belongs_to_the_optimizer(scope):
    p = profile(op(f"{scope}/AssignSubVariableOp", "AssignSubVariableOp"), op(f"{scope}/Sqrt"))

    assert p.phase.tolist() == [Phase.OPTIMIZER] * 2


def test_a_layer_named_like_an_optimizer_is_forward():
    p = profile(
        op("adam/AssignSubVariableOp", "AssignSubVariableOp"),
        op("adam_1/MatMul", "MatMul"),
        op("net/adam/MatMul", "MatMul"),
    )

    assert p.phase.tolist() == [Phase.OPTIMIZER, Phase.FORWARD, Phase.FORWARD]


def test_an_op_with_the_type_of_optimizers_belongs_to_the_optimizer():
    p = profile(op("a/Mul", types=["_optimizer"]), op("gradient_tape/Mul", types=["_optimizer"]))

    assert p.phase.tolist() == [Phase.OPTIMIZER] * 2


@pytest.mark.parametrize("kind", ["AccumulatorApplyGradient", "Apply", "AssignAdd"])
def test_other_updates_are_forward(kind):
    assert phase("a", kind) is Phase.FORWARD


@pytest.mark.parametrize("kind", ["IteratorGetNext", "QueueDequeueManyV2", "DecodeJpeg", "PyFunc"])
def test_an_op_that_fetches_data_is_input(kind):
    assert phase("a", kind) is Phase.INPUT


@pytest.mark.parametrize(
    "kind",
    [
        *("TensorSliceDataset", "ShuffleDatasetV3", "MakeIterator", "AnonymousIteratorV3"),
        *("IteratorGetNextAsOptional", "MultiDeviceIteratorGetNextFromShard", "OneShotIterator"),
    ],
)
def test_an_op_that_creates_or_uses_a_dataset_is_input(kind):
    assert phase("eager/a", kind) is Phase.INPUT


def test_ops_of_the_input_pipeline_are_input():
    assert phase("tf_data/map/Mul") is Phase.INPUT


def test_an_op_known_only_from_runs_has_a_phase():
    assert Phase(profile(run("gradients/a_grad/b")).phase[0]) is Phase.BACKWARD


def test_a_gradient_belongs_to_the_op_it_is_named_after():
    p = profile(op("a"), op("gradients/a_grad/b"), op("gradients/gone_grad/b"))

    assert list(p.ops.name) == ["a", "gradients/a_grad/b", "gradients/gone_grad/b"]
    assert p.forward_of.tolist() == [NOT_A_GRADIENT, 0, UNKNOWN_FORWARD]


@pytest.mark.parametrize(
    ("gradient", "forward"),
    [
        ("gradient_tape/net/dense/MatMul/MatMul_1", "net/dense/MatMul"),
        ("gradient_tape/net/dense/ReluGrad", "net/dense/Relu"),
        ("gradient_tape/net/dense/Shape", "net/dense/MatMul"),
        ("gradient_tape/net/dense/BiasAdd/BiasAddGrad", "net/dense/MatMul"),
        (
            "gradient_tape/net/while_grad/body/gradient_tape/net/gradients/net/cell/mul_grad/Mul",
            "net/cell/mul",
        ),
        ("gradient_tape/net/dense", "net/dense/MatMul"),
        ("gradient_tape/net/gone/Mul", "net/cell/mul"),
    ],
)
def test_a_gradient_of_a_tape_belongs_to_the_nearest_forward_op(gradient, forward):
    others = map(op, ("net/cell/mul", "net/dense/MatMul", "net/dense/Relu", "a"))
    p = profile(*others, op(gradient, types=["_tape_gradient"]))
    names = list(p.ops.name)

    assert names[p.forward_of[names.index(gradient)]] == forward
    assert p.forward_of[names.index("a")] == NOT_A_GRADIENT


def test_gradients_of_a_tape_in_a_graph_file_are_shown_at_their_own_lines_like_in_the_original():
    p = profile(op("a/Mul"), op("gradient_tape/a/Mul"))

    assert p.forward_of.tolist() == [NOT_A_GRADIENT, NOT_A_GRADIENT]


def test_a_gradient_of_a_tape_without_a_similar_forward_op_is_no_gradient():
    p = profile(op("a"), op("gradient_tape/b/Mul", types=["_tape_gradient"]))

    assert p.forward_of.tolist() == [NOT_A_GRADIENT, NOT_A_GRADIENT]


@pytest.mark.parametrize(
    ("name", "forward"),
    [
        ("gradients/net/mul_grad/MatMul", "net/mul"),
        ("train/gradients/net/mul_grad/tuple/group", "net/mul"),
        ("gradients/a_grad/b_grad/c", "a"),
        ("a_grad/gradients/b", "b"),
        ("a_grad/gradients/", ""),
        ("gradients/_grad/b", None),
        ("gradients/net/mul", None),
        ("net/mul_grad/MatMul", None),
        ("gradients", None),
    ],
)
def test_gradients_and_their_forward_ops_are_recognised_by_name(name, forward):
    gradients, sources = forward_names(Strings(["other", name]))

    assert gradients.tolist() == ([] if forward is None else [1])
    assert list(sources) == ([] if forward is None else [forward])
