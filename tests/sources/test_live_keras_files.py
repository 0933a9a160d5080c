"""Files written by Keras: parameters and output shapes are those of the model."""

import numpy as np
import pytest

import tfprof
from live_programs import only_own_warnings
from tfprof.measures.numbers import EVERYTHING, per_op

keras = pytest.importorskip("keras")
layers = keras.layers

pytestmark = [pytest.mark.live, only_own_warnings]


def shared_and_nested():
    """Two towers with the same layers, a part of them in another model, and a frozen model."""
    base = keras.Sequential(
        [keras.Input((4,)), layers.Dense(4), layers.BatchNormalization()], name="base"
    )
    base.trainable = False
    part = keras.Model(base.inputs, layers.Dense(2)(base.outputs[0]), name="part")
    one, two = keras.Input((4,)), keras.Input((4,))
    both = layers.Concatenate()([base(one), base(two)])
    return keras.Model([one, two], [layers.Dense(3)(both), part(one)])


def recurrent():
    return keras.Sequential(
        [
            keras.Input((7,)),
            layers.Embedding(20, 6),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
            layers.TimeDistributed(layers.Dense(3)),
            layers.GRU(5, use_bias=False),
            layers.Dropout(0.3),
        ]
    )


def attention():
    start = keras.Input((6, 8))
    x = layers.MultiHeadAttention(2, 4)(start, start)
    x = layers.LayerNormalization()(layers.Add()([start, x]))
    return keras.Model(start, layers.Dense(8)(x) + x)


def images():
    return keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            layers.Normalization(),
            layers.RandomFlip(),
            layers.Conv2D(4, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(scale=False),
            layers.SeparableConv2D(6, 3),
            layers.SpectralNormalization(layers.Conv2D(2, 1)),
            layers.PReLU(),
            layers.GlobalMaxPooling2D(),
        ]
    )


def quantised():
    model = keras.Sequential([layers.Dense(4), layers.Dense(2)])
    model.build((None, 8))
    model.quantize("int8")
    return model


class Handwritten(keras.Model):
    """A model whose layers are attributes, in a list and in a dictionary."""

    def __init__(self, **options):
        super().__init__(**options)
        self.first = layers.Dense(3)
        self.more = [layers.Dense(3), keras.Sequential([layers.Dense(3)])]
        self.last = {"head": layers.Dense(2)}
        self.scale = self.add_weight(shape=(5,))

    def call(self, x):
        for layer in (self.first, *self.more, self.last["head"]):
            x = layer(x)
        return x


def handwritten():
    model = Handwritten()
    model(np.zeros((1, 4)))
    return model


CONFIGURED = [shared_and_nested, recurrent, attention, images, quantised]
BUILDERS = [*CONFIGURED, handwritten]  # its file has no configuration of its layers


@pytest.fixture(scope="module", params=BUILDERS, ids=lambda builder: builder.__name__)
def model(request):
    return request.param()


@pytest.fixture(params=[".keras", ".h5", ".weights.h5"])
def saved(request, model, tmp_path):
    path = tmp_path / f"model{request.param}"
    (model.save_weights if "weights" in request.param else model.save)(path)
    return path


def size(weights):
    return sum(int(np.prod(weight.shape)) for weight in weights)


def test_parameters_are_those_of_the_model(model, saved):
    columns = tfprof.load(saved).columns
    params = per_op(columns, EVERYTHING)["params"]
    trainable = [
        row
        for row in range(len(columns.ops))
        if "_trainable_variables" in columns.ops.types.of(row)
    ]

    assert params.sum() == model.count_params()
    if not saved.name.endswith(".weights.h5"):  # does not say which layers are frozen
        assert params[trainable].sum() == size(model.trainable_weights)


def described(model, path=""):
    """The layers of a model and of the models in it, and their output shapes, as in `summary`."""
    is_chain = isinstance(model, keras.Sequential)
    for layer in model.layers if is_chain else model.operations:
        here = f"{path}{layer.name}"
        shape = getattr(layer.output, "shape", None)
        yield here, shape and tuple(-1 if dim is None else dim for dim in shape)
        if isinstance(layer, keras.Model):
            yield from described(layer, f"{here}/")


@pytest.mark.parametrize("model", CONFIGURED, ids=lambda make: make.__name__, indirect=True)
def test_layers_are_those_of_the_model(model, tmp_path):
    model.save(tmp_path / "model.keras")

    columns = tfprof.load(tmp_path / "model.keras").columns

    found = [
        (columns.layers.name[row], columns.layers.output_shape[row])
        for row in range(len(columns.layers))
    ]
    assert found == list(described(model))
