"""The graph to profile if the program passes none."""

from __future__ import annotations

from typing import Any

from tfprof.frameworks import tensorflow


def graph_or_default(graph: Any) -> Any:
    """`graph`, or the default graph if it is None; None in eager mode, which has no graph."""
    tf = tensorflow()
    if graph is None and not tf.executing_eagerly():
        return tf.compat.v1.get_default_graph()
    return graph
