"""Profiles a Keras model without running it: parameters and float operations by layer.

    python examples/keras_cnn.py [FOLDER]

Requires TensorFlow. With a folder, also saves the model there; this is how examples/keras_cnn was
made.
"""

import sys

import keras
import tensorflow as tf

import tfprof

model = keras.Sequential(
    [
        keras.Input((28, 28, 1), batch_size=1),
        keras.layers.Conv2D(8, 3, activation="relu", name="conv"),
        keras.layers.MaxPooling2D(name="pool"),
        keras.layers.Flatten(name="flatten"),
        keras.layers.Dense(10, name="dense"),
    ],
    name="cnn",
)

profile = tfprof.load(model)
print(profile.scope(select=["params"], order_by="params", max_depth=4, min_params=1))
answer = profile.scope(select=["float_ops"], order_by="float_ops", min_float_ops=1)
print(answer)
for note in answer.notes:
    print("Note:", note)

if sys.argv[1:]:
    tf.saved_model.save(model, sys.argv[1])
