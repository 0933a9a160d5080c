"""Follows calls from a graph into functions and lays all ops out as rows, within bounds."""

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

# No model comes near these, but a small file can have functions that call functions very often.
_MOST_OPS = 4_000_000
_MOST_EDGES = 10 * _MOST_OPS
_MOST_LETTERS = 1 << 30  # in the names of all ops
_MOST_NESTED = 100


@dataclass(frozen=True, slots=True, eq=False)
class _Use:
    """A unit to lay out: the call that uses it, the names so far, and the arguments."""

    function: str
    call: int  # a row, -1 for the graph itself
    prefix: str
    source: Ints
    slot: Ints
    callers: tuple[str, ...]  # the functions around it, and its own
    is_condition: bool  # its result is not one of the call's


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A unit that was laid out; sources are rows of the whole layout, -1 for no op."""

    unit: Unit
    call: int
    prefix: str
    source: Ints
    slot: Ints


class Edges(NamedTuple):
    """The inputs of row `i` are those from `offsets[i]` to `offsets[i + 1]`."""

    offsets: Ints
    source: Ints  # a row, -1 for no op
    slot: Ints  # -1: only the end of the source is waited for

    @classmethod
    def of(cls, owner: Ints, source: Ints, slot: Ints, rows: int) -> Self:
        """The edges of so many rows, from columns in the order of their owners."""
        return cls(offsets_of(np.bincount(owner, minlength=rows)), source, slot)


class Layout:
    """The rows of a graph and of all functions it calls, and the edges between them."""

    def __init__(self, records: Records, library: Library) -> None:
        self._records = records
        self._library = library
        self._units: dict[str, Unit] = {}
        self._rows = self._edges = self._letters = 0
        self._waits: list[tuple[int, Ints]] = []  # calls, and the rows that return their results
        self.instances: list[Instance] = []
        self.results: dict[int, list[tuple[int, int]]] = {}  # of a call: the row and slot of each
        self.walked: dict[int, str] = {}  # calls whose functions are laid out, and their kinds
        self.missing: dict[str, None] = {}
        self.recursive: dict[str, None] = {}

    def run(self, graph: Unit) -> None:
        """Lay out `graph`, the functions it calls, the functions those call, and so on."""
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
        """Add the rows of a unit; returns the functions that it calls."""
        base = self._rows
        self._rows += len(unit)
        self._edges += len(unit.slot)
        self._letters += len(unit) * len(use.prefix) + int(unit.name.lengths.sum())
        self._require_bounds(len(use.callers))
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

    def _require_bounds(self, depth: int) -> None:
        if self._rows > _MOST_OPS or self._edges > _MOST_EDGES or self._letters > _MOST_LETTERS:
            reason = f"come to more than {_MOST_OPS:,} ops"
        elif depth > _MOST_NESTED:
            reason = f"are nested more than {_MOST_NESTED} deep"
        else:
            return
        raise InputError(
            self._records.path,
            f"its functions {reason} where they are called; read it without --functions.",
        )

    def edges(self) -> Edges:
        """The edges into all rows; those by which a call waits for its results come first."""
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
        """The edges as if functions stood in place of the plain calls to them.

        What reads a result of a call reads the op that computes it. The calls, and the `Identity`
        ops that end functions, have no edges.
        """
        edges = self.edges()
        onward = self._onward(edges)
        source, slot = edges.source.copy(), edges.slot.copy()
        for edge in np.flatnonzero(np.isin(source, list(onward))).tolist():
            row, number = int(source[edge]), int(slot[edge])
            passed = set()
            # A damaged graph could have a function that returns what its own call returns.
            while row not in passed and max(number, 0) < len(onward.get(row, ())):
                passed.add(row)
                row, number = onward[row][max(number, 0)]
            source[edge] = row
            slot[edge] = number if slot[edge] >= 0 else -1
        owner = Ragged(edges.offsets, source).owners
        kept = ~np.isin(owner, list(onward))
        return Edges.of(owner[kept], source[kept], slot[kept], self._rows)

    def _onward(self, edges: Edges) -> dict[int, list[tuple[int, int]]]:
        """Where to look for the outputs of a plain call, and of an `Identity` that it returns."""
        calls = {row for row, kind in self.walked.items() if is_plain(kind)}
        onward = {call: self.results[call] for call in calls}
        kinds = Coded.joined([instance.unit.op for instance in self.instances])
        for row in {row for given in onward.values() for row, _ in given if row >= 0} - calls:
            first, end = edges.offsets[row : row + 2].tolist()
            if kinds[row] == "Identity" and first < end:
                onward[row] = [(int(edges.source[first]), int(edges.slot[first]))]
        return onward


def _bound(local: Ints, slots: Ints, base: int, use: _Use) -> tuple[Ints, Ints]:
    """Sources of a unit that begins at `base`, as rows of the layout and slots; -1 for no op."""
    source = np.where(local >= 0, local + base, -1)
    slot = np.array(slots)
    places = np.flatnonzero((local < 0) & (local >= -len(use.source)))
    wanted = -1 - local[places]
    source[places] = use.source[wanted]
    slot[places] = np.where(slot[places] < 0, -1, use.slot[wanted])
    return ints(source), ints(slot)
