"""Records the sample: run `python make.py` in this folder; requires TensorFlow.

Then store the numbers of XProf with `benchmarks/xprof_times.py`, as README.md says.
"""

import gzip
import shutil
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

import tfprof

HERE = Path(__file__).parent
NEUTRAL = Path(tempfile.gettempdir()) / "capture"  # a recording contains the name of its folder


def data():
    """A pipeline with nested datasets and functions."""
    images = np.random.default_rng(0).random((48, 8), dtype=np.float32)
    found = tf.data.Dataset.range(2).interleave(
        lambda _: tf.data.Dataset.from_tensor_slices(images).map(lambda x: x * 2.0 - 1.0),
        num_parallel_calls=2,
    )
    return found.batch(16).prefetch(1)


def main():
    weights = tf.Variable(tf.random.stateless_normal((8, 8), (1, 2)))

    @tf.function
    def step(inputs):
        with tf.GradientTape() as tape:
            hidden = inputs
            for _ in tf.range(3):
                hidden = tf.tanh(hidden @ weights)
            loss = tf.reduce_mean(tf.square(hidden))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for inputs in data().take(1):
        step(inputs)
    with tfprof.capture(NEUTRAL):
        total = 0.0
        for inputs in data().take(3):
            total = total + step(inputs)
    (recording,) = NEUTRAL.rglob("*.xplane.pb")
    (HERE / "tape.xplane.pb.gz").write_bytes(gzip.compress(recording.read_bytes(), mtime=0))
    shutil.rmtree(NEUTRAL)


if __name__ == "__main__":
    main()
