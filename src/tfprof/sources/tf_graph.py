"""A GraphDef: which ops there are, what feeds them, what shapes they have."""

from __future__ import annotations

from tfprof.formats import graph_def
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes


def add(records: Records, builder: ProfileBuilder) -> None:
    """Define the graph's ops; a name that is known already keeps its first definition."""
    graph = graph_def.decode(records)
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
                records, graph.start, graph.end, graph_def.RAW_NODE, ("attr",)
            ),
        )
    )
