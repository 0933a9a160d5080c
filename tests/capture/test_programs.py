"""Traced Keras models and TensorFlow functions have the same numbers as files and Keras."""

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
keras = pytest.importorskip("keras", minversion="3.0", reason="Keras 3 is not installed")

import tfprof  # noqa: E402 -- after the checks that may skip this module
from live_programs import only_own_warnings  # noqa: E402

pytestmark = [pytest.mark.live, only_own_warnings]

layers = keras.layers


def cnn():
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


def lstm():
    return keras.Sequential(
        [keras.Input((5,)), layers.Embedding(20, 3), layers.LSTM(4), layers.Dense(2)]
    )


def transformer():
    x = inputs = keras.Input((6, 8))
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(16, "gelu")(x)))
    return keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


def function_of(model):
    """The model as a `tf.function`, and the spec of its argument."""
    spec = tf.TensorSpec((1, *model.inputs[0].shape[1:]), model.inputs[0].dtype)
    return tf.function(lambda x: model(x, training=False)), spec


def total(profile, metric):
    return profile.scope(select=[metric], max_depth=1)["_TFProfRoot"][f"total_{metric}"]


def rows(profile, view="scope", **options):
    return [row["name"] for row in getattr(profile, view)(max_depth=100, **options)]


@pytest.fixture(scope="module", params=[cnn, lstm, transformer], ids=lambda make: make.__name__)
def model(request):
    return request.param()


@pytest.fixture(scope="module")
def profiles(model, tmp_path_factory):
    """The profiles of one model, by the form in which it was loaded."""
    function, spec = function_of(model)
    concrete = function.get_concrete_function(spec)
    folder = str(tmp_path_factory.mktemp("saved"))
    tf.saved_model.save(model, folder, signatures=concrete)
    return {
        "model": tfprof.load(model),
        "function": tfprof.load(function, spec),
        "concrete function": tfprof.load(concrete),
        "SavedModel": tfprof.load(folder),
    }


def test_parameters_equal_those_counted_by_keras(model, profiles):
    assert {form: total(found, "params") for form, found in profiles.items()} == dict.fromkeys(
        profiles, model.count_params()
    )


def test_float_ops_are_the_same_for_all_forms_of_a_model(profiles):
    found = {total(profile, "float_ops") for profile in profiles.values()}

    assert len(found) == 1
    assert min(found) > 0


def test_float_ops_of_a_cnn_match_the_formula():
    outputs, channels = 6 * 6 * 4, 4
    convolution = 2 * outputs * (3 * 3 * 3) + outputs  # products, bias
    # Per channel: variance, its root (two), scale and offset; then applying both to all outputs.
    normalisation = channels * (1 + 2 + 1 + 1 + 1) + 2 * outputs
    dense = 2 * outputs * 10 + 10

    assert total(tfprof.load(cnn()), "float_ops") == (
        convolution + outputs + normalisation + dense  # with the activation
    )


def test_float_ops_of_an_unrolled_lstm_match_the_formula():
    steps, inputs, units = 5, 3, 4
    model = keras.Sequential(
        [keras.Input((steps, inputs)), layers.LSTM(units, unroll=True), layers.Dense(2)]
    )
    products = 2 * inputs * 4 * units + 2 * units * 4 * units
    sums = 2 * 4 * units  # of both products, and the bias
    # Three sigmoid gates of four operations, two hyperbolic tangents, and the new state.
    cell = 3 * 4 * units + 2 * units + (3 + 1) * units

    assert total(tfprof.load(model), "float_ops") == (
        steps * (products + sums + cell) + 2 * units * 2 + 2
    )


def test_matrix_products_of_a_transformer_match_the_formula():
    tokens, width, heads, size, hidden = 6, 8, 2, 4, 16
    projections = 4 * 2 * tokens * width * (heads * size)
    attention = 2 * 2 * heads * tokens * tokens * size  # scores and weighted sums
    feed_forward = 2 * 2 * tokens * width * hidden
    found = {
        row["name"]: row["float_ops"]
        for row in tfprof.load(transformer()).op(select=["float_ops"], max_depth=100)
    }

    products = sum(found[kind] for kind in ("Einsum", "BatchMatMulV2", "MatMul"))
    assert products == 2 * (projections + attention + feed_forward) + 2 * width * 3
    assert found["Softmax"] == 2 * 5 * heads * tokens * tokens


def test_uncounted_ops_are_the_same_for_all_forms_of_a_model(profiles):
    found = [profile.scope(select=["float_ops"]).uncounted for profile in profiles.values()]

    assert found == [found[0]] * len(found)


def test_an_exported_model_has_the_parameters_counted_by_keras(model, tmp_path):
    model.export(str(tmp_path / "exported"), verbose=False)

    profile = tfprof.load(tmp_path / "exported")

    assert total(profile, "params") == model.count_params()
    assert any("counted for a batch of 1" in note for note in profile.notes)


def test_an_exported_model_has_the_float_ops_of_the_given_batch_size(model, tmp_path):
    model.export(str(tmp_path / "exported"), verbose=False)

    exported = tfprof.load(tmp_path / "exported", batch_size=4)

    assert float_ops_by_kind(exported) == float_ops_by_kind(tfprof.load(model, batch_size=4))
    assert not any("unknown" in note for note in exported.scope(select=["float_ops"]).notes)


def float_ops_by_kind(profile):
    """The float ops of kinds that compute with examples, not with the batch size."""
    kinds = ("Conv2D", "MatMul", "BatchMatMulV2", "BiasAdd", "Softmax", "Rsqrt")
    found = {row["name"]: row["float_ops"] for row in profile.op(select=["float_ops"])}
    return {kind: found.get(kind) for kind in kinds}


def test_code_lines_are_from_the_program_and_not_from_tfprof():
    found = rows(tfprof.load(cnn()), "code", select=["float_ops"])

    assert any(name.startswith("test_programs.py") for name in found)
    assert not any(name.startswith(("loading.py", "programs.py")) for name in found)


def test_variables_belong_to_the_code_lines_that_read_them():
    model = cnn()
    code = tfprof.load(model).code(select=["params"], max_depth=100)

    assert code["_TFProfRoot"]["total_params"] == model.count_params()
    assert not any("capture_container.py" in row["name"] for row in code)


def test_variables_keep_their_names_and_trainable_ones_have_a_type():
    model = cnn()
    profile = tfprof.load(model)

    found = profile.scope(select=["params"], account_type_regexes=["_trainable_variables"])

    assert found["_TFProfRoot"]["total_params"] == sum(
        variable.shape.num_elements() for variable in (w.value for w in model.trainable_weights)
    )
    assert {weight.path for weight in model.trainable_weights} <= set(rows(profile))


def test_float_ops_grow_with_the_batch_size():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4, use_bias=False)])

    assert total(tfprof.load(model), "float_ops") == 2 * 3 * 4
    assert total(tfprof.load(model, batch_size=8), "float_ops") == 8 * 2 * 3 * 4
    assert total(tfprof.load(model, tf.zeros((5, 3))), "float_ops") == 5 * 2 * 3 * 4


def test_a_model_with_several_inputs_is_traced_with_all_of_them():
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
    model = keras.Model({"a": a, "b": b}, layers.Concatenate()([a, b]))

    assert {"a", "b"} <= set(rows(tfprof.load(model)))


def test_a_model_without_declared_inputs_requires_an_example():
    class Unknown(keras.Model):
        def call(self, x):
            return x

    with pytest.raises(tfprof.OptionError, match=r"pass an example, tfprof.load\(model, example\)"):
        tfprof.load(Unknown())


def test_a_model_with_inputs_of_any_size_requires_an_example():
    model = keras.Sequential([keras.Input((None, 3)), layers.Dense(4, use_bias=False)])

    with pytest.raises(tfprof.OptionError, match=r"accepts inputs of any size"):
        tfprof.load(model)

    assert total(tfprof.load(model, tf.zeros((1, 2, 3))), "params") == 12


def test_arguments_that_do_not_fit_the_program_are_rejected():
    function, spec = function_of(cnn())
    concrete = function.get_concrete_function(spec)

    with pytest.raises(tfprof.OptionError, match="already has its arguments"):
        tfprof.load(concrete, spec)
    with pytest.raises(tfprof.OptionError, match="`batch_size` is for Keras models"):
        tfprof.load(function, spec, batch_size=3)
    with pytest.raises(tfprof.OptionError, match="not both"):
        tfprof.load(cnn(), spec, batch_size=3)


def test_a_function_inside_a_function_is_below_its_call():
    @tf.function
    def inner(x):
        return tf.multiply(x, 2.0, name="twice")

    outer = tf.function(lambda x: inner(x) + 1.0)

    found = rows(tfprof.load(outer, tf.TensorSpec([3])))

    assert any(name.endswith("PartitionedCall/twice") for name in found)


@pytest.fixture(scope="module")
def with_unread():
    """A model with a weight that no call reads, a shared layer, a frozen one, and random state."""
    x = inputs = keras.Input((4,))
    normalization = layers.Normalization()
    shared, frozen = layers.Dense(4), layers.Dense(3)
    frozen.trainable = False
    x = shared(shared(normalization(x)))
    x = layers.Dropout(0.5)(x, training=True)
    return keras.Model(inputs, frozen(x))


def trainable(model):
    return sum(weight.numpy().size for weight in model.trainable_weights)


def test_parameters_of_a_model_are_all_its_weights(with_unread):
    profile = tfprof.load(with_unread)

    assert total(profile, "params") == with_unread.count_params() == 9 + 20 + 15
    assert trainable_total(profile) == trainable(with_unread) == 20


def test_parameters_of_an_exported_model_are_all_its_weights(with_unread, tmp_path):
    with_unread.export(tmp_path / "model", verbose=False)
    profile = tfprof.load(tmp_path / "model")

    assert total(profile, "params") == with_unread.count_params()
    assert trainable_total(profile) == trainable(with_unread)


def trainable_total(profile):
    options = {"max_depth": 1, "account_type_regexes": ["_trainable_variables"]}
    return profile.scope(select=["params"], **options)["_TFProfRoot"]["total_params"]


def test_parameters_of_a_quantised_model_are_its_weights(tmp_path):
    model = keras.Sequential([keras.Input((16,)), layers.Dense(8), layers.Dense(2)])
    model.quantize("int8")
    model.export(tmp_path / "model", verbose=False)

    assert total(tfprof.load(model), "params") == model.count_params()
    assert total(tfprof.load(tmp_path / "model"), "params") == model.count_params()
