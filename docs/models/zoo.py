"""The models of the page: those of `keras.applications`, and one for each other kind of layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import keras
import tensorflow as tf
from keras import layers

from models.names import APPLICATIONS

# TensorFlow and Keras have no type information.
Model: TypeAlias = Any
Tensor: TypeAlias = Any

_STEPS, _FEATURES, _CLASSES = 32, 16, 10


def u_net() -> Model:
    """A U-Net of two levels, with transposed convolution, resizing and skip connections."""
    image = keras.Input((64, 64, 3))
    outer = _twice(image, 16)
    inner = _twice(layers.MaxPooling2D()(outer), 32)
    bottom = _twice(layers.MaxPooling2D()(inner), 64)
    up = layers.Conv2DTranspose(32, 2, strides=2)(bottom)
    up = _twice(layers.Concatenate()([up, inner]), 32)
    up = layers.Conv2D(16, 2, padding="same")(layers.UpSampling2D(interpolation="bilinear")(up))
    up = _twice(layers.Concatenate()([layers.ZeroPadding2D(0)(up), outer]), 16)
    return keras.Model(image, layers.Conv2D(2, 1, activation="softmax")(up), name="u_net")


def _twice(tensor: Tensor, filters: int) -> Tensor:
    for _ in range(2):
        tensor = layers.Conv2D(filters, 3, padding="same", use_bias=False)(tensor)
        tensor = layers.ReLU()(layers.BatchNormalization()(tensor))
    return tensor


def lstm() -> Model:
    return _classifier(layers.LSTM(24, return_sequences=True), layers.LSTM(16), name="lstm")


def gru() -> Model:
    return _classifier(layers.GRU(24, return_sequences=True), layers.GRU(16), name="gru")


def bidirectional() -> Model:
    """Two bidirectional layers over tokens."""
    tokens = keras.Input((_STEPS,), dtype="int32")
    vectors = layers.Embedding(1000, _FEATURES)(tokens)
    vectors = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(vectors)
    vectors = layers.Bidirectional(layers.GRU(8))(vectors)
    return keras.Model(tokens, layers.Dense(_CLASSES)(vectors), name="bidirectional")


def _classifier(*hidden: Model, name: str) -> Model:
    steps = keras.Input((_STEPS, _FEATURES))
    tensor = steps
    for layer in hidden:
        tensor = layer(tensor)
    return keras.Model(steps, layers.Dense(_CLASSES, activation="softmax")(tensor), name=name)


def transformer() -> Model:
    """An encoder of two blocks with self-attention."""
    tokens = keras.Input((_STEPS,), dtype="int32")
    vectors = layers.Embedding(1000, 48)(tokens)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 12, dropout=0.1)(vectors, vectors)
        vectors = layers.LayerNormalization()(vectors + attended)
        widened = layers.Dense(96, activation="gelu")(vectors)
        vectors = layers.LayerNormalization()(vectors + layers.Dense(48)(widened))
    pooled = layers.GlobalAveragePooling1D()(vectors)
    return keras.Model(tokens, layers.Dense(_CLASSES)(pooled), name="transformer")


def conv_lstm() -> Model:
    frames = keras.Input((6, 16, 16, 3))
    tensor = layers.ConvLSTM2D(8, 3, padding="same")(frames)
    pooled = layers.GlobalAveragePooling2D()(tensor)
    return keras.Model(frames, layers.Dense(_CLASSES)(pooled), name="conv_lstm")


def convolutions_1d() -> Model:
    """Separable, depthwise, grouped, dilated, causal and transposed convolutions of sequences."""
    steps = keras.Input((64, 8))
    tensor = layers.SeparableConv1D(16, 3, padding="same")(steps)
    tensor = layers.DepthwiseConv1D(3, padding="same", depth_multiplier=2)(tensor)
    tensor = layers.Conv1D(32, 3, groups=4, strides=2, padding="same")(tensor)
    tensor = layers.Conv1D(16, 3, dilation_rate=2, padding="causal")(tensor)
    tensor = layers.Conv1DTranspose(8, 3, strides=2, padding="same")(tensor)
    pooled = layers.GlobalMaxPooling1D()(layers.ZeroPadding1D(1)(tensor))
    return keras.Model(steps, layers.Dense(_CLASSES)(pooled), name="convolutions_1d")


def convolutions_2d() -> Model:
    """Separable, depthwise, grouped, dilated and transposed convolutions of images."""
    image = keras.Input((32, 32, 8))
    tensor = layers.SeparableConv2D(16, 3, padding="same")(image)
    tensor = layers.DepthwiseConv2D(3, strides=2, padding="same", depth_multiplier=2)(tensor)
    tensor = layers.Conv2D(32, 3, groups=4, padding="same")(tensor)
    tensor = layers.Conv2D(16, 3, dilation_rate=2)(tensor)
    tensor = layers.Conv2DTranspose(8, 3, strides=2, padding="same")(tensor)
    pooled = layers.GlobalMaxPooling2D()(layers.Cropping2D(1)(tensor))
    return keras.Model(image, layers.Dense(_CLASSES)(pooled), name="convolutions_2d")


class ControlFlow(tf.Module):
    """A `tf.function` for batches of any size, with a loop and a condition."""

    def __init__(self, size: int = 24) -> None:
        super().__init__()
        self.size = size
        self.square = tf.Variable(tf.ones((size, size)), name="square")
        self.last = tf.Variable(tf.ones((size, _CLASSES)), name="last")

    def __call__(self, batch: Tensor) -> Tensor:
        for _ in tf.range(5):
            batch = tf.nn.relu(batch @ self.square)
        if tf.reduce_sum(batch) > 0.0:
            batch = batch - tf.reduce_mean(batch, axis=0)
        return tf.nn.softmax(batch @ self.last)


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the page: a Keras model, or a module with a function."""

    name: str
    build: Callable[[], Model]
    is_frozen: bool = False  # also measure a frozen graph
    is_keras: bool = True


CUSTOM = (
    Entry("u_net", u_net, is_frozen=True),
    Entry("lstm", lstm, is_frozen=True),
    Entry("gru", gru),
    Entry("bidirectional", bidirectional),
    Entry("transformer", transformer, is_frozen=True),
    Entry("conv_lstm", conv_lstm),
    Entry("convolutions_1d", convolutions_1d),
    Entry("convolutions_2d", convolutions_2d),
    Entry("control_flow", ControlFlow, is_keras=False),
)


# Images of any size are the default of these.
_SIZES = {name: {"input_shape": (224, 224, 3)} for name in ("MobileNetV3Small", "MobileNetV3Large")}


def application(name: str) -> Entry:
    """A model of `keras.applications`, with its default input and without weights to download."""
    kind = getattr(keras.applications, name)
    return Entry(
        name,
        lambda: kind(weights=None, **_SIZES.get(name, {})),
        is_frozen=name in {"MobileNetV2", "ResNet50"},
    )


ENTRIES = {entry.name: entry for entry in (*CUSTOM, *map(application, APPLICATIONS))}

SMALL_APPLICATION = Entry(
    "mobilenet_32",
    lambda: keras.applications.MobileNet(input_shape=(32, 32, 3), alpha=0.25, weights=None),
)
