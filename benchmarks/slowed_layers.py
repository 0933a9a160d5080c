"""Trains a small Keras model and records 30 steps; one of its layers can be slowed.

    python benchmarks/slowed_layers.py FOLDER [LAYER]

The slowed layer computes the same as before with more work. `diff_recordings.py` compares
recordings with and without a slowed layer.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import tensorflow as tf
from keras import Sequential, layers

import tfprof

BATCH, LENGTH, WIDTH = 32, 64, 96
FIRST, STEPS = 10, 30  # the first steps trace functions and warm up

double = partial(tf.cast, dtype=tf.float64)
PLACES = np.arange(LENGTH * WIDTH, dtype=np.float32)


class SlowableLayer(layers.Layer):
    """A layer with two ways to compute its result."""

    def __init__(self, name, slowed):
        super().__init__(name=name)
        self.is_slow = name == slowed

    def weight(self, *shape):
        return self.add_weight(shape=shape, initializer="glorot_uniform")


class Local(SlowableLayer):
    """Combines neighbouring positions."""

    def build(self, _shape):
        self.kernel = self.weight(3, WIDTH, WIDTH)

    def call(self, inputs):
        if self.is_slow:  # a window of eleven positions, eight of which have no weight
            kernel = tf.pad(self.kernel, [[4, 4], [0, 0], [0, 0]])
            near = tf.nn.conv1d(inputs, kernel, 1, "SAME")  # slow local
        else:
            near = tf.nn.conv1d(inputs, self.kernel, 1, "SAME")
        return inputs + tf.nn.relu(near)


class Scale(SlowableLayer):
    """Divides each position by its size."""

    def build(self, _shape):
        self.gain = self.weight(1, WIDTH)

    def call(self, inputs):
        if self.is_slow:  # the products of all pairs of positions, most of which are not used
            wide = tf.concat([inputs] * 4, -1)
            products = tf.matmul(wide, wide, transpose_b=True)  # slow scale
            squares = tf.linalg.diag_part(products)[..., tf.newaxis] / 4
        else:
            squares = tf.reduce_sum(tf.square(inputs), -1, keepdims=True)
        return inputs * tf.math.rsqrt(squares / WIDTH + 1e-6) * self.gain


class Position(SlowableLayer):
    """Adds a wave along the positions, which Python computes in each step."""

    def call(self, inputs):
        wave = tf.numpy_function(self.wave, [], tf.float32)  # slow position
        return inputs + tf.reshape(wave, (LENGTH, WIDTH))

    def wave(self):
        return np.mean([np.sin(PLACES + turn) for turn in range(450 if self.is_slow else 5)], 0)


class Attention(SlowableLayer):
    """Combines all positions, weighted by their similarity."""

    def build(self, _shape):
        self.query, self.key, self.value = (self.weight(WIDTH, WIDTH) for _ in range(3))

    def call(self, inputs):
        query, key = inputs @ self.query, inputs @ self.key
        if self.is_slow:  # in double precision
            scores = tf.matmul(double(query), double(key), transpose_b=True)  # slow attention
        else:
            scores = tf.matmul(query, key, transpose_b=True)
        weights = tf.cast(tf.nn.softmax(scores / WIDTH**0.5), tf.float32)
        return inputs + weights @ (inputs @ self.value)


class FeedForward(SlowableLayer):
    """Two dense layers, position by position."""

    def build(self, _shape):
        self.up, self.down = self.weight(WIDTH, 3 * WIDTH), self.weight(3 * WIDTH, WIDTH)

    def call(self, inputs):
        if self.is_slow:  # with a second half of columns, which are not used
            up = tf.pad(self.up, [[0, 0], [0, 3 * WIDTH]])
            wide = (inputs @ up)[..., : 3 * WIDTH]  # slow feed_forward
        else:
            wide = inputs @ self.up
        return inputs + tf.nn.relu(wide) @ self.down


def model(slowed):
    return Sequential(
        [
            layers.Input((LENGTH, WIDTH)),
            Position("position", slowed),
            Local("local", slowed),
            Scale("scale", slowed),
            Attention("attention", slowed),
            FeedForward("feed_forward", slowed),
            layers.GlobalAveragePooling1D(),
            layers.Dense(10),
        ],
        name="model",
    )


def main(folder, slowed=""):
    built = model(slowed)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    built.compile(optimizer="sgd", loss=loss)
    count = BATCH * (FIRST + STEPS)
    inputs = np.random.default_rng(0).standard_normal((count, LENGTH, WIDTH), dtype=np.float32)
    recorded = tfprof.KerasCallback(folder, steps=(FIRST, FIRST + STEPS), overwrite=True)
    built.fit(inputs, np.arange(count) % 10, batch_size=BATCH, verbose=0, callbacks=[recorded])


if __name__ == "__main__":
    main(*sys.argv[1:])
