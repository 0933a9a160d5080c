"""A TensorFlow graph with all that it calls: the ops in functions, each under the call's name.

A call stays an op. What its functions are made of stands below it, `call/op`; in a loop, a choice
or a case below `call/body/op`, `call/then/op` and the like. An op that takes an argument takes what
the call was given, and the call waits for the results, so a chain of ops leads through it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tfprof.columns import (
    Coded,
    Ints,
    NameTable,
    Ragged,
    Shape,
    Shapes,
    Strings,
    ints,
    joined,
    offsets_of,
)
from tfprof.errors import InputError
from tfprof.formats import op_outputs
from tfprof.formats.function_def import Body, Function, Library
from tfprof.formats.graph_def import RAW_NODE, GraphColumns
from tfprof.formats.messages import Message
from tfprof.formats.records import Records
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import WALKED_CALL, OutputShapes
from tfprof.sources import tf_shapes
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_names import TENSORFLOW_NAMES

# No model is so large, but a small file can call functions that call functions so often.
_MOST_OPS = 4_000_000
_MOST_EDGES = 10 * _MOST_OPS
_MOST_LETTERS = 1 << 30  # in the names of all ops
_MOST_NESTED = 100

_NOTHING = -(1 << 40)  # as a source: no such op; other numbers below 0 are arguments, from -1 on

_CONDITION = "cond/"

# What calls functions: under which attributes they stand, and what goes between call and op.
_CALLS = {
    "PartitionedCall": {"f": ""},
    "StatefulPartitionedCall": {"f": ""},
    "TPUPartitionedCall": {"f": ""},
    "While": {"cond": _CONDITION, "body": "body/"},
    "StatelessWhile": {"cond": _CONDITION, "body": "body/"},
    "If": {"then_branch": "then/", "else_branch": "else/"},
    "StatelessIf": {"then_branch": "then/", "else_branch": "else/"},
    "Case": {"branches": "branch_"},
    "StatelessCase": {"branches": "branch_"},
}
_LOOPS = ("While", "StatelessWhile")
_CHOICES = ("If", "StatelessIf", "Case", "StatelessCase")  # the first input chooses, and is no more

# What has parameters, by its attribute `shape`. A placeholder has that attribute too.
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
_HANDLES = ("Placeholder", "PlaceholderWithDefault", "_Arg")  # may stand for a variable
_READS = ("ReadVariableOp",)
# TensorFlow's name for variables that share nothing.
_ANONYMOUS = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """All ops of a program, a row each, and where each one was defined."""

    columns: OpColumns
    function: Coded  # the function whose body has it, empty for the graph itself
    node: Strings  # its name there
    calls: tuple[tuple[int, str], ...]  # the rows of the graph itself that call a function
    walked: tuple[int, ...]  # the rows of calls whose functions are counted
    notes: tuple[str, ...]


class _Call(NamedTuple):
    """A node that calls functions, and by what each goes below the name of the node."""

    row: int
    kind: str
    functions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """A graph or the body of a function; its inputs are rows of it, or arguments."""

    function: str
    start: Ints
    end: Ints
    name: Strings
    op: Coded
    inputs: Ragged
    slot: Ints
    shape: Shapes
    outputs: OutputShapes
    calls: tuple[_Call, ...]
    results: Ints
    result_slots: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Instance:
    """One use of a unit: the prefix of its names, its first row, and its edges as rows of all."""

    unit: _Unit
    prefix: str
    source: Ints
    slot: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """A function that is to be called: by whom, within what, and with which arguments."""

    function: str
    caller: int
    prefix: str
    source: Ints
    slot: Ints
    callers: tuple[str, ...]
    only_decides: bool  # its result is none of the call's


def add(flat: Flat, builder: ProfileBuilder) -> None:
    """Define all ops, and mark the calls whose work is that of the ops below them."""
    builder.add_ops(flat.columns)
    builder.notes += flat.notes
    calls = builder.ids([flat.columns.name[row] for row in flat.walked])
    builder.add_types(calls, Coded(np.zeros(len(calls), np.int64), Strings([WALKED_CALL])))


def flatten(
    records: Records,
    graph: GraphColumns,
    roots: Sequence[str] | None = None,
    batch_size: int = 0,
) -> Flat:
    """The ops of `graph` and of all functions it calls.

    With `roots`, only the ops of the graph that lead to one of these. With a `batch_size`, shapes
    are those of so many examples where the graph leaves that open.
    """
    library = Library(records, graph.libraries)
    walk = _Walk(records, library)
    walk.run(_of_graph(records, graph, library, roots))
    return walk.flat(batch_size)


class _Walk:
    """Follows calls, and collects what there is."""

    def __init__(self, records: Records, library: Library) -> None:
        self._records = records
        self._library = library
        self._units: dict[str, _Unit] = {}
        self._instances: list[_Instance] = []
        self._rows = self._edges = self._letters = 0
        self._waits: list[tuple[int, Ints]] = []  # calls, and the ops whose ends they wait for
        self._results: dict[
            int, list[tuple[int, int]]
        ] = {}  # of calls, which op and output each is
        self._walked: dict[int, str] = {}  # calls whose functions are counted, and their kinds
        self._missing: dict[str, None] = {}
        self._recursive: dict[str, None] = {}

    def run(self, graph: _Unit) -> None:
        """Take the graph, and what it calls, and what that calls."""
        none = ints([])
        pending = list(self._place(graph, "", none, none, ()))
        while pending:
            call = pending.pop()
            unit = self._unit(call.function)
            base = self._rows
            callers = (*call.callers, call.function)
            pending += self._place(unit, call.prefix, call.source, call.slot, callers)
            ends, slots = _bound(unit.results, unit.result_slots, base, call.source, call.slot)
            if not call.only_decides:
                given = list(zip(ends.tolist(), slots.tolist(), strict=True))
                self._results.setdefault(call.caller, given)
            self._waits.append((call.caller, ends[ends >= 0]))

    def _unit(self, name: str) -> _Unit:
        if name not in self._units:
            self._units[name] = _of_function(self._records, self._library[name], self._library)
        return self._units[name]

    def _place(
        self, unit: _Unit, prefix: str, source: Ints, slot: Ints, callers: tuple[str, ...]
    ) -> Iterator[_Pending]:
        """Use a unit with these arguments; you get what it calls."""
        base = self._rows
        self._rows += len(unit.name)
        self._edges += len(unit.slot)
        self._letters += len(unit.name) * len(prefix) + int(unit.name.lengths.sum())
        self._require_bounds(callers)
        sources, slots = _bound(unit.inputs.values, unit.slot, base, source, slot)
        self._instances.append(_Instance(unit, prefix, sources, slots))
        return self._called(self._instances[-1], base, callers)

    def _called(
        self, instance: _Instance, base: int, callers: tuple[str, ...]
    ) -> Iterator[_Pending]:
        unit, offsets = instance.unit, instance.unit.inputs.offsets
        for call in unit.calls:
            edges = slice(int(offsets[call.row]), int(offsets[call.row + 1]))
            source, slot = instance.source[edges], instance.slot[edges]
            given = np.flatnonzero(slot >= 0)[1 if call.kind in _CHOICES else 0 :]
            for function, below in call.functions:
                if function not in self._library:
                    self._missing[function] = None
                elif function in callers:
                    self._recursive[function] = None
                else:
                    self._walked[base + call.row] = call.kind
                    prefix = f"{instance.prefix}{unit.name[call.row]}/{below}"
                    yield _Pending(
                        function,
                        base + call.row,
                        prefix,
                        source[given],
                        slot[given],
                        callers,
                        below == _CONDITION,
                    )

    def _require_bounds(self, callers: Sequence[str]) -> None:
        if self._rows > _MOST_OPS or self._edges > _MOST_EDGES or self._letters > _MOST_LETTERS:
            reason = f"come to more than {_MOST_OPS:,} ops"
        elif len(callers) > _MOST_NESTED:
            reason = f"are nested more than {_MOST_NESTED} deep"
        else:
            return
        raise InputError(
            self._records.path,
            f"its functions {reason} where they are called; read it without --functions.",
        )

    def flat(self, batch_size: int) -> Flat:
        """Everything that was found, as columns."""
        instances = self._instances
        units = [instance.unit for instance in instances]
        node = Strings.joined([unit.name for unit in units])
        names = _distinct_names(
            [
                instance.prefix + name if instance.prefix else name
                for instance in instances
                for name in instance.unit.name
            ]
        )
        kind = Coded.joined([unit.op for unit in units])
        offsets, source, slot = self._all_edges()
        start, end = joined([unit.start for unit in units]), joined([unit.end for unit in units])
        outputs = OutputShapes.joined([unit.outputs for unit in units])
        attributes = EncodedAttributes(
            self._records.left_in_file(), start, end, RAW_NODE, ("attr",)
        )
        parameters = _Parameters(kind, Ragged(offsets, source), outputs, node, attributes)
        shape = parameters.shapes(Shapes.joined([unit.shape for unit in units]))
        functions = Coded.of([unit.function for unit in units])
        columns = OpColumns(
            name=names,
            kind=kind,
            input_offsets=offsets,
            input_name=Strings.joined([names, Strings([""])]).take(
                np.where(source < 0, len(names), source)
            ),
            input_slot=slot,
            shape=shape,
            outputs=outputs,
            attributes=attributes,
            conventions=TENSORFLOW_NAMES,
        )
        if batch_size:
            sized = tf_shapes.outputs_for(columns, source, self._results, batch_size)
            columns = replace(columns, outputs=sized)
        return Flat(
            columns=columns,
            function=Coded(
                np.repeat(functions.codes, [len(unit.name) for unit in units]), functions.values
            ),
            node=node,
            calls=tuple(
                (call.row, function) for call in units[0].calls for function, _ in call.functions
            ),
            walked=tuple(self._walked),
            notes=(*self._notes(), *parameters.notes()),
        )

    def _all_edges(self) -> tuple[Ints, Ints, Ints]:
        """The edges of all ops, those first by which a call waits for its results."""
        owners = [ints(np.full(len(ends), call)) for call, ends in self._waits]
        sources = [ends for _, ends in self._waits]
        slots = [ints(np.full(len(ends), -1)) for ends in sources]
        before = 0
        for instance in self._instances:
            owners.append(instance.unit.inputs.owners + before)
            sources.append(instance.source)
            slots.append(instance.slot)
            before += len(instance.unit.name)
        owner, source, slot = joined(owners), joined(sources), joined(slots)
        order = np.argsort(owner, kind="stable")
        lengths = np.bincount(owner, minlength=self._rows)
        return offsets_of(lengths), source[order], slot[order]

    def _notes(self) -> Iterator[str]:
        path = self._records.path
        told = Counter(self._walked.values())
        if loops := sum(told[kind] for kind in _LOOPS):
            yield (
                f"{path} has {_count(loops, 'loop')}: float ops are those of one round, as nobody "
                "can tell how many there will be."
            )
        if choices := sum(told[kind] for kind in _CHOICES):
            yield (
                f"{path} has {_count(choices, 'conditional')}: float ops are those of all "
                "branches, of which one will run."
            )
        if self._recursive:
            names = ", ".join(f"`{name}`" for name in list(self._recursive)[:3])
            yield f"{path}: {names} calls itself; what it calls then is not counted."
        if self._missing:
            names = ", ".join(f"`{name}`" for name in list(self._missing)[:3])
            yield f"{path} lacks functions that it calls ({names}); they are not counted."


@dataclass(slots=True, eq=False)
class _Parameters:
    """Which ops are variables, and of what shape: each variable once, and no placeholder."""

    kind: Coded
    inputs: Ragged
    outputs: OutputShapes
    node: Strings
    attributes: EncodedAttributes
    unknown: list[str] = field(default_factory=list)  # variables of which nobody tells the shape

    def shapes(self, stated: Shapes) -> Shapes:
        """The shape of the parameters that each op stands for, from those that ops state."""
        found: dict[int, Shape] = {}
        seen: set[tuple[str, bytes | str]] = set()
        for row in self._of_kinds(_VARIABLES).tolist():
            key = self._identity(row)
            if key not in seen:
                found[row] = stated[row]
            seen.add(key)
        found |= self._handles()
        codes = Shapes.of([None, *found.values()])
        column = np.zeros(len(stated), np.int64)  # the first code: no shape
        column[list(found)] = codes.codes[1:]
        return Shapes(ints(column), codes.values)

    def _identity(self, row: int) -> tuple[str, bytes | str]:
        """What tells one variable from others, whatever the ops that stand for it are called."""
        ((container, shared),) = self.attributes.encoded_values(
            ints([row]), ("container", "shared_name")
        )
        # An encoded attribute of text: a tag, a length, the text.
        if shared and len(shared) > 2 and not shared.endswith(_ANONYMOUS):
            return "shared", (container or b"") + shared
        if shared and shared.endswith(_ANONYMOUS):
            return "row", str(row)
        return "node", self.node[row]

    def _handles(self) -> dict[int, Shape]:
        """Placeholders that stand for variables, as some op reads a variable from them."""
        is_handle = np.zeros(len(self.kind), np.bool_)
        is_handle[self._of_kinds(_HANDLES)] = True
        found: dict[int, Shape] = {}
        for row in self._of_kinds(_READS).tolist():
            sources = self.inputs[row]
            if len(sources) and is_handle[sources[0]]:
                shape = self.outputs.of(row, 0)
                if found.get(int(sources[0])) is None:
                    found[int(sources[0])] = shape
        self.unknown = [self.node[row] for row, shape in found.items() if _is_open(shape)]
        return found

    def _of_kinds(self, kinds: Iterable[str]) -> Ints:
        codes = [code for code, kind in enumerate(self.kind.values) if kind in kinds]
        return np.flatnonzero(np.isin(self.kind.codes, codes))

    def notes(self) -> Iterator[str]:
        if self.unknown:
            yield (
                f"of {_count(len(self.unknown), 'variable')} nobody tells the shape "
                f"(`{self.unknown[0]}`); they count for no parameters."
            )


def _is_open(shape: Shape) -> bool:
    return shape is None or min(shape, default=0) < 0


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _bound(
    local: Ints, slots: Ints, base: int, arguments: Ints, argument_slots: Ints
) -> tuple[Ints, Ints]:
    """Sources as rows of all and their slots, where a unit begins at `base`; -1 for no op."""
    source = np.where(local >= 0, local + base, -1)
    slot = np.array(slots)
    places = np.flatnonzero((local < 0) & (local >= -len(arguments)))
    wanted = -1 - local[places]
    source[places] = arguments[wanted]
    slot[places] = np.where(slot[places] < 0, -1, argument_slots[wanted])
    return ints(source), ints(slot)


def _of_graph(
    records: Records, graph: GraphColumns, library: Library, roots: Sequence[str] | None
) -> _Unit:
    table = NameTable()
    ids = table.add(graph.name)
    first = np.full(len(table), -1)
    first[ids[::-1]] = np.arange(len(ids))[::-1]  # what is first said of a name stays
    first = np.append(first, _NOTHING)
    inputs = Ragged(graph.input_offsets, first[table.find(graph.input_name)])
    rows = np.flatnonzero(first[ids] == np.arange(len(ids)))
    if roots is not None:
        rows = _leading_to(inputs, first[table.find(roots)])
    nothing = ints([])
    return _unit(records, library, graph, rows, inputs, graph.input_slot, "", nothing, nothing)


def _of_function(records: Records, function: Function, library: Library) -> _Unit:
    """The body of a function, but for what leads to nothing: that does not run either."""
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


def _unit(  # noqa: PLR0917 -- what both kinds of units are made of
    records: Records,
    library: Library,
    nodes: GraphColumns | Body,
    rows: Ints,
    inputs: Ragged,
    slots: Ints,
    function: str,
    results: Ints,
    result_slots: Ints,
) -> _Unit:
    """The unit of these rows of `nodes` alone."""
    place = np.full(len(inputs) + 1, _NOTHING)
    place[rows] = np.arange(len(rows))
    taken = inputs.take(rows)
    kinds, start, end = nodes.op.take(rows), nodes.start[rows], nodes.end[rows]
    return _Unit(
        function=function,
        start=start,
        end=end,
        name=nodes.name.take(rows),
        op=kinds,
        inputs=Ragged(taken.offsets, _moved(taken.values, place)),
        slot=Ragged(inputs.offsets, slots).take(rows).values,
        shape=nodes.shape.take(rows),
        outputs=OutputShapes(nodes.output_offsets, nodes.output_shape).take(rows),
        calls=_calls(records, kinds, start, end, library),
        results=_moved(results, place),
        result_slots=result_slots,
    )


def _moved(sources: Ints, place: Ints) -> Ints:
    """Where rows are now; arguments stay what they are."""
    return np.where(sources >= 0, place[np.maximum(sources, 0)], sources)


def _leading_to(inputs: Ragged, roots: Ints) -> Ints:
    """The rows from which an edge, or several, lead to one of `roots`, and these."""
    is_wanted = bytearray(len(inputs))
    offsets, sources = inputs.offsets.tolist(), inputs.values.tolist()
    waiting = [row for row in roots.tolist() if row >= 0]
    while waiting:  # a chain may be as long as the graph, so not front by front
        row = waiting.pop()
        if not is_wanted[row]:
            is_wanted[row] = 1
            edges = sources[offsets[row] : offsets[row + 1]]
            waiting += [source for source in edges if source >= 0 and not is_wanted[source]]
    return np.flatnonzero(np.frombuffer(is_wanted, np.uint8))


def _source(
    text: str, rows: dict[str, int], arguments: dict[str, int], kinds: Sequence[str]
) -> tuple[int, int]:
    """The row and slot that an input in a body names, or the number of an argument."""
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


def _calls(
    records: Records, kinds: Coded, start: Ints, end: Ints, library: Library
) -> tuple[_Call, ...]:
    """The nodes that call functions."""
    names = list(kinds.values)
    codes = [code for code, kind in enumerate(names) if kind in _CALLS or kind in library]
    rows = np.flatnonzero(np.isin(kinds.codes, codes)).tolist()
    found = []
    for row in rows:
        kind = names[kinds.codes[row]]
        if kind in library:  # the older way to call one
            functions = [(kind, "")]
        else:
            node = records.parse("tensorflow.NodeDef", int(start[row]), int(end[row]))
            functions = list(_functions(node, _CALLS[kind]))
        found.append(_Call(row, kind, tuple(functions)))
    return tuple(found)


def _functions(node: Message, attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    for attribute, below in attributes.items():
        if attribute not in node.attr:
            continue
        value = node.attr[attribute]
        if value.WhichOneof("value") == "func":
            yield value.func.name, below
        for number, function in enumerate(value.list.func):
            yield function.name, f"{below}{number}/"


def _distinct_names(names: list[str]) -> Strings:
    """The names, with a number behind those that another op has already."""
    if len(set(names)) == len(names):
        return Strings(names)
    taken = set(names)
    numbers: dict[str, int] = {}  # the last one that was put behind each name, 0 for the first op
    for place, name in enumerate(names):
        number = numbers.get(name, -1) + 1
        while number and f"{name}_{number}" in taken:
            number += 1
        numbers[name] = number
        if number:
            names[place] = f"{name}_{number}"
            taken.add(names[place])
    return Strings(names)
