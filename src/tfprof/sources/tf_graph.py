"""A GraphDef: which ops there are, what feeds them, what shapes they have."""

from __future__ import annotations

from tfprof.formats import graph_def
from tfprof.formats.records import Records
from tfprof.model.builder import OpBatch, ProfileBuilder
from tfprof.sources.tf_attributes import EncodedAttributes


def add(records: Records, builder: ProfileBuilder) -> None:
    """Define the graph's ops; a name that is known already keeps its first definition."""
    graph = graph_def.decode(records)
    builder.add_ops(
        OpBatch(
            names=graph.name,
            kinds=graph.op,
            inputs=[[source(text) for text in row] for row in graph.inputs],
            shapes=graph.shape,
            outputs=graph.output_shapes,
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
