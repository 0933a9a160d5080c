"""A small classifier: `python model.py export FOLDER`, or `tfprof run model.py train`."""

import sys

import keras
import numpy as np

STEPS, BATCH = 40, 32


def build():
    """The model that has budgets."""
    image = keras.Input((28, 28, 1), name="image")
    x = keras.layers.Conv2D(16, 3, activation="relu", name="conv")(image)
    x = keras.layers.MaxPooling2D(name="pool")(x)
    x = keras.layers.Flatten(name="flatten")(x)
    x = keras.layers.Dense(64, activation="relu", name="hidden")(x)
    return keras.Model(image, keras.layers.Dense(10, name="logits")(x), name="classifier")


def train(model):
    """A few steps on random images; the time of a step does not depend on their content."""
    random = np.random.default_rng(0)
    images = random.random((STEPS * BATCH, 28, 28, 1), dtype="float32")
    labels = random.integers(0, 10, STEPS * BATCH)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss)
    model.fit(images, labels, batch_size=BATCH, epochs=1, verbose=0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["export"]:
        build().export(sys.argv[2], verbose=False)
    else:
        train(build())
