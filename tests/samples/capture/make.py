"""Records the sample: run `python make.py` in this folder; requires TensorFlow."""

import gzip
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

import tfprof
from tfprof.formats.messages import message_class

HERE = Path(__file__).parent
NEUTRAL = Path(tempfile.gettempdir()) / "capture"  # a recording contains the name of its folder


def model():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input((16, 16, 3)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10),
        ],
        name="cnn",
    )


def without_paths(log):
    """The op log without the paths of this machine."""
    message = message_class("tensorflow.tfprof.OpLogProto").FromString(log)
    for key, text in message.id_to_string.items():
        shorter = re.sub(r".*/site-packages/", "/site-packages/", text)
        message.id_to_string[key] = shorter.replace(str(HERE), "/program")
    return message.SerializeToString()


def main():
    cnn = model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    cnn.compile(optimizer="sgd", loss=loss)
    images = np.random.default_rng(0).random((192, 16, 16, 3), dtype=np.float32)
    recorded = tfprof.KerasCallback(NEUTRAL, steps=(3, 5))
    cnn.fit(images, np.arange(192) % 10, batch_size=32, verbose=0, callbacks=[recorded])
    (recording,) = NEUTRAL.rglob("*.xplane.pb")
    parts = {
        "plugins/profile/sample/host.xplane.pb.gz": recording.read_bytes(),
        "graph.pb.gz": (NEUTRAL / "graph.pb").read_bytes(),
        "tfprof_log.gz": without_paths((NEUTRAL / "tfprof_log").read_bytes()),
    }
    for name, data in parts.items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_bytes(gzip.compress(data, mtime=0))
    shutil.rmtree(NEUTRAL)


if __name__ == "__main__":
    main()
