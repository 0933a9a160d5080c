"""The graph that a program means."""

from __future__ import annotations

from typing import Any

from tfprof.frameworks import tensorflow


def graph_or_default(graph: Any) -> Any:
    """The graph that was given, or the default one; None where ops run at once, without graph."""
    tf = tensorflow()
    if graph is None and not tf.executing_eagerly():
        return tf.compat.v1.get_default_graph()
    return graph
