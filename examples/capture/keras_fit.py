"""Records steps 10, 11 and 12 of `model.fit` and shows where the time of one of them goes."""

import sys

import numpy as np
import tensorflow as tf

import tfprof

layers = tf.keras.layers
model = tf.keras.Sequential(
    [
        layers.Input((32, 32, 3)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10),
    ],
    name="cnn",
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss)
images = np.random.default_rng(0).random((960, 32, 32, 3), dtype=np.float32)
labels = np.arange(960) % 10

folder = sys.argv[1] if len(sys.argv) > 1 else "runs/fit"
recorded = tfprof.KerasCallback(folder, steps=(10, 13))
model.fit(images, labels, batch_size=64, verbose=0, callbacks=[recorded])

profile = tfprof.load(folder)
answer = profile.scope(select=["micros"], max_depth=2, min_micros=20, order_by="micros", step=11)
print(answer)
for note in answer.notes:
    print(note)
