"""Writes the files of this folder: needs TensorFlow 2 and the graph of examples/resnet32."""

import gzip
import shutil
from pathlib import Path

import keras
import tensorflow as tf

HERE = Path(__file__).parent
v1 = tf.compat.v1


def resnet(units):
    """The inference graph of a ResNet for CIFAR-10 with 6 * units + 2 layers."""

    def conv(x, size, filters, stride):
        weights = v1.get_variable("DW", [size, size, x.shape[-1], filters], tf.float32)
        return tf.nn.conv2d(x, weights, [1, stride, stride, 1], "SAME")

    def norm(x):
        filters = x.shape[-1]
        with v1.variable_scope("bn"):
            beta, gamma = (v1.get_variable(name, [filters]) for name in ("beta", "gamma"))
            mean, variance = (
                v1.get_variable(name, [filters], trainable=False) for name in ("mean", "variance")
            )
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 0.001)

    graph = tf.Graph()
    with graph.as_default():
        queue = v1.FIFOQueue(8, [tf.float32], [[128, 32, 32, 3]], name="images")
        x = queue.dequeue()
        with v1.variable_scope("init"):
            x = conv(x, 3, 16, 1)
        for stage, filters in enumerate((16, 32, 64), 1):
            for unit in range(units):
                stride = 2 if stage > 1 and unit == 0 else 1
                with v1.variable_scope(f"unit_{stage}_{unit}"):
                    shortcut = x
                    for sub in (1, 2):
                        with v1.variable_scope(f"sub{sub}"):
                            x = tf.nn.relu(norm(x))
                            x = conv(x, 3, filters, stride if sub == 1 else 1)
                    if stride == 2:
                        shortcut = tf.nn.avg_pool2d(shortcut, 2, 2, "VALID")
                        more = (filters - shortcut.shape[-1]) // 2
                        shortcut = tf.pad(shortcut, [[0, 0], [0, 0], [0, 0], [more, more]])
                    x += shortcut
        with v1.variable_scope("unit_last"):
            x = tf.reduce_mean(tf.nn.relu(norm(x)), [1, 2])
        with v1.variable_scope("logit"):
            weights, biases = v1.get_variable("DW", [64, 10]), v1.get_variable("biases", [10])
            v1.nn.xw_plus_b(x, weights, biases)
    return graph.as_graph_def(add_shapes=True)


def keras_model(*, with_attention):
    """A small model of sequences; attention is added between the others."""
    keras.utils.set_random_seed(1)
    inputs = keras.Input((16, 32), name="tokens")
    x = keras.layers.Dense(64, activation="relu", name="embed")(inputs)
    if with_attention:
        x = keras.layers.MultiHeadAttention(2, 16, name="attention")(x, x)
    x = keras.layers.GlobalAveragePooling1D(name="pool")(x)
    x = keras.layers.Dense(32, activation="relu", name="hidden")(x)
    return keras.Model(inputs, keras.layers.Dense(10, name="logits")(x), name="classifier")


def packed(path, data):
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(data)


def without_optimizer(text):
    """The nodes of a graph as text, without those of gradients, the optimizer and saving."""
    scopes = ("gradients/", "train_step/", "save/", "init_1")
    kept = []
    for node in text.split("node {\n")[1:]:
        name = node.split('"', 2)[1]
        if not name.startswith(scopes) and "/Momentum" not in name:
            kept.append("node {\n" + node.split("\nlibrary {")[0].split("\nversions {")[0])
    return "".join(kept)


def main():
    """Write all files."""
    for units in (5, 9):
        graph = resnet(units).SerializeToString(deterministic=True)
        packed(HERE / f"resnet{6 * units + 2}.pb.gz", graph)
    source = gzip.decompress((HERE.parent / "resnet32" / "graph.pbtxt.gz").read_bytes())
    packed(HERE / "resnet32_inference.pbtxt.gz", without_optimizer(source.decode()).encode())
    for name, with_attention in (("classifier", False), ("classifier_attention", True)):
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        keras_model(with_attention=with_attention).export(folder, verbose=False)
        shutil.rmtree(folder / "assets")
        (folder / "fingerprint.pb").unlink()


if __name__ == "__main__":
    main()
