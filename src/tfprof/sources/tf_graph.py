"""A GraphDef: which ops there are, what feeds them, what shapes they have."""

from __future__ import annotations

from tfprof.errors import InputError
from tfprof.formats.graph_def import GRAPH, RAW_NODE, GraphColumns, decode
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_names import TENSORFLOW_NAMES


def read(file: InputFile) -> Decoded[GraphColumns]:
    """The graph as columns."""
    return Decoded.of(file.content.records(GRAPH), decode)


def add(found: Decoded[GraphColumns], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Define the graph's ops; a name that is already known keeps its first definition.

    Functions are counted if `file.reading` asks for it; otherwise a note says that there are some.
    """
    records, graph = found
    if file.reading.functions:
        from tfprof.sources import tf_functions  # noqa: PLC0415 -- most graphs have none

        flat = tf_functions.flatten(records, graph, batch_size=file.reading.batch_size)
        tf_functions.add(flat, builder)
        return summary(file, ops=len(flat.columns.name))
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
    return summary(file, ops=len(graph.name))


def _left_out(records: Records, graph: GraphColumns) -> list[str]:
    """What is in functions, as a sentence, if anything is."""
    if not graph.libraries:
        return []
    from tfprof.formats.function_def import Library  # noqa: PLC0415 -- most graphs have none

    try:
        count = Library(records, graph.libraries).size
    except InputError:  # nobody asked for them
        return []
    if not count:
        return []
    ops = "1 op is" if count == 1 else f"{count:,} ops are"
    return [f"{records.path}: {ops} inside functions and left out; --functions counts them."]
