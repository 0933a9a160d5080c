"""SavedModel: a graph with its functions, signatures and variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tfprof.errors import InputError
from tfprof.formats import graph_def
from tfprof.formats.graph_def import GraphColumns
from tfprof.formats.messages import Message
from tfprof.formats.records import Records
from tfprof.formats.saved_objects import SavedObjects
from tfprof.formats.wire import SPAN

SAVED_MODEL = "tensorflow.SavedModel"
_SERVING = "serve"  # the tag that marks the graph to use if there are several

# The fields of a MetaGraphDef.
_INFO, _GRAPH, _SIGNATURE, _OBJECTS = 1, 2, 5, 7
_META_GRAPHS = 2


@dataclass(frozen=True, slots=True, eq=False)
class MetaGraph:
    """A graph and its metadata."""

    graph: GraphColumns
    tags: tuple[str, ...]
    # Signature names and the ops that produce their results.
    signatures: dict[str, list[str]] = field(default_factory=dict)
    objects: SavedObjects = field(default_factory=SavedObjects)


def decode(records: Records) -> MetaGraph:
    """The graph tagged for serving, or else the first."""
    found = [_meta_graph(records, *span) for span in records.spans(_META_GRAPHS)]
    if not found:
        raise InputError(records.path, "is a SavedModel without a graph; was it saved completely?")
    serving = [meta_graph for meta_graph in found if _SERVING in meta_graph.tags]
    return (serving or found)[0]


def _meta_graph(records: Records, start: int, end: int) -> MetaGraph:
    graph, tags = None, []
    signatures: dict[str, list[str]] = {}
    objects = SavedObjects()
    for number, kind, first, last in records.fields(start, end):
        if kind != SPAN:
            continue
        if number == _INFO:
            tags += records.parse("tensorflow.MetaGraphDef.MetaInfoDef", first, last).tags
        elif number == _GRAPH:
            graph = _graph(records, first, last)
        elif number == _SIGNATURE:
            entry = records.parse("tensorflow.MetaGraphDef.SignatureDefEntry", first, last)
            signatures[entry.key] = list(_ops(entry.value))
        elif number == _OBJECTS:
            objects = SavedObjects.of(records.parse("tensorflow.SavedObjectGraph", first, last))
    if graph is None:
        raise InputError(records.path, "lacks one of its graphs; was it saved completely?")
    return MetaGraph(graph, tuple(tags), signatures, objects)


def _graph(records: Records, start: int, end: int) -> GraphColumns:
    """The graph from byte `start` to `end`, with positions relative to the whole file."""
    found = graph_def.decode(Records(records.path, records.data[start:end]))
    return replace(
        found,
        start=found.start + start,
        end=found.end + start,
        libraries=[(first + start, last + start) for first, last in found.libraries],
    )


def _ops(signature: Message) -> Iterator[str]:
    """The ops that produce the results of a signature."""
    waiting = list(signature.outputs.values())
    while waiting:
        tensor = waiting.pop()
        waiting += tensor.composite_tensor.components
        sparse = tensor.coo_sparse
        names = (
            tensor.name,
            sparse.values_tensor_name,
            sparse.indices_tensor_name,
            sparse.dense_shape_tensor_name,
        )
        yield from (name.partition(":")[0] for name in names if name)
