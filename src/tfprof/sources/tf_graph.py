"""A GraphDef: which ops there are, what feeds them, what shapes they have."""

from __future__ import annotations

from tfprof.columns import Strings, ints
from tfprof.formats import graph_def
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes


def add(records: Records, builder: ProfileBuilder) -> None:
    """Define the graph's ops; a name that is known already keeps its first definition."""
    graph = graph_def.decode(records)
    edges = [source(text) for text in graph.inputs]
    builder.add_ops(
        OpColumns(
            name=graph.name,
            kind=graph.op,
            input_offsets=graph.input_offsets,
            input_name=Strings([name for name, _ in edges]),
            input_slot=ints([slot for _, slot in edges]),
            shape=graph.shape,
            outputs=OutputShapes(graph.output_offsets, graph.output_shape),
            attributes=EncodedAttributes(
                records, graph.start, graph.end, graph_def.RAW_NODE, ("attr",)
            ),
        )
    )


def source(text: str) -> tuple[str, int]:
    """The op and the slot that an input names: `conv:1`, `conv` (slot 0), `^conv` (slot -1)."""
    name, _, slot = text.partition(":")
    if name.startswith("^"):
        return name[1:], -1
    return name, int(slot) if slot.isdecimal() and len(slot) < 10 else 0
