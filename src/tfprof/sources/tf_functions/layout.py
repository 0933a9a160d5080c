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
from tfprof.sources.tf_functions.calls import CONDITION, is_plain
from tfprof.sources.tf_functions.units import Unit, of_function

# No model comes near these limits, but in a small file functions may call each other many times.
_MOST_OPS = 4_000_000
_MOST_EDGES = 10 * _MOST_OPS
_MOST_LETTERS = 1 << 30  # in the names of all ops
_MOST_NESTED = 100


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """A unit to lay out: the call that uses it, the name prefix, and the arguments."""

    function: str
    call: int  # a row, -1 for the graph itself
    prefix: str
    source: Ints
    slot: Ints
    callers: tuple[str, ...]  # the enclosing functions and this one
    is_condition: bool  # the condition of a loop, whose result the call does not return


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A unit after layout; sources are rows of the whole layout, or -1 for no op."""

    unit: Unit
    call: int
    prefix: str
    source: Ints
    slot: Ints


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

    def __init__(self, records: Records, library: Library) -> None:
        self._records = records
        self._library = library
        self._units: dict[str, Unit] = {}
        self._rows = self._edges = self._letters = 0
        self._waits: list[tuple[int, Ints]] = []  # calls, and the rows of their results
        self.instances: list[Instance] = []
        self.results: dict[int, list[tuple[int, int]]] = {}  # rows and slots, by call
        self.walked: dict[int, str] = {}  # the kinds of calls whose functions are laid out
        self.missing: dict[str, None] = {}
        self.recursive: dict[str, None] = {}

    def run(self, graph: Unit) -> None:
        """Lay out `graph` and, recursively, the functions that it calls."""
        nothing = ints([])
        pending = list(self._place(graph, _Use("", -1, "", nothing, nothing, (), False)))
        while pending:
            use = pending.pop()
            unit = self._unit(use.function)
            base = self._rows
            pending += self._place(unit, use)
            ends, slots = _bound(unit.results, unit.result_slots, base, use)
            if not use.is_condition:
                given = list(zip(ends.tolist(), slots.tolist(), strict=True))
                self.results.setdefault(use.call, given)
            self._waits.append((use.call, ends[ends >= 0]))

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
        sources, slots = _bound(unit.inputs.values, unit.slot, base, use)
        self.instances.append(Instance(unit, use.call, use.prefix, sources, slots))
        return self._called(self.instances[-1], base, use.callers)

    def _called(self, instance: Instance, base: int, callers: tuple[str, ...]) -> Iterator[_Use]:
        unit, offsets = instance.unit, instance.unit.inputs.offsets
        for call in unit.calls:
            edges = slice(int(offsets[call.row]), int(offsets[call.row + 1]))
            source, slot = instance.source[edges], instance.slot[edges]
            given = np.flatnonzero(slot >= 0)[call.first_argument :]
            for function, below in call.functions:
                if function not in self._library:
                    self.missing[function] = None
                elif function in callers:
                    self.recursive[function] = None
                else:
                    self.walked[base + call.row] = call.kind
                    yield _Use(
                        function,
                        base + call.row,
                        f"{instance.prefix}{unit.name[call.row]}/{below}",
                        source[given],
                        slot[given],
                        (*callers, function),
                        below == CONDITION,
                    )

    def _check_limits(self, depth: int) -> None:
        if self._rows > _MOST_OPS or self._edges > _MOST_EDGES or self._letters > _MOST_LETTERS:
            reason = f"its functions expand to more than {_MOST_OPS:,} ops"
        elif depth > _MOST_NESTED:
            reason = f"its function calls are nested more than {_MOST_NESTED} levels deep"
        else:
            return
        raise InputError(self._records.path, f"{reason}; read it without --functions.")

    def edges(self) -> Edges:
        """The edges into all rows; for a call, those from the function's results come first."""
        owners = [ints(np.full(len(ends), call)) for call, ends in self._waits]
        sources = [ends for _, ends in self._waits]
        slots = [ints(np.full(len(ends), -1)) for ends in sources]
        before = 0
        for instance in self.instances:
            owners.append(instance.unit.inputs.owners + before)
            sources.append(instance.source)
            slots.append(instance.slot)
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


def _bound(local: Ints, slots: Ints, base: int, use: _Use) -> tuple[Ints, Ints]:
    """Local sources of a unit at `base` as rows of the layout, or -1 for no op, and slots."""
    source = np.where(local >= 0, local + base, -1)
    slot = np.array(slots)
    places = np.flatnonzero((local < 0) & (local >= -len(use.source)))
    wanted = -1 - local[places]
    source[places] = use.source[wanted]
    slot[places] = np.where(slot[places] < 0, -1, use.slot[wanted])
    return ints(source), ints(slot)
