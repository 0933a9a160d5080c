"""Trains a small model and records 30 steps; with `double`, attention is computed in float64."""

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import tfprof

BATCH, LENGTH, WIDTH = 32, 64, 96
FIRST, STEPS = 10, 30  # the first steps trace functions and warm up
EXAMPLES = BATCH * (FIRST + STEPS)


class Attention(layers.Layer):
    def __init__(self, dtype_of_scores, **others):
        super().__init__(**others)
        self.dtype_of_scores = dtype_of_scores

    def build(self, _shape):
        self.query, self.key, self.value = (
            self.add_weight(shape=(WIDTH, WIDTH), initializer="glorot_uniform") for _ in range(3)
        )

    def call(self, inputs):
        query = tf.cast(inputs @ self.query, self.dtype_of_scores)
        key = tf.cast(inputs @ self.key, self.dtype_of_scores)
        weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / WIDTH**0.5)
        return inputs + tf.cast(weights, inputs.dtype) @ (inputs @ self.value)


def main(folder, dtype_of_scores):
    model = keras.Sequential(
        [
            layers.Input((LENGTH, WIDTH)),
            layers.Conv1D(WIDTH, 3, padding="same", activation="relu", name="local"),
            Attention(dtype_of_scores, name="attention"),
            layers.Dense(3 * WIDTH, activation="relu", name="up"),
            layers.Dense(WIDTH, name="down"),
            layers.GlobalAveragePooling1D(name="pool"),
            layers.Dense(10, name="classes"),
        ],
        name="model",
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="sgd", loss=loss)
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((EXAMPLES, LENGTH, WIDTH), dtype=np.float32)
    recorded = tfprof.KerasCallback(folder, steps=(FIRST, FIRST + STEPS), overwrite=True)
    labels = np.arange(EXAMPLES) % 10
    model.fit(inputs, labels, batch_size=BATCH, verbose=0, callbacks=[recorded])


if __name__ == "__main__":
    main(sys.argv[1], "float64" if "double" in sys.argv else "float32")
