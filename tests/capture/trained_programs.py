"""Training programs for `test_trained_programs.py`.

`python trained_programs.py FOLDER` records each of them, and writes what is known about the live
models to FOLDER/live.json.
"""

import gc
import json
import sys
import warnings
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import tfprof

EXAMPLES, BATCH = 20, 8
INPUTS = np.linspace(0, 1, EXAMPLES * 6 * 6 * 2, dtype="float32").reshape(EXAMPLES, 6, 6, 2)
LABELS = np.arange(EXAMPLES) % 3
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def model():
    """A model with trained, frozen and other parameters, and a layer named like an optimizer."""
    layers = [
        keras.Input((6, 6, 2)),
        keras.layers.Conv2D(3, 3, name="conv"),
        keras.layers.BatchNormalization(name="norm"),
        keras.layers.Dropout(0.1, name="dropout"),
        keras.layers.Flatten(name="flatten"),
        keras.layers.Dense(4, name="frozen"),
        keras.layers.Dense(3, name="adam"),
    ]
    made = keras.Sequential(layers, name="net")
    made.get_layer("frozen").trainable = False
    return made


def batches(**options):
    return tf.data.Dataset.from_tensor_slices((INPUTS, LABELS)).batch(BATCH, **options)


def fit(folder, live):
    made = model()
    made.compile(optimizer="adam", loss=LOSS, metrics=["accuracy"])
    with tfprof.capture(folder) as capture:
        made.fit(batches(), verbose=0)
    live |= facts(made) | {"notes": capture.notes}


def fit_whole(folder, live):
    """The same, without a last batch that is smaller."""
    made = model()
    made.compile(optimizer="adam", loss=LOSS, metrics=["accuracy"])
    with tfprof.capture(folder):
        made.fit(batches(drop_remainder=True), verbose=0)
    live |= facts(made)


def fit_arrays(folder, live):
    """The same, with arrays and a callback."""
    made = model()
    made.compile(optimizer="adam", loss=LOSS, metrics=["accuracy"])
    callback = tfprof.KerasCallback(folder, steps=(0, 2))
    made.fit(INPUTS, LABELS, batch_size=BATCH, verbose=0, callbacks=[callback])
    live |= facts(made)


def tape(folder, live):
    made, optimizer = model(), keras.optimizers.AdamW()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as recorded:
            loss = LOSS(y, made(x, training=True))
        gradients = recorded.gradient(loss, made.trainable_variables)
        optimizer.apply_gradients(zip(gradients, made.trainable_variables, strict=True))
        return loss

    with tfprof.capture(folder):
        for x, y in batches(drop_remainder=True):
            step(x, y)
    live |= facts(made) | ledger(tfprof.load(step, x, y))


def open_tape(folder, live):
    """A recurrent model whose training step accepts any batch size."""
    made, optimizer = recurrent(), keras.optimizers.SGD()

    def step(x, y):
        with tf.GradientTape() as recorded:
            loss = LOSS(y, made(x, training=True))
        gradients = recorded.gradient(loss, made.trainable_variables)
        optimizer.apply_gradients(zip(gradients, made.trainable_variables, strict=True))
        return loss

    shapes = [tf.TensorSpec((None, 6, 12)), tf.TensorSpec((None,), tf.int64)]
    any_size = tf.function(step, input_signature=shapes)
    rows = INPUTS.reshape(EXAMPLES, 6, 12)
    with tfprof.capture(folder):
        for first in (0, BATCH, 2 * BATCH):
            any_size(tf.constant(rows[first : first + BATCH]), LABELS[first : first + BATCH])
    one_size = tf.function(step)
    fed = tf.constant(rows[:BATCH]), tf.constant(LABELS[:BATCH])
    live |= facts(made) | ledger(tfprof.load(one_size, *fed))


def fit_recurrent(folder, live):
    """A recurrent model, trained with arrays."""
    made = recurrent()
    live |= facts(made) | trained(made, folder)


def fit_several(folder, live):
    """The same, with two batches per call of the traced function."""
    made = recurrent()
    live |= facts(made) | trained(made, folder, steps_per_execution=2)


def trained(made, folder, **options):
    """Record the training of a model; returns the float operations and MACs of one live step."""
    rows, labels = INPUTS.reshape(EXAMPLES, 6, 12)[:16], LABELS[:16]
    made.compile(optimizer="sgd", loss=LOSS, **options)
    with tfprof.capture(folder):
        made.fit(rows, labels, batch_size=BATCH, verbose=0)
    step = tf.function(lambda x, y: made.train_step((x, y)))
    found = tfprof.load(step, tf.constant(rows[:BATCH]), tf.constant(labels[:BATCH]))
    return ledger(found) | {"macs": found.flops().to_dict()["macs"]}


def fit_replicas(folder, live):
    """A model on two replicas, which have a copy of each variable."""
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        made = keras.Sequential([keras.Input((12,)), keras.layers.Dense(3)], name="replicated")
        made.compile(optimizer="adam", loss=LOSS)
    rows = INPUTS.reshape(-1, 12)[:16]
    with tfprof.capture(folder):
        made.fit(rows, np.arange(16) % 3, batch_size=BATCH, verbose=0)
    live |= facts(made)


def recurrent():
    layers = [keras.Input((6, 12)), keras.layers.LSTM(4, name="lstm"), keras.layers.Dense(3)]
    return keras.Sequential(layers, name="recurrent")


def dropped(folder, live):
    """A program whose model no longer exists when the recording stops."""

    def train():
        made = model()
        made.compile(optimizer="sgd", loss=LOSS)
        made.fit(batches(), verbose=0)
        return facts(made)

    with tfprof.capture(folder):
        live |= train()
        gc.collect()


def facts(made):
    trained = sum(int(np.prod(weight.shape)) for weight in made.trainable_weights)
    return {"params": made.count_params(), "trainable": trained}


def ledger(profile):
    """The float operations by phase."""
    found = profile.flops().to_dict()
    return {key: found[key] for key in ("forward", "backward", "optimizer")}


PROGRAMS = {
    "fit": fit,
    "fit_whole": fit_whole,
    "fit_arrays": fit_arrays,
    "tape": tape,
    "open_tape": open_tape,
    "fit_recurrent": fit_recurrent,
    "fit_several": fit_several,
    "fit_replicas": fit_replicas,
    "dropped": dropped,
}


def main(folder):
    warnings.simplefilter("ignore")
    (cpu,) = tf.config.list_physical_devices("CPU")
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    live = {}
    make = keras.layers.Layer.__init__
    for name, program in PROGRAMS.items():
        live[name] = {}
        program(folder / name, live[name])
        live[name]["is_restored"] = keras.layers.Layer.__init__ is make
    (folder / "live.json").write_text(json.dumps(live), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
