"""Keras models for `test_keras_layers.py`.

`python layered_programs.py FOLDER` writes for each model what the live model says about its layers
(NAME.json), the live profile (NAME.tfprof), an exported SavedModel (NAME.export), one of
`tf.saved_model.save` (NAME.saved), and recordings of training (NAME.fit, NAME.tape and
NAME.callback).
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import tfprof

EXAMPLES = 8


def functional():
    """A model with a nested model and a layer that are both called twice."""
    image = keras.Input((4, 4, 2))
    inner = keras.Input((4, 4, 3))
    convolved = layers.Conv2D(3, 3, padding="same", name="conv")(inner)
    block = keras.Model(inner, layers.Add(name="plus")([convolved, inner]), name="block")
    shared = layers.Dense(3, activation="relu", name="shared")
    x = layers.Conv2D(3, 1, name="stem")(image)
    x = layers.BatchNormalization(name="norm")(x)
    x = block(block(layers.ReLU(name="relu")(x)))
    x = shared(shared(layers.GlobalAveragePooling2D(name="pool")(x)))
    x = layers.Dropout(0.5, name="drop")(x)
    return keras.Model(image, layers.Dense(3, name="head")(x), name="net")


def sequential():
    """A model whose layers have the names that Keras gives them."""
    inner = keras.Sequential([layers.Dense(4), layers.Dense(4)], name="inner")
    return keras.Sequential([keras.Input((4, 4, 2)), layers.Flatten(), layers.Dense(4), inner])


class Block(layers.Layer):
    """A layer with layers of its own."""

    def __init__(self, **options):
        super().__init__(**options)
        self.norm = layers.LayerNormalization()
        self.attention = layers.MultiHeadAttention(2, 3)

    def call(self, x):
        normed = self.norm(x)
        return x + self.attention(normed, normed)


class Subclassed(keras.Model):
    """A model with layers in attributes and lists."""

    def __init__(self):
        super().__init__(name="subclassed")
        self.reshape = layers.Reshape((16, 2))
        self.blocks = [Block(name=f"block{place}") for place in range(2)]
        self.pool = layers.GlobalAveragePooling1D()
        self.head = layers.Dense(3)

    def call(self, x):
        x = self.reshape(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(x)) * 2.0


MODELS = {"functional": functional, "sequential": sequential, "subclassed": Subclassed}
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def data():
    inputs = np.linspace(0, 1, EXAMPLES * 32, dtype="float32").reshape(EXAMPLES, 4, 4, 2)
    return inputs, np.arange(EXAMPLES) % 3


def facts(model):
    """The number of parameters of each layer of the model, by name, and of the whole model."""
    of_layers = {layer.name: layer.count_params() for layer in model.layers}
    return {"params": model.count_params(), "layers": of_layers}


def train(model, folder, name):
    inputs, labels = data()
    model.compile(optimizer="adam", loss=LOSS, metrics=["accuracy"])
    model.fit(inputs, labels, batch_size=4, verbose=0)
    with tfprof.capture(folder / f"{name}.fit"):
        model.fit(inputs, labels, batch_size=4, verbose=0)
    callback = tfprof.KerasCallback(folder / f"{name}.callback", steps=(1, 3))
    model.fit(inputs, labels, batch_size=2, verbose=0, callbacks=[callback])


def tape(model, folder, name):
    inputs, labels = data()
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as recorded:
            loss = LOSS(y, model(x, training=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(recorded.gradient(loss, weights), weights, strict=True))
        return loss

    step(inputs[:4], labels[:4])
    with tfprof.capture(folder / f"{name}.tape"):
        for start in range(0, EXAMPLES, 4):
            step(inputs[start : start + 4], labels[start : start + 4])


def run(folder, name):
    model = MODELS[name]()
    example = data()[0][:4]
    model(example)
    (folder / f"{name}.json").write_text(json.dumps(facts(model)), "utf-8")
    tfprof.load(model, example).save(folder / f"{name}.tfprof")
    model.export(folder / f"{name}.export", verbose=False)
    tf.saved_model.save(model, str(folder / f"{name}.saved"))
    train(model, folder, name)
    tape(model, folder, name)


def main():
    if len(sys.argv) == 2:  # the program of `tfprof run`
        model = MODELS[sys.argv[1]]()
        model.compile(optimizer="adam", loss=LOSS)
        model.fit(*data(), batch_size=4, verbose=0)
        return
    folder = Path(sys.argv[2])
    warnings.simplefilter("ignore")
    for name in MODELS:
        run(folder, name)
    command = [sys.executable, "-m", "tfprof", "run", "--outfile", str(folder / "functional.run")]
    subprocess.run([*command, __file__, "functional"], check=True, env=os.environ)


main()
