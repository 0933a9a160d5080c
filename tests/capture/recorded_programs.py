"""Programs for `test_recorded_graph.py`: `python recorded_programs.py FOLDER` records each of them.

Facts about the process afterwards are written to FOLDER/after.json.
"""

import gc
import json
import sys
import weakref
from pathlib import Path

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction

import tfprof
from tfprof.capture.kept_functions import KeptFunctions

MAKE = AtomicFunction.__init__
KEPT_GRAPH = KeptFunctions.graph


def matrix(rows, columns):
    return tf.Variable(tf.ones((rows, columns)))


def calls_in_calls():
    hidden, head = matrix(16, 32), matrix(32, 4)

    @tf.function
    def encode(x):
        with tf.name_scope("encode"):
            return tf.matmul(x, hidden)

    @tf.function
    def project(x):
        with tf.name_scope("project"):
            return tf.matmul(x, head)

    @tf.function
    def step(x):
        logits = project(encode(x))
        with tf.name_scope("end"):
            return tf.nn.relu(logits)

    return lambda: step(tf.ones((8, 16)))


def cases():
    first, second = matrix(8, 8), matrix(8, 8)

    @tf.function
    def step(x, which):
        with tf.name_scope("net"):
            branches = [lambda: tf.matmul(x, first), lambda: tf.nn.relu(tf.matmul(x, second))]
            return tf.switch_case(which, branches)

    return lambda: [step(tf.ones((4, 8)), tf.constant(which)) for which in (0, 1)]


def shared_variable():
    weights = matrix(8, 8)

    @tf.function
    def multiply(x):
        with tf.name_scope("net"):
            return tf.matmul(x, weights)

    @tf.function
    def train(x):
        return multiply(x) + 1.0

    @tf.function
    def evaluate(x):
        return multiply(x) * 2.0

    return lambda: (train(tf.ones((4, 8))), evaluate(tf.ones((4, 8))))


def variables_in_one_scope():
    table, state, count = matrix(6, 2), matrix(3, 2), tf.Variable(0)

    @tf.function
    def step(rows):
        count.assign_add(1)
        with tf.name_scope("pair"):
            read = tf.nn.embedding_lookup(table, rows)
            return state.assign_add(read)

    return lambda: step(tf.range(3))


def unused_op():
    weights = matrix(8, 8)

    @tf.function
    def step(x):
        with tf.name_scope("net"):
            product = tf.matmul(x, weights)
            tf.matmul(product, weights, name="unused")
            return product

    return lambda: step(tf.ones((4, 8)))


def restored(folder):
    module = tf.Module()
    module.weights = matrix(8, 8)
    multiply = tf.function(lambda x: {"y": tf.matmul(x, module.weights)})
    signature = multiply.get_concrete_function(tf.TensorSpec((4, 8), name="x"))
    tf.saved_model.save(module, str(folder / "saved"), signatures=signature)
    serve = tf.saved_model.load(str(folder / "saved")).signatures["serving_default"]
    return lambda: serve(x=tf.ones((4, 8)))


def fails():
    step = tf.function(lambda x: x @ x)

    def run():
        step(tf.ones((4, 4)))
        raise KeyError

    return run


def nested_recording(folder):
    """A program that tries to start a second recording while it is recorded."""
    run = unused_op()

    def record_twice():
        try:
            tfprof.capture(folder / "second").start()
        except tfprof.CaptureError:
            run()

    return record_twice


def graph_is_dropped(folder):
    """Whether a recorded function can be garbage-collected afterwards."""

    def record():
        step = tf.function(lambda x: x + 1.0)
        with tfprof.capture(folder / "dropped"):
            step(tf.ones(3))
        return weakref.ref(step.get_concrete_function(tf.ones(3)).graph)

    graph = record()
    gc.collect()
    return graph() is None


def main(folder):
    programs = {
        "calls_in_calls": calls_in_calls(),
        "cases": cases(),
        "shared_variable": shared_variable(),
        "variables_in_one_scope": variables_in_one_scope(),
        "unused_op": unused_op(),
        "restored": restored(folder),
        "not_kept": calls_in_calls(),
        "fails": fails(),
        "records_twice": nested_recording(folder),
    }
    after = {"is_restored": {}, "notes": {}}
    for name, run in programs.items():
        KeptFunctions.graph = (lambda *_: None) if name == "not_kept" else KEPT_GRAPH
        capture = tfprof.capture(folder / name)
        try:
            with capture:
                run()
        except KeyError:
            after["failed"] = name
        after["is_restored"][name] = AtomicFunction.__init__ is MAKE
        after["notes"][name] = capture.notes
    after["graph_is_dropped"] = graph_is_dropped(folder)
    (folder / "after.json").write_text(json.dumps(after), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
