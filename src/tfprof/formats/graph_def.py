"""GraphDef: the ops of a TensorFlow graph, record by record into columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfprof.columns import Coded, Ints, Ragged, Shapes, Strings, ints, offsets_of
from tfprof.errors import InputError
from tfprof.formats import scan
from tfprof.formats.messages import DecodeError, Message, message_class
from tfprof.formats.records import Records
from tfprof.formats.scanned import GraphScan

GRAPH = "tensorflow.GraphDef"
RAW_NODE = "raw.NodeDef"

Shape = tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """A row a node, in file order; `start` and `end` bound its message in the file.

    The inputs of node `i` are those from `input_offsets[i]` to `input_offsets[i + 1]`, its outputs
    likewise.
    """

    start: Ints
    end: Ints
    name: Strings
    op: Coded
    input_offsets: Ints
    input_name: Strings
    input_slot: Ints  # -1 where the input only says what runs first
    shape: Shapes
    output_offsets: Ints
    output_shape: Shapes


def decode(records: Records) -> GraphColumns:
    """The nodes of a GraphDef; functions, versions and what else it may hold are skipped."""
    found = scan.scan_graph(records.data) if scan.is_compiled() else None
    return _parsed(records) if found is None else _scanned(records.data, found)


def _scanned(data: bytes, found: GraphScan) -> GraphColumns:
    return GraphColumns(
        start=found.start,
        end=found.end,
        name=Strings.of_spans(data, found.name_start, found.name_end),
        op=Coded(found.op, Strings.of_spans(data, found.op_start, found.op_end)),
        input_offsets=found.input_offsets,
        input_name=Strings.of_spans(data, found.input_start, found.input_end),
        input_slot=found.input_slot,
        shape=Shapes(Ragged(found.dim_offsets, found.dims), found.shape_known != 0),
        output_offsets=found.output_offsets,
        output_shape=Shapes(
            Ragged(found.output_dim_offsets, found.output_dims), found.output_known != 0
        ),
    )


def _parsed(records: Records) -> GraphColumns:
    reader = ShapeReader(records.path)
    starts, ends, names, ops, inputs, input_counts = [], [], [], [], [], []
    shapes: list[Shape] = []
    outputs: list[Shape] = []
    output_counts = []
    for start, end in records.spans(1):
        node = records.parse(RAW_NODE, start, end)
        starts.append(start)
        ends.append(end)
        names.append(node.name)
        ops.append(node.op)
        inputs.extend(node.input)
        input_counts.append(len(node.input))
        attributes = node.attr
        shapes.append(reader.own(attributes))
        found = reader.outputs(attributes)
        outputs.extend(found)
        output_counts.append(len(found))
    edges = [source(text) for text in inputs]
    return GraphColumns(
        start=ints(starts),
        end=ints(ends),
        name=Strings(names),
        op=Coded.of(ops),
        input_offsets=offsets_of(ints(input_counts)),
        input_name=Strings([name for name, _ in edges]),
        input_slot=ints([slot for _, slot in edges]),
        shape=Shapes.of(shapes),
        output_offsets=offsets_of(ints(output_counts)),
        output_shape=Shapes.of(outputs),
    )


def source(text: str) -> tuple[str, int]:
    """The op and the slot that an input names: `conv:1`, `conv` (slot 0), `^conv` (slot -1)."""
    name, _, slot = text.partition(":")
    if name.startswith("^"):
        return name[1:], -1
    return name, int(slot) if slot.isdecimal() and len(slot) < 10 else 0


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
