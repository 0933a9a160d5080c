"""Trains a small Keras model, for `test_tensorflow_smoke.py`.

`python tensorflow_smoke_program.py FOLDER` records a training from its start in FOLDER/whole, and
two steps of another one in FOLDER/callback. It saves the traced model in FOLDER/traced, and a
training step in FOLDER/function.
"""

import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import tfprof

LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
IMAGES = np.linspace(0, 1, 10 * 4 * 4 * 2, dtype="float32").reshape(10, 4, 4, 2)
LABELS = np.arange(10) % 3


def model():
    """A frozen layer, a layer with state, one that is called twice."""
    image = keras.Input((4, 4, 2))
    twice = layers.Dense(3, activation="relu", name="twice")
    x = layers.Conv2D(3, 3, name="conv")(image)  # conv
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.Dense(3, name="frozen", trainable=False)(layers.Flatten(name="flatten")(x))
    made = keras.Model(image, layers.Dense(3, name="head")(twice(twice(x))), name="net")
    made.compile(optimizer="adam", loss=LOSS)
    return made


def main(folder):
    with tfprof.capture(folder / "whole"):
        net = model()
        net.fit(IMAGES, LABELS, batch_size=4, verbose=0)
    callback = tfprof.KerasCallback(folder / "callback", steps=(1, 3))
    net.fit(IMAGES[:8], LABELS[:8], batch_size=2, verbose=0, callbacks=[callback])
    tfprof.load(net, batch_size=4).save(folder / "traced")

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = LOSS(labels, net(images, training=True))
        return tape.gradient(loss, net.trainable_variables)

    tfprof.load(step, IMAGES[:4], LABELS[:4]).save(folder / "function")
    print("trained")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
