"""A GraphDef: which ops there are, what feeds them, what shapes they have."""

from __future__ import annotations

from tfprof.errors import InputError
from tfprof.formats.function_def import Library
from tfprof.formats.graph_def import GRAPH, RAW_NODE, GraphColumns, decode
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes
from tfprof.sources.reading import Reading
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_names import TENSORFLOW_NAMES

__all__ = ["MESSAGE", "add", "decode"]

MESSAGE = GRAPH


def add(
    records: Records,
    graph: GraphColumns,
    builder: ProfileBuilder,
    reading: Reading = Reading(),  # noqa: B008 -- a value
) -> None:
    """Define the graph's ops; a name that is known already keeps its first definition.

    Functions are counted where `reading` says so, and else a note tells that there are some.
    """
    if reading.functions:
        from tfprof.sources import tf_functions  # noqa: PLC0415 -- most graphs do without

        found = tf_functions.flatten(records, graph, batch_size=reading.batch_size)
        tf_functions.add(found, builder)
        return
    builder.notes += _left_out(records, graph)
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
            conventions=TENSORFLOW_NAMES,
        )
    )


def _left_out(records: Records, graph: GraphColumns) -> list[str]:
    """What is in functions, as a sentence, if anything is."""
    try:
        count = Library(records, graph.libraries).size if graph.libraries else 0
    except InputError:  # nobody asked for them
        return []
    if not count:
        return []
    ops = "1 op is" if count == 1 else f"{count:,} ops are"
    return [f"{records.path}: {ops} inside functions and left out; --functions counts them."]
