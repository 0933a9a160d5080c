"""A GraphDef: which ops there are, what feeds them, what shapes they have."""

from __future__ import annotations

from tfprof.formats.graph_def import GRAPH, RAW_NODE, GraphColumns, decode
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes

__all__ = ["MESSAGE", "add", "decode"]

MESSAGE = GRAPH


def add(records: Records, graph: GraphColumns, builder: ProfileBuilder) -> None:
    """Define the graph's ops; a name that is known already keeps its first definition."""
    builder.add_ops(
        OpColumns(
            name=graph.name,
            kind=graph.op,
            input_offsets=graph.input_offsets,
            input_name=graph.input_name,
            input_slot=graph.input_slot,
            shape=graph.shape,
            outputs=OutputShapes(graph.output_offsets, graph.output_shape),
            attributes=EncodedAttributes(
                records.left_in_file(), graph.start, graph.end, RAW_NODE, ("attr",)
            ),
        )
    )
