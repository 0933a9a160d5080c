"""Follows the calls of a graph into functions and lays out all ops as rows, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, ints, joined, offsets_of
from tfprof.errors import InputError
from tfprof.formats.function_def import Library
from tfprof.formats.records import Records
from tfprof.sources.tf_functions.calls import CONDITION, is_loop, is_plain
from tfprof.sources.tf_functions.units import Unit, of_function

# No model comes near these limits, but in a small file functions may call each other many times.
_MOST_OPS = 4_000_000
_MOST_EDGES = 10 * _MOST_OPS
_MOST_LETTERS = 1 << 30  # in the names of all ops
_MOST_NESTED = 100
_MOST_CALLS = 50_000
_NO_OP = (-1, 0)


class Tensors(NamedTuple):
    """Tensors as rows and output slots; the row is -1 for no op, and below that a loop variable.

    The variables of all loops are -2, -3 and so on.
    """

    source: Ints
    slot: Ints

    def take(self, places: Ints) -> Tensors:
        return Tensors(self.source[places], self.slot[places])

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.source.tolist(), self.slot.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """A unit to lay out: the call that uses it, the name prefix, and the arguments."""

    function: str
    call: int  # a row, -1 for the graph itself
    prefix: str
    given: Tensors
    flow: Tensors  # the same, except that loop variables are not replaced by their initial values
    callers: tuple[str, ...]  # the enclosing functions and this one
    is_condition: bool  # the condition of a loop, whose result the call does not return


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A unit after layout; sources are rows of the whole layout, or -1 for no op."""

    unit: Unit
    call: int
    prefix: str
    inputs: Tensors
    flow: Tensors  # the same, except that loop variables are not replaced by their initial values
    is_condition: bool


class Edges(NamedTuple):
    """The inputs of each row: those of row `i` are `offsets[i]` to `offsets[i + 1]`."""

    offsets: Ints
    source: Ints  # a row, or -1 for no op
    slot: Ints  # -1 for a control dependency

    @classmethod
    def of(cls, owner: Ints, source: Ints, slot: Ints, rows: int) -> Self:
        """The edges into `rows` rows, from columns sorted by `owner`."""
        return cls(offsets_of(np.bincount(owner, minlength=rows)), source, slot)


class Layout:
    """The rows of a graph and of all functions that it calls, and the edges between them."""

    def __init__(self, records: Records, library: Library, *, is_optional: bool = False) -> None:
        """Start with nothing; `is_optional` says that the file can be read without functions."""
        self._records = records
        self._is_optional = is_optional
        self._library = library
        self._units: dict[str, Unit] = {}
        self._rows = self._edges = self._letters = 0
        self._waits: list[tuple[int, Ints]] = []  # calls, and the rows of their results
        self.instances: list[Instance] = []
        self.results: dict[int, list[tuple[int, int]]] = {}  # rows and slots, by call
        self.flow_results: dict[int, list[list[tuple[int, int]]]] = {}  # by call and function
        self.conditions: dict[int, tuple[int, int]] = {}  # the result of each loop's condition
        self.variables: dict[int, range] = {}  # of each loop, as places in `initial`
        self.initial: list[tuple[int, int]] = []  # the initial value of each loop variable
        self.incomplete: set[int] = set()  # calls that lack a function
        self.walked: dict[int, str] = {}  # the kinds of calls whose functions are laid out
        self.missing: dict[str, None] = {}
        self.recursive: dict[str, None] = {}

    def run(self, graph: Unit) -> None:
        """Lay out `graph` and, recursively, the functions that it calls."""
        nothing = Tensors(ints([]), ints([]))
        pending = list(self._place(graph, _Use("", -1, "", nothing, nothing, (), False)))
        while pending:
            use = pending.pop()
            unit = self._unit(use.function)
            base = self._rows
            pending += self._place(unit, use)
            ends = _bound(unit.results, unit.result_slots, base, use.given)
            flow = _bound(unit.results, unit.result_slots, base, use.flow)
            if use.is_condition:
                self.conditions[use.call] = next(iter(flow.pairs()), _NO_OP)
            else:
                self.results.setdefault(use.call, ends.pairs())
                self.flow_results.setdefault(use.call, []).append(flow.pairs())
            self._waits.append((use.call, ends.source[ends.source >= 0]))

    def _unit(self, name: str) -> Unit:
        if name not in self._units:
            self._units[name] = of_function(self._records, self._library[name], self._library)
        return self._units[name]

    def _place(self, unit: Unit, use: _Use) -> Iterator[_Use]:
        """Add the rows of a unit, and yield the functions that it calls."""
        base = self._rows
        self._rows += len(unit)
        self._edges += len(unit.slot)
        self._letters += len(unit) * len(use.prefix) + int(unit.name.lengths.sum())
        self._check_limits(len(use.callers))
        inputs = _bound(unit.inputs.values, unit.slot, base, use.given)
        # Outside of loops both are the same, and so share their memory.
        is_same = use.flow is use.given
        flow = inputs if is_same else _bound(unit.inputs.values, unit.slot, base, use.flow)
        self.instances.append(Instance(unit, use.call, use.prefix, inputs, flow, use.is_condition))
        return self._called(self.instances[-1], base, use.callers)

    def _called(self, instance: Instance, base: int, callers: tuple[str, ...]) -> Iterator[_Use]:
        unit, offsets = instance.unit, instance.unit.inputs.offsets
        for call in unit.calls:
            edges = np.arange(int(offsets[call.row]), int(offsets[call.row + 1]))
            given = edges[np.flatnonzero(instance.inputs.slot[edges] >= 0)][call.first_argument :]
            arguments = instance.inputs.take(given)
            is_same = instance.flow is instance.inputs
            flow = arguments if is_same else instance.flow.take(given)
            if is_loop(call.kind):
                flow = self._add_variables(base + call.row, flow)
            for function, below in call.functions:
                if function not in self._library:
                    self.missing[function] = None
                    self.incomplete.add(base + call.row)
                elif function in callers:
                    self.recursive[function] = None
                    self.incomplete.add(base + call.row)
                else:
                    self.walked[base + call.row] = call.kind
                    yield _Use(
                        function,
                        base + call.row,
                        f"{instance.prefix}{unit.name[call.row]}/{below}",
                        arguments,
                        flow,
                        (*callers, function),
                        below == CONDITION,
                    )

    def _add_variables(self, loop: int, initial: Tensors) -> Tensors:
        """The variables of a loop, with these initial values."""
        first = len(self.initial)
        self.initial += initial.pairs()
        self.variables[loop] = range(first, len(self.initial))
        sources = -2 - np.arange(first, len(self.initial))
        return Tensors(ints(sources), np.zeros(len(sources), np.int64))

    def _check_limits(self, depth: int) -> None:
        if self._rows > _MOST_OPS or self._edges > _MOST_EDGES or self._letters > _MOST_LETTERS:
            reason = f"its functions expand to more than {_MOST_OPS:,} ops"
        elif len(self.instances) > _MOST_CALLS:
            reason = f"its functions are called more than {_MOST_CALLS:,} times"
        elif depth > _MOST_NESTED:
            reason = f"its function calls are nested more than {_MOST_NESTED} levels deep"
        else:
            return
        advice = (
            "read it without --functions" if self._is_optional else "profile a part of the model"
        )
        raise InputError(self._records.path, f"{reason}; {advice}.")

    def edges(self) -> Edges:
        """The edges into all rows; for a call, those from the function's results come first."""
        owners = [ints(np.full(len(ends), call)) for call, ends in self._waits]
        sources = [ends for _, ends in self._waits]
        slots = [ints(np.full(len(ends), -1)) for ends in sources]
        before = 0
        for instance in self.instances:
            owners.append(instance.unit.inputs.owners + before)
            sources.append(instance.inputs.source)
            slots.append(instance.inputs.slot)
            before += len(instance.unit)
        owner, source, slot = joined(owners), joined(sources), joined(slots)
        order = np.argsort(owner, kind="stable")
        return Edges.of(owner[order], source[order], slot[order], self._rows)

    def inlined_edges(self) -> Edges:
        """The edges with plain calls inlined.

        An edge from the result of a call becomes an edge from the op that computes it. The calls,
        and the `Identity` ops that return results, have no edges.
        """
        edges = self.edges()
        onward = self._onward(edges)
        source, slot = edges.source.copy(), edges.slot.copy()
        for edge in np.flatnonzero(np.isin(source, list(onward))).tolist():
            row, number = int(source[edge]), int(slot[edge])
            passed = set()
            # In a damaged graph, a function may return the result of its own call.
            while row not in passed and max(number, 0) < len(onward.get(row, ())):
                passed.add(row)
                row, number = onward[row][max(number, 0)]
            source[edge] = row
            slot[edge] = number if slot[edge] >= 0 else -1
        owner = Ragged(edges.offsets, source).owners
        kept = ~np.isin(owner, list(onward))
        return Edges.of(owner[kept], source[kept], slot[kept], self._rows)

    def _onward(self, edges: Edges) -> dict[int, list[tuple[int, int]]]:
        """The real sources of the outputs of plain calls and of the `Identity` ops they return."""
        calls = {row for row, kind in self.walked.items() if is_plain(kind)}
        onward = {call: self.results[call] for call in calls}
        kinds = Coded.joined([instance.unit.op for instance in self.instances])
        for row in {row for given in onward.values() for row, _ in given if row >= 0} - calls:
            first, end = edges.offsets[row : row + 2].tolist()
            if kinds[row] == "Identity" and first < end:
                onward[row] = [(int(edges.source[first]), int(edges.slot[first]))]
        return onward


def _bound(local: Ints, slots: Ints, base: int, given: Tensors) -> Tensors:
    """Local sources of a unit at `base` as rows of the layout; arguments become those `given`."""
    source = np.where(local >= 0, local + base, -1)
    slot = np.array(slots)
    places = np.flatnonzero((local < 0) & (local >= -len(given.source)))
    wanted = -1 - local[places]
    source[places] = given.source[wanted]
    slot[places] = np.where(slot[places] < 0, -1, given.slot[wanted])
    return Tensors(ints(source), ints(slot))
