"""Exported and frozen models have the numbers of the live model, at every batch size."""

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
keras = pytest.importorskip("keras", minversion="3.0", reason="Keras 3 is not installed")

import tfprof  # noqa: E402 -- after the checks that may skip this module
from live_programs import only_own_warnings  # noqa: E402
from tfprof.capture import programs  # noqa: E402
from tfprof.formats import graph_def  # noqa: E402
from tfprof.formats.records import Records  # noqa: E402
from tfprof.sources import tf_functions  # noqa: E402

pytestmark = [pytest.mark.live, only_own_warnings]

layers = keras.layers


def residual():
    x = inputs = keras.Input((16, 16, 3))
    x = layers.Conv2D(4, 7, strides=2)(layers.ZeroPadding2D(3)(x))
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.MaxPooling2D(3, strides=2)(layers.ZeroPadding2D(1)(x))
    x = layers.Add()([x, layers.Conv2D(4, 3, padding="same")(x)])
    return keras.Model(inputs, layers.Dense(5)(layers.GlobalAveragePooling2D()(x)))


def u_net():
    inputs = keras.Input((16, 16, 2))
    a = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
    b = layers.Conv2D(8, 3, padding="same", activation="relu")(layers.MaxPooling2D()(a))
    x = layers.Conv2DTranspose(8, 3, strides=2, padding="same")(layers.MaxPooling2D()(b))
    x = layers.UpSampling2D(interpolation="bilinear")(layers.Concatenate()([x, b]))
    return keras.Model(inputs, layers.Conv2D(1, 1)(layers.UpSampling2D()(x)))


def recurrent():
    return keras.Sequential(
        [
            keras.Input((6,)),
            layers.Embedding(20, 3, mask_zero=True),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
            layers.GRU(4),
            layers.Dense(2),
        ]
    )


def transformer():
    inputs = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8)(inputs)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True))
    x = x + layers.Dense(8)(layers.Dense(16, "gelu")(x))
    return keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


def convolutional():
    inputs = keras.Input((4, 8, 8, 2))
    x = layers.ConvLSTM2D(4, 3, padding="same")(inputs)
    x = layers.SeparableConv2D(4, 3, dilation_rate=2)(x)
    x = layers.Conv2D(4, 3, groups=2, padding="same")(x)
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.Reshape((-1, 4))(x)
    x = layers.SeparableConv1D(4, 3)(layers.Conv1D(4, 3, groups=2, padding="causal")(x))
    return keras.Model(inputs, layers.Flatten()(layers.Conv1DTranspose(2, 3, strides=2)(x)))


MODELS = (residual, u_net, recurrent, transformer, convolutional)


@pytest.fixture(scope="module", params=MODELS, ids=lambda make: make.__name__)
def model(request):
    return request.param()


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    model.export(str(folder), verbose=False)
    return folder


def specs(model, batch_size):
    return [tf.TensorSpec((batch_size, *one.shape[1:]), one.dtype) for one in model.inputs]


def params(profile):
    return profile.scope(select=["params"], max_depth=1)["_TFProfRoot"]["total_params"]


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_an_exported_model_has_the_float_ops_of_the_live_model(model, exported, batch_size):
    live = tfprof.load(model, batch_size=batch_size).flops()

    found = tfprof.load(exported, batch_size=batch_size).flops()

    assert found.float_ops == live.float_ops
    assert not found.uncounted
    assert not live.uncounted


def test_an_exported_model_is_counted_for_a_batch_of_1_by_default(exported):
    profile = tfprof.load(exported)

    assert profile.flops().float_ops == tfprof.load(exported, batch_size=1).flops().float_ops
    assert any("counted for a batch of 1" in note for note in profile.notes)


RESIZING = {
    "padding": layers.ZeroPadding2D(2),
    "transposed": layers.Conv2DTranspose(4, 3, strides=2),
    "upsampling": layers.UpSampling2D(3),
}


@pytest.mark.parametrize("name", RESIZING)
def test_the_batch_size_is_kept_after_a_layer_that_resizes_images(name, tmp_path):
    model = keras.Sequential([keras.Input((8, 8, 2)), RESIZING[name], layers.Conv2D(4, 3)])
    model.export(str(tmp_path), verbose=False)

    ledgers = [tfprof.load(tmp_path, batch_size=size).flops() for size in (1, 3)]

    assert ledgers[0].float_ops == tfprof.load(model, batch_size=1).flops().float_ops
    assert ledgers[1].float_ops == 3 * ledgers[0].float_ops
    assert not ledgers[1].uncounted


@pytest.mark.parametrize(
    ("make", "lowers"),
    [(residual, True), (transformer, True), (recurrent, True), (recurrent, False)],
)
def test_a_frozen_graph_has_the_numbers_of_the_live_model(make, lowers, tmp_path):
    from tensorflow.python.framework import convert_to_constants  # noqa: PLC0415

    model = make()
    function = tf.function(lambda *inputs: model(*inputs, training=False))
    frozen = convert_to_constants.convert_variables_to_constants_v2(
        function.get_concrete_function(*specs(model, None)), lower_control_flow=lowers
    )
    path = tmp_path / "frozen.pb"
    path.write_bytes(frozen.graph.as_graph_def().SerializeToString())

    found = tfprof.load(path, batch_size=3)

    assert found.flops().float_ops == tfprof.load(model, batch_size=3).flops().float_ops
    assert params(found) == model.count_params()


def test_a_frozen_graph_of_tensorflow_1_counts_constants_as_parameters(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, (None, 3), "x")
        weights = v1.get_variable("w", (3, 4), use_resource=False)
        y = tf.matmul(x, weights, name="y")
        session.run(v1.global_variables_initializer())
        graph = v1.graph_util.convert_variables_to_constants(
            session, session.graph_def, [y.op.name]
        )
    path = tmp_path / "frozen.pb"
    path.write_bytes(graph.SerializeToString())

    found = tfprof.load(path)

    assert params(found) == 12
    assert found.flops().float_ops == 2 * 3 * 4


def test_the_float_ops_of_an_lstm_match_the_formula():
    steps, features, units = 32, 5, 4
    model = keras.Sequential([keras.Input((steps, features)), layers.LSTM(units)])
    products = 2 * (features + units) * 4 * units
    sums = 2 * 4 * units  # of both products, and the bias
    # Three sigmoid gates of four operations, two hyperbolic tangents, and the new state.
    cell = 3 * 4 * units + 2 * units + (3 + 1) * units
    counters = 2  # the loop's own, and the time step
    tests = 2 * (steps + 1)

    assert tfprof.load(model).flops().float_ops == (
        steps * (products + sums + cell + counters) + tests
    )


@tf.function
def controlled(x):
    """A loop, a conditional, an array of tensors and shape arithmetic."""
    for _ in tf.range(5):
        x = tf.nn.relu(tf.matmul(x, tf.ones((4, 4))))
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.concat([x, x], 0), lambda: tf.tile(x, [2, 1]))
    array = tf.TensorArray(tf.float32, size=3)
    for place in tf.range(3):
        array = array.write(place, y)
    rows = tf.shape(y)[0]
    return tf.reshape(array.stack(), tf.stack([rows * 3, 2, 2])), tf.zeros(tf.stack([rows, 7]))


def facts_of(concrete, batch_size):
    """The shapes of all outputs of each op, and how often it runs."""
    traced = programs.trace(concrete, (), 0).graph
    graph = graph_def.decode(traced.records)
    flat = tf_functions.flatten(traced.records, graph, traced.ends, tf_functions.Batch(batch_size))
    outputs = flat.columns.outputs
    return {
        name: ([outputs.of(row, slot) for slot in range(outputs.count(row))], flat.repeats[row])
        for row, name in enumerate(flat.columns.name)
    }


def test_every_shape_of_a_function_is_the_one_that_tensorflow_infers():
    fixed = facts_of(controlled.get_concrete_function(tf.TensorSpec((3, 4))), 0)
    found = facts_of(controlled.get_concrete_function(tf.TensorSpec((None, 4))), 3)

    # The other ops compute shapes, which are constants if the batch size is fixed.
    common = fixed.keys() & found.keys()
    assert len(common) > 50
    assert {name: found[name] for name in common} == {name: fixed[name] for name in common}
    assert {repeats for _, repeats in found.values()} == {1, 3, 4, 5, 6}


def test_every_shape_of_a_training_step_is_the_one_that_tensorflow_infers(model):
    @tf.function
    def step(*inputs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(*inputs, training=True)))
        return tape.gradient(loss, model.trainable_variables)

    graph = step.get_concrete_function(*specs(model, None)).graph.as_graph_def(add_shapes=True)
    for node in graph.node:
        shape = node.attr["shape"].shape
        if node.op == "Placeholder" and shape.dim and shape.dim[0].size < 0:
            shape.dim[0].size = 3
            del node.attr["_output_shapes"]
    records = Records("graph", graph.SerializeToString())
    flat = tf_functions.flatten(records, graph_def.decode(records))
    rows = {name: row for row, name in enumerate(flat.columns.name)}
    for node in [*graph.node, *(node for f in graph.library.function for node in f.node_def)]:
        node.attr.pop("_output_shapes", None)
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(graph, name="")

    for op in imported.get_operations():
        for slot, tensor in enumerate(op.outputs):
            if tensor.shape.is_fully_defined() and tensor.dtype not in (tf.resource, tf.variant):
                found = flat.columns.outputs.of(rows[op.name], slot)
                assert (op.name, found) == (op.name, tuple(tensor.shape))
