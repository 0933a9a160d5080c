"""A program without tfprof in it; record it with `tfprof run -o runs/plain plain_training.py`."""

import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=3)
steps = parser.parse_args().steps

weights = tf.Variable(tf.zeros((128, 128)), name="weights")


@tf.function
def step():
    with tf.name_scope("layer"):
        product = tf.matmul(weights, weights)
    with tf.name_scope("update"):
        weights.assign_add(product)


for _ in range(steps):
    step()
print(f"{steps} steps")
