"""A live graph together with the shapes that its tensors were seen to have.

The original writes what it saw into the caller's graph. Here it is kept beside, and the graph stays
as it is.
"""

from __future__ import annotations

from typing import Any

from tfprof.classic.question import tell
from tfprof.frameworks import tensorflow


class SeenGraph:
    """Stands in for a `tf.Graph` where somebody asks for tensors and their shapes."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._seen: dict[str, dict[int, Any]] = {}  # TensorShapes, by op and output
        self._definition: tuple[int, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """All else is the graph's own."""
        return getattr(self._graph, name)

    def is_of(self, graph: Any) -> bool:
        """Whether it stands in for `graph`."""
        return self._graph is graph

    def get_tensor_by_name(self, name: str) -> Any:
        """A tensor that knows its shape, as far as it is known here."""
        tensor = self._graph.get_tensor_by_name(name)
        shape = self._seen.get(tensor.op.name, {}).get(tensor.value_index)
        return tensor if shape is None else _SeenTensor(tensor, shape)

    def see(self, run_meta: Any) -> None:
        """Complete shapes by those that a traced run put out."""
        for device in run_meta.step_stats.dev_stats:
            for run in device.node_stats:
                if run.output:
                    self._see_outputs(run)

    def _see_outputs(self, run: Any) -> None:
        outputs = self._outputs(run.node_name)
        # A Switch, for one, has fewer outputs in a run than in the graph.
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
                tell(f"{run.node_name} was run with a shape that the graph excludes: {error}.")
                continue
            self._seen.setdefault(run.node_name, {})[place] = merged

    def _outputs(self, name: str) -> list[Any]:
        try:
            return list(self._graph.get_operation_by_name(name).outputs)
        except (KeyError, ValueError):  # a transfer between devices, for one, is no op of the graph
            return []

    def definition(self) -> Any:
        """The GraphDef with the shapes of all outputs, as far as they are known here."""
        if self._definition is None or self._definition[0] != self._graph.version:
            self._definition = self._graph.version, self._graph.as_graph_def(add_shapes=True)
        graph_def = self._definition[1]
        for node in graph_def.node if self._seen else ():
            for place, shape in self._seen.get(node.name, {}).items():
                node.attr["_output_shapes"].list.shape[place].CopyFrom(shape.as_proto())
        return graph_def


class _SeenTensor:
    """A tensor with a shape that is better known than to its graph."""

    def __init__(self, tensor: Any, shape: Any) -> None:
        self._tensor = tensor
        self.shape = shape

    def __getattr__(self, name: str) -> Any:
        """All else is the tensor's own."""
        return getattr(self._tensor, name)

    def get_shape(self) -> Any:
        return self.shape
