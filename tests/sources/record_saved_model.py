"""A script that writes the SavedModel in tests/samples with TensorFlow."""

import gzip
import shutil
import tempfile
from pathlib import Path

import tensorflow as tf
from tensorflow.core.framework.graph_debug_info_pb2 import GraphDebugInfo

FOLDER = Path(__file__).parent.parent / "samples" / "tensorflow" / "saved_model"


class Small(tf.Module):
    """A model with a function, a loop, a conditional and two signatures."""

    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.reshape(tf.range(12.0), [3, 4]), name="dense/kernel")
        self.bias = tf.Variable(tf.ones([4]), name="dense/bias", trainable=False)
        self.square = tf.Variable(tf.eye(4), name="square")
        self.unused = tf.Variable(tf.zeros([100]), name="unused")

    @tf.function
    def dense(self, x):
        return tf.matmul(x, self.kernel, name="product") + self.bias

    @tf.function(input_signature=[tf.TensorSpec([2, 3], name="x")])
    def predict(self, x):
        y = self.dense(x)
        tf.matmul(y, self.square, name="for_nobody")
        y = tf.while_loop(
            lambda i, _: i < 5,
            lambda i, y: (i + 1, tf.matmul(y, self.square, name="round")),
            [0, y],
            name="loop",
        )[1]
        return tf.cond(
            tf.reduce_sum(y) > 0.0,
            lambda: tf.matmul(y, self.square, name="positive"),
            lambda: tf.negative(y, name="negative"),
            name="choice",
        )

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
    def any_size(self, x):
        return self.dense(x)


def save(folder: Path) -> None:
    """Save the model; the files in its code lines are named without folders."""
    model = Small()
    signatures = {"serving_default": model.predict, "any_size": model.any_size}
    options = tf.saved_model.SaveOptions(save_debug_info=True)
    tf.saved_model.save(model, str(folder), signatures=signatures, options=options)
    debug = folder / "debug" / "saved_model_debug_info.pb"
    info = GraphDebugInfo.FromString(debug.read_bytes())
    info.files[:] = [Path(file).name for file in info.files]
    debug.write_bytes(info.SerializeToString())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        save(Path(found))
        shutil.rmtree(FOLDER, ignore_errors=True)
        for file in filter(Path.is_file, Path(found).rglob("*")):
            packed = FOLDER / f"{file.relative_to(found)}.gz"
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
