"""The layers of TensorFlow programs, found by the scopes in the names of ops."""

import pytest

import tfprof
from tfprof.model.builder import ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.sources import tf_layers
from tfprof.sources.tf_layers import SavedLayers, ScopeFinder

NET = [
    Layer("net"),
    Layer("dense", 0),
    Layer("dense_1", 0),
    Layer("block", 0),
    Layer("conv", 3),
    Layer("lstm", 0),
    Layer("lstm_cell", 5),
]


def found(*names, layers=NET):
    """The name of the layer of each op; empty if it has none."""
    finder = ScopeFinder(layers, names, {})
    places = [finder.of_op(name) for name in names]
    return [layers[place].name if place != NO_LAYER else "" for place in places]


def test_an_op_is_in_the_innermost_layer_of_its_scopes():
    names = ("net_1/dense_2/MatMul", "net_1/block_1/conv_1/BiasAdd/x", "net_1/Add", "Mean")

    assert found(*names) == ["dense", "conv", "net", ""]


@pytest.mark.parametrize(
    ("scopes", "layers"),
    [
        (["net_1/dense_1", "net_1/dense_1_2", "net_1/block_1"], ["dense", "dense_1", "block"]),
        (["net/dense", "net/dense_1", "net/dense_2"], ["dense", "dense_1", "dense"]),
    ],
    ids=["with numbers", "without numbers"],
)
def test_a_number_at_the_end_is_that_of_a_call_or_part_of_the_name(scopes, layers):
    assert found(*(f"{scope}/MatMul" for scope in scopes)) == layers


def test_gradients_and_calls_are_in_the_layers_of_their_scopes():
    assert found(
        "gradient_tape/net_1/dense_2/MatMul/MatMul_1",
        "StatefulPartitionedCall/net_1/dense_2/MatMul",
    ) == ["dense", "dense"]


def test_the_body_of_a_loop_is_in_the_layers_of_the_loop():
    name = "net_1/lstm_1/while/body/net_1/lstm_1/while/lstm_cell_1/MatMul"

    assert found(name, "net_1/lstm_1/while") == ["lstm_cell", "lstm"]


def test_a_model_inside_another_one_may_be_called_by_itself():
    assert found("block_1/conv_1/MatMul", "conv_1/MatMul") == ["conv", ""]


def profile_of(*names, layers=NET, weights=()):
    builder = ProfileBuilder()
    builder.ensure_ops(names)
    tf_layers.add(builder, layers, dict(weights))
    return builder.build()


def layers_of(built):
    found = [built.layers.name[row] if row >= 0 else "" for row in built.ops.layer.tolist()]
    return dict(zip(built.ops.name, found, strict=True))


def test_a_variable_belongs_to_the_layer_that_has_it():
    built = profile_of("kernel", "net_1/dense_2/x", weights={"kernel": 1, "unknown": 0}.items())

    assert layers_of(built) == {"kernel": "net/dense", "net_1/dense_2/x": "net/dense"}


def test_a_loss_around_the_model_is_a_row_of_its_own():
    built = profile_of(
        "net_1/dense_2/x",
        "compile_loss/mse/Mean",
        "gradient_tape/compile_loss/mse/Mul",
        "my_loss/Mean",
        "gradient_tape/my_loss/Mul",
        "Cast_1",
        "gradient_tape/Cast_1/x",
        "augment/Mul",
    )

    assert layers_of(built) == {
        "Cast_1": "",
        "augment/Mul": "",
        "compile_loss/mse/Mean": "loss",
        "gradient_tape/Cast_1/x": "",
        "gradient_tape/compile_loss/mse/Mul": "loss",
        "gradient_tape/my_loss/Mul": "my_loss",
        "my_loss/Mean": "my_loss",
        "net_1/dense_2/x": "net/dense",
    }


def test_without_layers_nothing_is_added():
    built = profile_of("compile_loss/x", "gradient_tape/compile_loss/x", layers=[])

    assert len(built.layers) == 0


def saved(*names):
    """The layers that the names of ops imply, by path, and the layer of each op."""
    found = SavedLayers(names)
    places = [found.of_op(name) for name in names]
    paths = []
    for layer in found.layers:
        above = f"{paths[layer.parent]}/" if layer.parent != NO_LAYER else ""
        paths.append(above + layer.name)
    return paths, [paths[place] if place != NO_LAYER else "" for place in places]


CALL = "StatefulPartitionedCall/StatefulPartitionedCall_1"


def test_the_scopes_of_a_saved_model_with_numbers_are_its_layers():
    assert saved(
        f"{CALL}/net_1/dense_1/MatMul",
        f"{CALL}/net_1/block_1/conv_1/Conv2D",
        f"{CALL}/net_1/block_3/conv_1/Conv2D",
        f"{CALL}/net_1/dense_1_2/MatMul",
        f"{CALL}/Identity",
    ) == (
        ["net", "net/dense", "net/block", "net/block/conv", "net/dense_1"],
        ["net/dense", "net/block/conv", "net/block/conv", "net/dense_1", ""],
    )


def test_numbered_scopes_of_ops_are_not_layers():
    assert saved(
        "net_1/mha_1/einsum/Einsum",
        "net_1/mha_1/einsum_1/Einsum",
        "net_1/bn_1/Reshape_1",
        "net_1/bn_1/Reshape_1/shape",
        "net_1/bn_1/batchnorm/mul",
    )[0] == ["net", "net/mha", "net/bn"]


def test_scopes_without_numbers_are_not_layers():
    assert saved("model/dense/MatMul", "MatMul_1", "MatMul_1/x") == ([], ["", "", ""])


def frozen_graph(*nodes):
    """A frozen graph: constants first, each read by an `Identity` in its layer."""
    weights = [f"{scope}/ReadVariableOp" for scope, _ in nodes]
    facts = [f"node {{ name: '{name}/resource' op: 'Const' {VALUE} }}" for name in weights]
    facts += [
        f"node {{ name: '{name}' op: 'Identity' input: '{name}/resource' }}" for name in weights
    ]
    facts += [
        f"node {{ name: '{scope}' op: '{kind}' input: '{scope}/ReadVariableOp' }}"
        for scope, kind in reversed(nodes)
    ]
    return "\n".join(facts)


VALUE = """
attr { key: 'dtype' value { type: DT_FLOAT } }
attr { key: 'value' value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 3 } } tensor_content: '000000000000' } } }
"""


def test_a_frozen_graph_has_the_layers_of_its_scopes_in_the_order_of_its_ops(tmp_path):
    text = frozen_graph(("net_1/head_1/MatMul", "MatMul"), ("net_1/stem_1/MatMul", "MatMul"))
    (tmp_path / "frozen.pbtxt").write_text(text)

    answer = tfprof.load(tmp_path / "frozen.pbtxt").layers(select="params")

    assert [row["name"] for row in answer][1:] == ["net", "net/head", "net/stem"]
    assert answer["net/stem"]["total_params"] == 3


def test_the_scopes_of_random_generators_are_not_layers():
    assert saved("seed_generator_1/add", "net_1/drop_1/seed_generator_1_2/add") == (
        ["net", "net/drop"],
        ["", "net/drop"],
    )
