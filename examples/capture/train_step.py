"""Records a few calls of a `tf.function` with `tfprof.capture(FOLDER)`."""

import sys

import tensorflow as tf

import tfprof

weights = tf.Variable(tf.random.normal((256, 10), seed=1), name="weights")
images, labels = tf.random.normal((64, 256), seed=2), tf.range(64) % 10


@tf.function
def train_step(rate):
    with tf.GradientTape() as tape, tf.name_scope("linear"):
        logits = tf.matmul(images, weights)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(losses)
    with tf.name_scope("sgd"):
        weights.assign_sub(rate * tape.gradient(loss, weights))
    return loss


rate = tf.constant(0.1)
train_step(rate)  # the first call traces the function

folder = sys.argv[1] if len(sys.argv) > 1 else "runs/step"
with tfprof.capture(folder):
    for _ in range(3):
        train_step(rate)

print(tfprof.load(folder).scope(select=["micros"], max_depth=2, step=1))
