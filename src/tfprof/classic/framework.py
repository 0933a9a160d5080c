"""TensorFlow, for those who run it already."""

from __future__ import annotations

from typing import Any

from tfprof.errors import TfprofError


def tensorflow() -> Any:
    """The module `tensorflow`; where there is none, the error says how to get it."""
    try:
        import tensorflow as tf  # noqa: PLC0415 -- only who profiles a live program has it
    except ImportError:
        raise TfprofError(
            "This profiles a live TensorFlow program, and TensorFlow is not installed: "
            "pip install 'tfprof[tensorflow]'."
        ) from None
    return tf


def graph_or_default(graph: Any) -> Any:
    """The graph that was given, or the default one; None where ops run at once, without graph."""
    tf = tensorflow()
    if graph is None and not tf.executing_eagerly():
        return tf.compat.v1.get_default_graph()
    return graph
