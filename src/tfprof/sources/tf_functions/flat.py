"""Flattens a graph: turns a layout into the columns of all ops and adds them to a profile."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Shapes, Strings, ints, joined
from tfprof.formats.function_def import Library
from tfprof.formats.graph_def import RAW_NODE, GraphColumns
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import SHAPE_ARITHMETIC, WALKED_CALL, OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_functions.flow import program
from tfprof.sources.tf_functions.layout import Edges, Layout
from tfprof.sources.tf_functions.notes import assumed, inference_notes, notes
from tfprof.sources.tf_functions.units import of_graph
from tfprof.sources.tf_functions.variables import Variables
from tfprof.sources.tf_names import TENSORFLOW_NAMES
from tfprof.sources.tf_shapes import Given, infer, leaves_only_batch_open


class Batch(NamedTuple):
    """The number of examples to assume where inputs leave it open."""

    size: int = 0  # 0 if unknown
    default: int = 0  # the size to assume if inputs leave nothing else open


_ANY_BATCH = Batch()


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """All ops of a program, one row each, and where each of them was defined."""

    columns: OpColumns
    attributes: EncodedAttributes
    function: Coded  # the function that contains the op, empty for the graph itself
    node: Strings  # the op's name in that function
    call: Ints  # the row of the call that runs the op, -1 for the graph itself
    calls: tuple[tuple[int, str], ...]  # the rows of the graph's own calls, with their functions
    walked: tuple[int, ...]  # the rows of calls whose functions are included
    repeats: Ints  # how often one run of the program runs the op, or `UNKNOWN_REPEATS`
    shape_arithmetic: Ints  # the rows of ops that only compute shapes, all of which are known
    notes: tuple[str, ...]

    def definitions(self) -> Iterator[tuple[str, str]]:
        """For each op, its name in its function, and the function."""
        functions = [self.function.values[code] for code in self.function.codes.tolist()]
        return zip(self.node, functions, strict=True)

    def paths(self) -> list[tuple[int, ...]]:
        """For each op, the rows of the enclosing calls and its own row.

        Sorted by these, the ops of a function are between its call and the ops after the call.
        """
        paths: list[tuple[int, ...]] = []
        for row, call in enumerate(self.call.tolist()):
            paths.append((row,) if call < 0 else (*paths[call], row))
        return paths

    def sources(self) -> list[list[str]]:
        """For each op, the names of the ops that its inputs come from."""
        names = list(self.columns.input_name)
        return [names[first:end] for first, end in pairwise(self.columns.input_offsets.tolist())]


def add(flat: Flat, builder: ProfileBuilder) -> None:
    """Define all ops, and mark the calls whose work is counted in the ops below them."""
    builder.add_ops(flat.columns)
    builder.notes += flat.notes
    ids = builder.ids(flat.columns.name)
    builder.set_repeats(ids, flat.repeats)
    for type_, rows in ((WALKED_CALL, flat.walked), (SHAPE_ARITHMETIC, flat.shape_arithmetic)):
        builder.add_type(type_, ids[ints(rows)])


def flatten(  # noqa: PLR0917 -- the options of all sources that use it
    records: Records,
    graph: GraphColumns,
    roots: Sequence[str] | None = None,
    batch: Batch = _ANY_BATCH,
    run_name: Callable[[str], str] | None = None,
    frozen: Sequence[int] = (),
) -> Flat:
    """The ops of `graph` and of all functions that it calls.

    `roots` limits them to the ops that contribute to one of these ops of the graph. `run_name`
    converts `call/op` to the name under which the op runs; several ops may then have the same name,
    and the edges are those of a graph with all calls inlined. `frozen` has the rows of constants
    that count as parameters.
    """
    library = Library(records, graph.libraries)
    layout = Layout(records, library, is_optional=roots is None and not frozen)
    layout.run(of_graph(records, graph, library, roots))
    edges = layout.edges() if run_name is None else layout.inlined_edges()
    attributes = _attributes(records, layout)
    node = Strings.joined([instance.unit.name for instance in layout.instances])
    columns, unknown = _columns(layout, edges, _names(layout, run_name), node, attributes)
    flow = program(records, layout, columns.kind, columns.outputs, attributes)
    size = batch.size or (batch.default if leaves_only_batch_open(flow) else 0)
    found = infer(flow, Given(size), layout.incomplete)
    columns = replace(columns, outputs=found.outputs)
    if frozen:
        weights = {graph.name[row] for row in frozen}
        columns = replace(columns, shape=_of_constants(columns, weights))
    sizes = [len(instance.unit) for instance in layout.instances]
    functions = Coded.of([instance.unit.function for instance in layout.instances])
    return Flat(
        columns=columns,
        attributes=attributes,
        function=Coded(np.repeat(functions.codes, sizes), functions.values),
        node=node,
        call=np.repeat(ints([instance.call for instance in layout.instances]), sizes),
        calls=tuple(
            (call.row, function)
            for call in layout.instances[0].unit.calls
            for function, _ in call.functions
        ),
        walked=tuple(layout.walked),
        repeats=found.repeats,
        shape_arithmetic=found.shape_arithmetic,
        notes=(
            *notes(records.path, layout, unknown),
            *([] if size == batch.size else [assumed(records.path, size)]),
            *inference_notes(records.path, columns.name, columns.kind, found),
        ),
    )


def sized_outputs(
    records: Records, graph: GraphColumns, batch_size: int
) -> tuple[OutputShapes, list[str]]:
    """The output shapes of a graph without its functions, for a batch size; and notes."""
    library = Library(records, [])
    layout = Layout(records, library)
    unit = of_graph(records, graph, library, None)
    layout.run(unit)
    flow = program(records, layout, unit.op, unit.outputs, _attributes(records, layout))
    found = infer(flow, Given(batch_size))
    rows = {name: row for row, name in enumerate(unit.name)}
    inferred = found.outputs.take(ints([rows[name] for name in graph.name]))
    return inferred, list(inference_notes(records.path, unit.name, unit.op, found))


def _of_constants(columns: OpColumns, names: Container[str]) -> Shapes:
    """The shapes of the parameters of a frozen graph: those of the constants with these names."""
    return Shapes.of(
        [
            columns.outputs.of(row, 0) if name in names else None
            for row, name in enumerate(columns.name)
        ]
    )


def _attributes(records: Records, layout: Layout) -> EncodedAttributes:
    start = joined([instance.unit.start for instance in layout.instances])
    end = joined([instance.unit.end for instance in layout.instances])
    return EncodedAttributes(records.left_in_file(), start, end, RAW_NODE, ("attr",))


def _columns(
    layout: Layout, edges: Edges, names: Strings, node: Strings, attributes: EncodedAttributes
) -> tuple[OpColumns, list[str]]:
    """The columns of all rows, and the variables of unknown shape."""
    units = [instance.unit for instance in layout.instances]
    kind = Coded.joined([unit.op for unit in units])
    outputs = OutputShapes.joined([unit.outputs for unit in units])
    variables = Variables(kind, Ragged(edges.offsets, edges.source), outputs, node, attributes)
    columns = OpColumns(
        name=names,
        kind=kind,
        input_offsets=edges.offsets,
        input_name=Strings.joined([names, Strings([""])]).take(
            np.where(edges.source < 0, len(names), edges.source)
        ),
        input_slot=edges.slot,
        shape=variables.shapes(Shapes.joined([unit.shape for unit in units])),
        outputs=outputs,
        attributes=attributes,
        conventions=TENSORFLOW_NAMES,
    )
    return columns, variables.unknown


def _names(layout: Layout, run_name: Callable[[str], str] | None) -> Strings:
    paths = [
        instance.prefix + name if instance.prefix else name
        for instance in layout.instances
        for name in instance.unit.name
    ]
    return _distinct(paths) if run_name is None else Strings(map(run_name, paths))


def _distinct(names: list[str]) -> Strings:
    """The names, with a number appended to repeated ones."""
    if len(set(names)) == len(names):
        return Strings(names)
    taken = set(names)
    numbers: dict[str, int] = {}  # the last number used for each name, 0 for the name itself
    for place, name in enumerate(names):
        number = numbers.get(name, -1) + 1
        while number and f"{name}_{number}" in taken:
            number += 1
        numbers[name] = number
        if number:
            names[place] = f"{name}_{number}"
            taken.add(names[place])
    return Strings(names)
