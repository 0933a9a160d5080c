"""GraphDef: the ops of a TensorFlow graph, record by record into columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfprof.columns import Ints, ints
from tfprof.errors import InputError
from tfprof.formats.messages import DecodeError, Message, message_class
from tfprof.formats.records import Records

GRAPH = "tensorflow.GraphDef"
RAW_NODE = "raw.NodeDef"

Shape = tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """An entry a node, in file order; `start` and `end` bound its message in the file."""

    start: Ints
    end: Ints
    name: list[str]
    op: list[str]
    inputs: list[list[str]]
    shape: list[Shape]
    output_shapes: list[list[Shape]]


def decode(records: Records) -> GraphColumns:
    """The nodes of a GraphDef; functions, versions and what else it may hold are skipped."""
    reader = ShapeReader(records.path)
    starts, ends = [], []
    names, ops, inputs, shapes, outputs = [], [], [], [], []
    for start, end in records.spans(1):
        node = records.parse(RAW_NODE, start, end)
        starts.append(start)
        ends.append(end)
        names.append(node.name)
        ops.append(node.op)
        inputs.append(list(node.input))
        attributes = node.attr
        shapes.append(reader.own(attributes))
        outputs.append(reader.outputs(attributes))
    return GraphColumns(ints(starts), ints(ends), names, ops, inputs, shapes, outputs)


class ShapeReader:
    """Decodes shapes, each distinct one once: files repeat them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._shapes: dict[bytes, Shape] = {}
        self._own: dict[bytes, Shape] = {}
        self._outputs: dict[bytes, list[Shape]] = {}

    def shape(self, message: Message) -> Shape:
        """The dims of a TensorShapeProto, -1 where unknown, or None for an unknown rank."""
        encoded = message.SerializeToString()
        if encoded not in self._shapes:
            dims = tuple(dim.size for dim in message.dim)
            self._shapes[encoded] = None if message.unknown_rank else dims
        return self._shapes[encoded]

    def own(self, attributes: Mapping[str, bytes]) -> Shape:
        """The shape of the parameters that an op stands for."""
        encoded = attributes.get("shape", b"")
        if encoded not in self._own:
            value = self._attribute("shape", encoded)
            self._own[encoded] = self.shape(value.shape) if value.HasField("shape") else None
        return self._own[encoded]

    def outputs(self, attributes: Mapping[str, bytes]) -> list[Shape]:
        """The shapes of an op's outputs, as far as the graph states them."""
        encoded = attributes.get("_output_shapes", b"")
        if encoded not in self._outputs:
            shapes = self._attribute("_output_shapes", encoded).list.shape
            self._outputs[encoded] = [self.shape(shape) for shape in shapes]
        return self._outputs[encoded]

    def _attribute(self, name: str, encoded: bytes) -> Message:
        try:
            return message_class("tensorflow.AttrValue").FromString(encoded)
        except DecodeError:
            raise InputError(self._path, f"an attribute `{name}` in it is damaged.") from None
