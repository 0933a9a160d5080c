"""A live graph combined with the tensor shapes seen in its runs.

The original writes these shapes into the caller's graph. Here they are kept separately, and the
graph is not modified.
"""

from __future__ import annotations

from typing import Any

from tfprof.classic.question import report
from tfprof.frameworks import tensorflow


class SeenGraph:
    """Wraps a `tf.Graph` and completes the shapes of its tensors with those seen in runs."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._seen: dict[str, dict[int, Any]] = {}  # TensorShapes, by op and output
        self._definition: tuple[int, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the graph."""
        return getattr(self._graph, name)

    def wraps(self, graph: Any) -> bool:
        """Whether this wraps `graph`."""
        return self._graph is graph

    def get_tensor_by_name(self, name: str) -> Any:
        """The tensor, with the shape seen in a run if there is one."""
        tensor = self._graph.get_tensor_by_name(name)
        shape = self._seen.get(tensor.op.name, {}).get(tensor.value_index)
        return tensor if shape is None else _SeenTensor(tensor, shape)

    def add_shapes(self, run_meta: Any) -> None:
        """Complete the shapes known so far with the output shapes of a traced run."""
        for device in run_meta.step_stats.dev_stats:
            for run in device.node_stats:
                if run.output:
                    self._add_output_shapes(run)

    def _add_output_shapes(self, run: Any) -> None:
        outputs = self._outputs(run.node_name)
        # Some ops, such as Switch, have fewer outputs in a run than in the graph.
        if len(outputs) != len(run.output):
            return
        for place, (tensor, output) in enumerate(zip(outputs, run.output, strict=True)):
            seen = self._seen.get(run.node_name, {})
            known = seen.get(place) or tensor.shape
            if known.is_fully_defined():
                continue
            sides = [side.size for side in output.tensor_description.shape.dim]
            try:
                merged = known.merge_with(tensorflow().TensorShape(sides))
            except ValueError as error:
                report(f"{run.node_name} ran with a shape that contradicts the graph: {error}.")
                continue
            self._seen.setdefault(run.node_name, {})[place] = merged

    def _outputs(self, name: str) -> list[Any]:
        try:
            return list(self._graph.get_operation_by_name(name).outputs)
        except (KeyError, ValueError):  # not in the graph, such as a transfer between devices
            return []

    def definition(self) -> Any:
        """The GraphDef, with all output shapes known so far."""
        if self._definition is None or self._definition[0] != self._graph.version:
            self._definition = self._graph.version, self._graph.as_graph_def(add_shapes=True)
        graph_def = self._definition[1]
        for node in graph_def.node if self._seen else ():
            for place, shape in self._seen.get(node.name, {}).items():
                node.attr["_output_shapes"].list.shape[place].CopyFrom(shape.as_proto())
        return graph_def


class _SeenTensor:
    """Wraps a tensor and gives it a more complete shape than its graph has."""

    def __init__(self, tensor: Any, shape: Any) -> None:
        self._tensor = tensor
        self.shape = shape

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the tensor."""
        return getattr(self._tensor, name)

    def get_shape(self) -> Any:
        return self.shape
