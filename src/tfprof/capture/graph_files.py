"""Encodes recorded ops as a graph file and an op log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfprof.columns import Shape
from tfprof.formats.messages import Message, message_class
from tfprof.model.code import Frame
from tfprof.sources.tf_functions import Flat

_LARGEST_VALUE = 4096  # bytes; keeps constants such as axes and shapes, but no tables


@dataclass(slots=True, eq=False)
class WrittenOp:
    """An op as both files need it: its NodeDef, its types and the calls that created it."""

    node: Message
    types: Sequence[str] = ()
    stack: Sequence[Frame] = ()


def node_def(flat: Flat, row: int, name: str, sources: Iterable[str]) -> Message:
    """The NodeDef of an op, with this name, these ops as inputs and its inferred output shapes.

    Only variables have the attribute `shape`, because parameters are counted by that attribute.
    """
    kind, shape = flat.columns.kind[row], flat.columns.shape[row]
    if kind == "Placeholder":  # an argument of a function
        kind = "_Arg" if shape is None else "VarHandleOp"
    attributes = dict(flat.attributes.encoded(row))
    attributes.pop("shape", None)
    if shape is not None:
        attributes["shape"] = _encoded(shape)
    if outputs := flat.columns.outputs.of_op(row):
        attributes["_output_shapes"] = _encoded_list(outputs)
    if len(attributes.get("value", b"")) > _LARGEST_VALUE:
        del attributes["value"]
    first, end = flat.columns.input_offsets[row : row + 2]
    slots = flat.columns.input_slot[first:end].tolist()
    inputs = map(_input, sources, slots)
    return message_class("raw.NodeDef")(name=name, op=kind, input=inputs, attr=attributes)


def _encoded(shape: Shape) -> bytes:
    dims = [{"size": size} for size in shape or ()]
    value = message_class("tensorflow.AttrValue")(shape={"dim": dims})
    return bytes(value.SerializeToString())


def _encoded_list(shapes: Sequence[Shape]) -> bytes:
    value = message_class("tensorflow.AttrValue")()
    for shape in shapes:
        added = value.list.shape.add(unknown_rank=shape is None)
        for size in shape or ():
            added.dim.add(size=size)
    return bytes(value.SerializeToString())


def _input(source: str, slot: int) -> str:
    """An input in NodeDef notation: `conv:1`, `conv` for output 0, `^conv` for a control input."""
    return f"{source}:{slot}" if slot > 0 else source if slot == 0 else f"^{source}"


def graph_def(ops: Iterable[WrittenOp]) -> bytes:
    """A GraphDef of these ops, serialised."""
    graph = message_class("tensorflow.GraphDef")()
    for op in ops:
        graph.node.add().MergeFromString(op.node.SerializeToString(deterministic=True))
    return bytes(graph.SerializeToString(deterministic=True))


def op_log(ops: Iterable[WrittenOp]) -> bytes:
    """An OpLogProto with the types and code lines of ops, serialised."""
    log = message_class("tensorflow.tfprof.OpLogProto")()
    texts: dict[str, int] = {}
    traces: dict[Frame, Message] = {}
    for op in ops:
        if not op.stack and not op.types:
            continue
        entry = log.log_entries.add(name=op.node.name, types=op.types)
        for frame in op.stack:
            if frame not in traces:
                traces[frame] = _trace(frame, texts)
            entry.code_def.traces.append(traces[frame])
    log.id_to_string.update({place: text for text, place in texts.items()})
    return bytes(log.SerializeToString(deterministic=True))


def _trace(frame: Frame, texts: dict[str, int]) -> Message:
    """The trace of a frame; adds new strings to `texts`, which numbers them."""
    file, function, line = (
        texts.setdefault(text, len(texts) + 1) for text in (frame.file, frame.function, frame.text)
    )
    return message_class("tensorflow.tfprof.CodeDef.Trace")(
        lineno=frame.line, file_id=file, function_id=function, line_id=line
    )
