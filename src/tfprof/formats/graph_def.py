"""GraphDef: the ops of a TensorFlow graph, decoded into columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfprof.columns import Coded, Ints, Shapes, Strings, ints, offsets_of
from tfprof.columns import Shape as Dims
from tfprof.errors import InputError
from tfprof.formats import messages
from tfprof.formats.messages import Message
from tfprof.formats.records import Records
from tfprof.formats.scan_plan import (
    Attributes,
    Bytes,
    Code,
    Fields,
    Inputs,
    Inside,
    Plan,
    Rows,
    Shape,
    Text,
)
from tfprof.formats.scanned import Scanned, scanned_or_parsed

GRAPH = "tensorflow.GraphDef"
RAW_NODE = "raw.NodeDef"


@dataclass(frozen=True, slots=True, eq=False)
class GraphColumns:
    """One row per node, in file order; `start` and `end` bound its message in the file.

    The inputs of node `i` are those from `input_offsets[i]` to `input_offsets[i + 1]`; the same
    goes for its outputs.
    """

    start: Ints
    end: Ints
    name: Strings
    op: Coded
    input_offsets: Ints
    input_name: Strings
    input_slot: Ints  # -1 for a control input
    shape: Shapes
    output_offsets: Ints
    output_shape: Shapes
    libraries: list[tuple[int, int]]  # spans of the function libraries in the file; usually 0 or 1


def decode(records: Records) -> GraphColumns:
    """The nodes of a GraphDef; versions and other fields are skipped."""
    return scanned_or_parsed(records, _scanned, _parsed)


_OUTPUTS = Inside({7: Shape("output_dim", "output")}, is_strict=True)
NODE: Fields = {
    1: Text("name"),
    2: Code("op"),
    3: Inputs("input"),
    5: Attributes({b"shape": (0x3A, Shape("dim")), b"_output_shapes": (0x0A, _OUTPUTS)}),
}
_PLAN = Plan({1: Rows("node", NODE, has_place=True), 2: Bytes("library")})


def _scanned(data: bytes) -> GraphColumns | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    return GraphColumns(
        start=found["node.start"],
        end=found["node.end"],
        name=found.strings("node.name"),
        op=found.coded("node.op"),
        input_offsets=found["node.input"],
        input_name=Strings.of_spans(data, found["input.start"], found["input.end"]),
        input_slot=found["input.slot"],
        shape=found.shapes("node", "dim"),
        output_offsets=found["node.output"],
        output_shape=found.shapes("output", "output_dim"),
        libraries=_filled(*found.spans(".library")),
    )


def _filled(starts: Ints, ends: Ints) -> list[tuple[int, int]]:
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [(start, end) for start, end in spans if start < end]


def _parsed(records: Records) -> GraphColumns:
    reader = ShapeReader(records.path)
    starts, ends, names, ops, inputs, input_counts = [], [], [], [], [], []
    shapes: list[Dims] = []
    outputs: list[Dims] = []
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
        libraries=[(start, end) for start, end in records.spans(2) if start < end],
    )


def source(text: str) -> tuple[str, int]:
    """The op and slot of an input: `conv:1`, `conv` (slot 0) or `^conv` (slot -1)."""
    name, _, slot = text.partition(":")
    if name.startswith("^"):
        return name[1:], -1
    return name, int(slot) if slot.isdecimal() and len(slot) < 10 else 0


class ShapeReader:
    """Decodes each distinct shape only once, because files repeat them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._shapes: dict[bytes, Dims] = {}
        self._own: dict[bytes, Dims] = {}
        self._outputs: dict[bytes, list[Dims]] = {}

    def shape(self, message: Message) -> Dims:
        """The dims of a TensorShapeProto, -1 for unknown sizes; None if the rank is unknown."""
        encoded = message.SerializeToString()
        if encoded not in self._shapes:
            dims = tuple(dim.size for dim in message.dim)
            self._shapes[encoded] = None if message.unknown_rank else dims
        return self._shapes[encoded]

    def own(self, attributes: Mapping[str, bytes]) -> Dims:
        """The shape of the parameters an op holds."""
        encoded = attributes.get("shape", b"")
        if encoded not in self._own:
            value = self._attribute("shape", encoded)
            self._own[encoded] = self.shape(value.shape) if value.HasField("shape") else None
        return self._own[encoded]

    def outputs(self, attributes: Mapping[str, bytes]) -> list[Dims]:
        """The shapes of an op's outputs, as far as the graph states them."""
        encoded = attributes.get("_output_shapes", b"")
        if encoded not in self._outputs:
            shapes = self._attribute("_output_shapes", encoded).list.shape
            self._outputs[encoded] = [self.shape(shape) for shape in shapes]
        return self._outputs[encoded]

    def _attribute(self, name: str, encoded: bytes) -> Message:
        try:
            return messages.decode("tensorflow.AttrValue", encoded)
        except messages.DecodeError:
            raise InputError(self._path, f"contains a damaged attribute `{name}`.") from None
