"""GraphDef files: the ops of a model with their inputs, shapes and attributes."""

from __future__ import annotations

from tfprof.errors import InputError
from tfprof.formats.graph_def import GRAPH, RAW_NODE, GraphColumns, decode
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import OutputShapes
from tfprof.sources import tf_frozen
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_names import TENSORFLOW_NAMES


def read(file: InputFile) -> Decoded[GraphColumns]:
    """The graph as columns."""
    return Decoded.of(file.content.records(GRAPH), decode)


def add(found: Decoded[GraphColumns], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Define the ops of the graph; an op that is already defined keeps its first definition.

    Ops inside functions are included if `file.reading.functions` or if the graph is frozen,
    otherwise a note counts them.
    """
    records, graph = found
    reading = file.reading
    frozen = tf_frozen.weights(graph)
    if reading.functions or frozen:
        from tfprof.sources import tf_functions  # noqa: PLC0415 -- most graphs do not need it

        batch = tf_functions.Batch(reading.batch_size, default=1 if frozen else 0)
        flat = tf_functions.flatten(records, graph, batch=batch, frozen=frozen)
        tf_functions.add(flat, builder)
        if frozen:
            from tfprof.sources import tf_layers  # noqa: PLC0415 -- the same

            tf_layers.add(builder, *tf_layers.by_scope(flat))
        return summary(file, ops=len(flat.columns.name))
    builder.notes += _ops_in_functions(records, graph)
    outputs = OutputShapes(graph.output_offsets, graph.output_shape)
    if reading.batch_size:
        from tfprof.sources import tf_functions  # noqa: PLC0415 -- only needed on request

        outputs, notes = tf_functions.sized_outputs(records, graph, reading.batch_size)
        builder.notes += notes
    builder.add_ops(
        OpColumns(
            name=graph.name,
            kind=graph.op,
            input_offsets=graph.input_offsets,
            input_name=graph.input_name,
            input_slot=graph.input_slot,
            shape=graph.shape,
            outputs=outputs,
            attributes=EncodedAttributes(
                records.left_in_file(), graph.start, graph.end, RAW_NODE, ("attr",)
            ),
            conventions=TENSORFLOW_NAMES,
        )
    )
    return summary(file, ops=len(graph.name))


def _ops_in_functions(records: Records, graph: GraphColumns) -> list[str]:
    """A note that ops inside functions are not included, if there are any."""
    if not graph.libraries:
        return []
    from tfprof.formats.function_def import Library  # noqa: PLC0415 -- most graphs have none

    try:
        count = Library(records, graph.libraries).size
    except InputError:  # a damaged library does not matter here
        return []
    if not count:
        return []
    ops = "1 op inside functions is" if count == 1 else f"{count:,} ops inside functions are"
    text = f"{records.path}: {ops} not included; include them with --functions."
    return [Note(text, Subject.PARAMS | Subject.FLOAT_OPS | Subject.OPS)]
