"""Writes graphs built by TensorFlow, and the inputs of its ops: `python flop_graphs.py FOLDER`.

It runs in a separate process, so that other tests run without TensorFlow.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def main(folder: Path) -> None:
    for name, build in (("cnn", cnn), ("lstm", lstm), ("transformer", transformer)):
        graph = tf.Graph()
        with graph.as_default():
            build()
        (folder / f"{name}.pb").write_bytes(graph.as_graph_def(add_shapes=True).SerializeToString())
    (folder / "ops.json").write_text(json.dumps(signatures()))


def cnn() -> None:
    """A CNN: batch of 8, 16x16x3, 12 filters of 3x3, batch norm, pooling, 10 classes, momentum."""
    image = v1.placeholder(tf.float32, (8, 16, 16, 3))
    labels = v1.placeholder(tf.int32, (8,))
    kernel = v1.get_variable("kernel", (3, 3, 3, 12), use_resource=True)
    scale = v1.get_variable("scale", (12,), use_resource=True)
    dense = v1.get_variable("dense", (768, 10), use_resource=True)
    found = tf.nn.conv2d(image, kernel, strides=1, padding="SAME", name="conv")
    found, _, _ = v1.nn.fused_batch_norm(found, scale, scale, name="norm")
    found = tf.nn.max_pool2d(tf.nn.relu(found, name="relu"), 2, 2, "SAME", name="pool")
    logits = tf.matmul(tf.reshape(found, (8, 768)), dense, name="logits")
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name="loss"), name="mean"
    )
    v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)


def lstm() -> None:
    """An LSTM: batch of 4, 7 steps, 5 inputs, a state of 6; one op and its gradient."""
    steps = v1.placeholder(tf.float32, (7, 4, 5))
    state = tf.zeros((4, 6))
    weights = v1.get_variable("weights", (11, 24), use_resource=True)
    peephole, bias = tf.zeros((6,)), tf.zeros((24,))
    found = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(7, tf.int64),
        x=steps,
        cs_prev=state,
        h_prev=state,
        w=weights,
        wci=peephole,
        wcf=peephole,
        wco=peephole,
        b=bias,
        cell_clip=-1.0,
        name="lstm",
    )
    tf.raw_ops.BlockLSTMGrad(
        seq_len_max=tf.constant(7, tf.int64),
        x=steps,
        cs_prev=state,
        h_prev=state,
        w=weights,
        wci=peephole,
        wcf=peephole,
        wco=peephole,
        b=bias,
        i=found.i,
        cs=found.cs,
        f=found.f,
        o=found.o,
        ci=found.ci,
        co=found.co,
        h=found.h,
        cs_grad=found.cs,
        h_grad=found.h,
        use_peephole=False,
        name="gradients/lstm_grad/BlockLSTMGrad",
    )


def transformer() -> None:
    """A transformer layer: batch of 2, 16 tokens, width 32 (inner 128), 4 heads, all gradients."""
    tokens = v1.placeholder(tf.float32, (2, 16, 32))
    shape = {"q": (32, 4, 8), "k": (32, 4, 8), "v": (32, 4, 8), "out": (4, 8, 32)}
    w = {name: v1.get_variable(name, size, use_resource=True) for name, size in shape.items()}
    up = v1.get_variable("up", (32, 128), use_resource=True)
    down = v1.get_variable("down", (128, 32), use_resource=True)
    queries, keys, values = (tf.einsum("btd,dhk->bthk", tokens, w[name]) for name in "qkv")
    scores = tf.nn.softmax(tf.einsum("bshk,bthk->bhts", keys, queries))
    mixed = tf.einsum("bhts,bshk->bthk", scores, values)
    found = tokens + tf.einsum("bthk,hkd->btd", mixed, w["out"])
    mean, variance = tf.nn.moments(found, -1, keepdims=True)
    found = (found - mean) * tf.math.rsqrt(variance + 1e-6)
    flat = tf.reshape(found, (32, 32))
    tf.matmul(tf.nn.relu(tf.matmul(flat, up)), down)


def signatures() -> dict[str, list[str]]:
    """The names of the inputs of every op of TensorFlow."""
    from tensorflow.core.framework import op_def_pb2  # noqa: PLC0415 -- private, for this alone
    from tensorflow.python.client import pywrap_tf_session as session  # noqa: PLC0415 -- the same

    ops: Any = op_def_pb2.OpList()
    ops.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    return {op.name: [arg.name for arg in op.input_arg] for op in ops.op}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
