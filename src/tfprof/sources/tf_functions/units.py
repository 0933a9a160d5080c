"""The units of a layout: a graph or the body of a function, with inputs resolved to rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, NameTable, Ragged, Shapes, Strings, ints, joined
from tfprof.formats import op_outputs
from tfprof.formats.function_def import Body, Function, Library
from tfprof.formats.graph_def import GraphColumns
from tfprof.formats.records import Records
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_functions.calls import Call, calls

_NOTHING = -(1 << 40)  # an unknown source; other negative sources are arguments


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A graph or the body of a function, one row per node.

    A source is a row of the unit or an argument: -1 is the first argument, -2 the second.
    """

    function: str  # empty for the graph itself
    start: Ints
    end: Ints
    name: Strings
    op: Coded
    inputs: Ragged
    slot: Ints
    shape: Shapes
    outputs: OutputShapes
    calls: tuple[Call, ...]
    results: Ints
    result_slots: Ints

    def __len__(self) -> int:
        return len(self.name)


def of_graph(
    records: Records, graph: GraphColumns, library: Library, roots: Sequence[str] | None
) -> Unit:
    """The graph itself, or only the ops that contribute to `roots`."""
    table = NameTable()
    ids = table.add(graph.name)
    first = np.full(len(table), -1)
    first[ids[::-1]] = np.arange(len(ids))[::-1]  # the first definition of a name counts
    first = np.append(first, _NOTHING)
    inputs = Ragged(graph.input_offsets, first[table.find(graph.input_name)])
    rows = np.flatnonzero(first[ids] == np.arange(len(ids)))
    if roots is not None:
        rows = _leading_to(inputs, first[table.find(roots)])
    nothing = ints([])
    return _unit(records, library, graph, rows, inputs, graph.input_slot, "", nothing, nothing)


def of_function(records: Records, function: Function, library: Library) -> Unit:
    """The body of a function, without nodes that contribute to no result, as they do not run."""
    body = function.body
    rows: dict[str, int] = {}
    for row, name in enumerate(body.name):
        rows.setdefault(name, row)
    arguments = {name: -1 - place for place, name in enumerate(function.arguments)}
    kinds = [body.op.values[code] for code in body.op.codes.tolist()]

    def resolved(texts: Iterable[str]) -> tuple[Ints, Ints]:
        found = [_source(text, rows, arguments, kinds) for text in texts]
        return ints([source for source, _ in found]), ints([slot for _, slot in found])

    source, slot = resolved(body.input.values)
    inputs = Ragged(body.input_offsets, source[body.input.codes])
    results, result_slots = resolved(function.results)
    ends = [rows[name] for name in function.also_run if name in rows]
    wanted = np.arange(len(body.name))
    if len(results) or ends:
        wanted = _leading_to(inputs, joined([results, ints(ends)]))
    slots = slot[body.input.codes]
    return _unit(
        records, library, body, wanted, inputs, slots, function.name, results, result_slots
    )


def _unit(  # noqa: PLR0917 -- the parts of both kinds of units
    records: Records,
    library: Library,
    nodes: GraphColumns | Body,
    rows: Ints,
    inputs: Ragged,
    slots: Ints,
    function: str,
    results: Ints,
    result_slots: Ints,
) -> Unit:
    """The unit with only these rows of `nodes`."""
    place = np.full(len(inputs) + 1, _NOTHING)
    place[rows] = np.arange(len(rows))
    taken = inputs.take(rows)
    kinds, start, end = nodes.op.take(rows), nodes.start[rows], nodes.end[rows]
    return Unit(
        function=function,
        start=start,
        end=end,
        name=nodes.name.take(rows),
        op=kinds,
        inputs=Ragged(taken.offsets, _moved(taken.values, place)),
        slot=Ragged(inputs.offsets, slots).take(rows).values,
        shape=nodes.shape.take(rows),
        outputs=OutputShapes(nodes.output_offsets, nodes.output_shape).take(rows),
        calls=calls(records, kinds, start, end, library),
        results=_moved(results, place),
        result_slots=result_slots,
    )


def _moved(sources: Ints, place: Ints) -> Ints:
    """The new rows of `sources`; arguments are unchanged."""
    return np.where(sources >= 0, place[np.maximum(sources, 0)], sources)


def _leading_to(inputs: Ragged, roots: Ints) -> Ints:
    """The roots, and all rows with a path of edges to a root."""
    is_wanted = bytearray(len(inputs))
    offsets, sources = inputs.offsets.tolist(), inputs.values.tolist()
    waiting = [row for row in roots.tolist() if row >= 0]
    # Row by row: a chain may be as long as the graph, so numpy on whole levels would not be faster.
    while waiting:
        row = waiting.pop()
        if not is_wanted[row]:
            is_wanted[row] = 1
            edges = sources[offsets[row] : offsets[row + 1]]
            waiting += [source for source in edges if source >= 0 and not is_wanted[source]]
    return np.flatnonzero(np.frombuffer(is_wanted, np.uint8))


def _source(
    text: str, rows: dict[str, int], arguments: dict[str, int], kinds: Sequence[str]
) -> tuple[int, int]:
    """The row (or argument number) and slot that an input in a function's body refers to."""
    if text.startswith("^"):
        name = text[1:]
        return rows.get(name, arguments.get(name, _NOTHING)), -1
    name, _, output = text.partition(":")
    if name in arguments and not output:
        return arguments[name], 0
    if name not in rows:
        return arguments.get(name, _NOTHING), 0
    label, _, index = output.rpartition(":")
    number = int(index) if index.isdecimal() and len(index) < 6 else 0
    return rows[name], op_outputs.slot(kinds[rows[name]], label, number) if label else number
