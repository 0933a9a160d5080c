"""Writes the files of this folder with TensorFlow and Keras 3."""

import shutil
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent


def model() -> keras.Model:
    """A model with random layers, moving averages, a nested model and a frozen layer."""
    inner = keras.Sequential([keras.layers.Dense(3, name="first")], name="inner")
    frozen = keras.layers.Dense(3, name="frozen")
    frozen.trainable = False
    image = keras.Input((8, 8, 3), name="image")
    x = keras.layers.RandomFlip(name="flip")(image)
    x = keras.layers.Conv2D(4, 3, name="conv")(x)
    x = keras.layers.BatchNormalization(name="norm")(x)
    x = keras.layers.Dropout(0.5, name="drop")(x)
    x = keras.layers.GlobalAveragePooling2D(name="pool")(x)
    x = frozen(inner(x))
    x = keras.layers.Dense(2, name="head")(x)
    return keras.Model(image, x, name="small")


def main() -> None:
    for name in ("training", "archive"):
        shutil.rmtree(HERE / name, ignore_errors=True)
    keras.utils.set_random_seed(1)
    small = model()
    small.compile(optimizer=keras.optimizers.Adam(), loss="mse")
    small.fit(np.zeros((2, 8, 8, 3)), np.zeros((2, 2)), verbose=0)
    checkpoint = tf.train.Checkpoint(net=small, opt=small.optimizer)
    checkpoint.save(str(HERE / "training" / "ckpt"))
    small.export(str(HERE / "archive"), verbose=False)
    for left_over in ("saved_model.pb", "fingerprint.pb", "assets"):
        path = HERE / "archive" / left_over
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for name in ("small.keras", "small.h5"):
        small.save(HERE / name)
    print(small.count_params())


if __name__ == "__main__":
    main()
