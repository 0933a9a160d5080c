"""GraphDef: the ops of a TensorFlow graph, record by record into columns."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.columns import Ints, ints
from tfprof.formats.messages import Message
from tfprof.formats.records import Records

GRAPH = "tensorflow.GraphDef"
NODE = "tensorflow.NodeDef"
NODE_ATTR_FIELD = 5

Shape = tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """An entry a node, in file order; `start` and `end` bound its message in `data`."""

    data: bytes
    start: Ints
    end: Ints
    name: list[str]
    op: list[str]
    inputs: list[list[str]]
    shape: list[Shape]
    output_shapes: list[list[Shape]]


def decode(records: Records) -> GraphColumns:
    """The nodes of a GraphDef; functions, versions and what else it may hold are skipped."""
    data = records.data
    starts, ends = [], []
    names, ops, inputs, shapes, outputs = [], [], [], [], []
    for start, end in records.spans(1):
        node = records.parse(NODE, start, end)
        starts.append(start)
        ends.append(end)
        names.append(node.name)
        ops.append(node.op)
        inputs.append(list(node.input))
        attributes = node.attr
        shapes.append(_own_shape(attributes))
        outputs.append(_output_shapes(attributes))
    return GraphColumns(data, ints(starts), ints(ends), names, ops, inputs, shapes, outputs)


def shape_of(message: Message) -> Shape:
    """The dims of a TensorShapeProto, -1 where unknown, or None for an unknown rank."""
    return None if message.unknown_rank else tuple(dim.size for dim in message.dim)


def _own_shape(attributes: Message) -> Shape:
    # A missing key must not be read by index: protobuf would add it to the map.
    if "shape" not in attributes:
        return None
    value = attributes["shape"]
    return shape_of(value.shape) if value.HasField("shape") else None


def _output_shapes(attributes: Message) -> list[Shape]:
    if "_output_shapes" not in attributes:
        return []
    return [shape_of(shape) for shape in attributes["_output_shapes"].list.shape]
