"""Small live models of many kinds, and a way to capture the output of TensorFlow's profiler."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

needs_tensorflow = pytest.mark.skipif(
    find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)


def tensorflow() -> Any:
    """TensorFlow, imported without its deprecation warnings."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tensorflow as tf  # noqa: PLC0415 -- only tests that need it import it
        from tensorflow.python.profiler import model_analyzer  # noqa: PLC0415 -- see above
    # The original's profilers share one session, which ends when any of them is deleted.
    model_analyzer.Profiler.__del__ = lambda _: None
    return tf


@dataclass
class Live:
    """A model that was built several times by the same code, and its traced runs.

    The original writes the shapes of a run into its graph. It therefore has separate graphs for
    profiles with and without the first run, and tfprof uses a third one.
    """

    name: str
    ours: Any
    theirs: Any
    theirs_without_run: Any
    runs: list[Any]

    @property
    def names(self) -> list[str]:
        return [op.name for op in self.ours.get_operations()]


def make(name: str) -> Live:
    """Build and run the model of that name."""
    (graph, run), *others = (build(name) for _ in range(3))
    return Live(name, graph, *(other for other, _ in others), run() if run is not None else [])


def build(name: str) -> Any:
    """A graph and a function that runs it, built in a thread so that stacks are always the same."""
    tf = tensorflow()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(MODELS[name](tf)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        thread.join()
    tf.compat.v1.enable_control_flow_v2()  # a model may have disabled it
    return found[0]


def traced(
    tf: Any,
    graph: Any,
    fetches: list[Any],
    feeds: list[dict[Any, Any]],
    **config: Any,
) -> Callable[[], list[Any]]:
    """A function that runs a graph with each of `feeds` and returns the run metadata."""

    def run() -> list[Any]:
        v1 = tf.compat.v1
        found = []
        with v1.Session(graph=graph, config=v1.ConfigProto(**config)) as session:
            session.run([op for op in graph.get_operations() if op.name == "init"])
            for feed in feeds:
                meta = v1.RunMetadata()
                options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
                session.run(fetches, feed, options=options, run_metadata=meta)
                found.append(meta)
        return found

    return run


def perceptron(tf: Any) -> Any:
    """Reference variables, a batch of unknown size, gradients."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 6], name="x")
        with v1.variable_scope("layer", use_resource=False):
            w = v1.get_variable("w", [6, 4])
            b = v1.get_variable("b", [4])
        v1.get_variable("idle", [3], use_resource=False, trainable=False)
        hidden = tf.nn.relu(v1.nn.xw_plus_b(x, w, b), name="hidden")
        loss = tf.reduce_mean(tf.square(hidden), name="loss")
        train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        v1.global_variables_initializer()
        feeds = [{x: [[1.0] * 6] * rows} for rows in (2, 5)]
        return graph, traced(tf, graph, [train, loss], feeds)


def convolution(tf: Any) -> Any:
    """Resource variables, convolutions and pooling with their gradients."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        image = v1.placeholder(tf.float32, [None, 8, 8, 3], name="image")
        kernel = v1.get_variable("conv/kernel", [3, 3, 3, 4], use_resource=True)
        bias = v1.get_variable("conv/bias", [4], use_resource=True)
        net = tf.nn.bias_add(tf.nn.conv2d(image, kernel, 1, "SAME"), bias)
        net = tf.nn.max_pool2d(tf.nn.relu(net), 2, 2, "VALID")
        net = tf.nn.softmax(tf.reshape(net, [-1, 64]))
        loss = tf.nn.l2_loss(net, name="loss")
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        v1.global_variables_initializer()
        feeds = [{image: [[[[0.5] * 3] * 8] * 8] * rows} for rows in (1, 2)]
        return graph, traced(tf, graph, [train, loss], feeds)


def loop(tf: Any) -> Any:
    """A loop with several iterations and a growing shape."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.disable_control_flow_v2()
        start = v1.placeholder(tf.float32, [None, 4], name="start")
        w = v1.get_variable("w", [4, 4], use_resource=False)

        def body(i, state, grown):
            return i + 1, tf.matmul(state, w), tf.concat([grown, grown], 0)

        done = tf.while_loop(
            lambda i, *_: i < 4,
            body,
            [tf.constant(0), start, tf.ones([1])],
            shape_invariants=[tf.TensorShape(sides) for sides in ([], [None, 4], [None])],
        )
        result = tf.add(tf.reduce_sum(done[1]), tf.reduce_sum(done[2]), name="result")
        v1.global_variables_initializer()
        feeds = [{start: [[1.0] * 4] * rows} for rows in (3, 2)]
        return graph, traced(tf, graph, [result], feeds)


def devices(tf: Any) -> Any:
    """Variables and matrix products on three CPU devices."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        parts = []
        x = v1.placeholder(tf.float32, [2, 3], name="x")
        for number in range(3):
            with tf.device(f"/cpu:{number}"), tf.name_scope(f"tower_{number}"):
                w = v1.get_variable(f"w{number}", [3, 2], use_resource=number % 2 == 0)
                parts.append(tf.matmul(x, w))
        total = tf.add_n(parts, name="total")
        v1.global_variables_initializer()
        feeds = [{x: [[1.0] * 3] * 2}] * 2
        return graph, traced(tf, graph, [total], feeds, device_count={"CPU": 3})


def functions(tf: Any) -> Any:
    """Functions called in a session, and a branch."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 3], name="x")

        @tf.function(autograph=False)
        def twice(value):
            return tf.matmul(value, value, transpose_b=True) * 2.0

        out = tf.cond(tf.reduce_sum(x) > 0, lambda: twice(x), lambda: twice(-x))
        batch = tf.matmul(out[None], out[None], adjoint_a=True, name="batch")
        v1.global_variables_initializer()
        feeds = [{x: [[sign] * 3] * 2} for sign in (1.0, -1.0)]
        return graph, traced(tf, graph, [batch], feeds)


def function_graph(tf: Any) -> Any:
    """The graph of an eager function, without traced runs."""
    weight = tf.Variable(tf.ones([5, 2]), name="weight")

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, weight) ** 2)
        return tape.gradient(loss, weight)

    return step.get_concrete_function(tf.TensorSpec([None, 5])).graph, None


def accelerated(tf: Any) -> Any:
    """The perceptron as if it had run on an accelerator with streams."""
    graph, run = perceptron(tf)

    def rerun() -> list[Any]:
        found = run()
        for meta in found:
            (host,) = meta.step_stats.dev_stats
            host.device = "/job:localhost/replica:0/task:0/device:GPU:0"
            for node in host.node_stats:
                for memory in node.memory:
                    memory.allocator_name = "GPU_0_bfc"
                    memory.allocator_bytes_in_use = 1_000_000
            lanes = meta.step_stats.dev_stats.add(device="/device:GPU:0/stream:all")
            for node in list(host.node_stats)[::2]:
                lanes.node_stats.add(
                    node_name=f"{node.node_name}:kernel",
                    all_start_micros=node.all_start_micros + 3,
                    op_end_rel_micros=17,
                )
        return found

    return graph, rerun


MODELS: dict[str, Callable[[Any], Any]] = {
    build.__name__: build
    for build in (
        *(perceptron, convolution, loop, devices, functions, function_graph, accelerated),
    )
}


@dataclass
class Captured:
    """The result of a call, and what it printed."""

    result: Any
    out: str


def run_original(call: Callable[[], Any]) -> Captured:
    """Call the original and capture its standard output, which C++ code writes."""
    flush = ctypes.CDLL(None).fflush
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        saved = os.dup(1), os.dup(2)
        try:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = call()
        finally:
            flush(None)
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            for number in saved:
                os.close(number)
        out.seek(0)
        return Captured(result, out.read().decode())
