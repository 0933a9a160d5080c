"""Loops of TensorFlow 1, made of `Enter`, `Merge`, `Switch`, `NextIteration` and `Exit`.

Frozen graphs have such loops as well. They are described like loops of functions: each `Merge` is a
variable, whose initial value enters the loop and whose next value comes from `NextIteration`. The
`LoopCond` takes the place of the call, and `Exit` reads its results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.sources.tf_shapes.op import Tensor
from tfprof.sources.tf_shapes.order import topological
from tfprof.sources.tf_shapes.program import Loop, Program

CONDITION = "LoopCond"
_NO_TENSOR = (-1, 0)


class _Variable(NamedTuple):
    """A loop variable: its `Merge`, and its values before the loop and after an iteration."""

    merge: int
    initial: Tensor
    result: Tensor


def with_frames(program: Program) -> Program:
    """The program with loops of TensorFlow 1 described like other loops."""
    if CONDITION not in program.kind.values:
        return program
    found = _Frames(program)
    return found.program() if found.variables else program


class _Frames:
    """The loops of a program, and its edges without cycles."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._count = len(program)
        kinds = list(program.kind.values)
        self._kinds = [kinds[code] for code in program.kind.codes.tolist()]
        self._offsets = program.input_offsets.tolist()
        self._source = program.input_source.tolist()
        self._slot = program.input_slot.tolist()
        self.variables = self._variables()
        self._row_of: dict[int, int] = {}  # the row of the variable that a `Merge` is
        self._loops: dict[int, Loop] = {}
        first = self._count + len(program.initial)
        for loop, variables in self.variables.items():
            rows = list(range(first, first + len(variables)))
            self._row_of.update(zip((one.merge for one in variables), rows, strict=True))
            condition = next(iter(self._inputs(loop)), _NO_TENSOR)
            self._loops[loop] = Loop(rows, condition, [one.result for one in variables])
            first += len(variables)

    def _edges(self, row: int) -> range:
        return range(self._offsets[row], self._offsets[row + 1])

    def _inputs(self, row: int) -> list[Tensor]:
        return [(self._source[e], self._slot[e]) for e in self._edges(row) if self._slot[e] >= 0]

    def _kind(self, row: int) -> str:
        return self._kinds[row] if 0 <= row < self._count else ""

    def _variables(self) -> dict[int, list[_Variable]]:
        """The variables of each loop, by the row of its condition."""
        found: dict[int, list[_Variable]] = {}
        for row in self._of_kind("Switch"):
            inputs = self._inputs(row)
            if len(inputs) != 2 or self._kind(inputs[1][0]) != CONDITION:
                continue
            variable = self._variable(inputs[0][0])
            known = found.setdefault(inputs[1][0], [])
            if variable is not None and variable not in known[-1:]:
                known.append(variable)
        return {loop: variables for loop, variables in found.items() if variables}

    def _variable(self, row: int) -> _Variable | None:
        if self._kind(row) != "Merge":
            return None
        parts = {self._kind(source): self._inputs(source) for source, _ in self._inputs(row)}
        initial, result = parts.get("Enter"), parts.get("NextIteration")
        return _Variable(row, initial[0], result[0]) if initial and result else None

    def _of_kind(self, kind: str) -> list[int]:
        return [row for row, found in enumerate(self._kinds) if found == kind]

    def program(self) -> Program:
        """The program with these loops, and without cycles."""
        program = self._program
        self._cut_cycles()
        initial = [one.initial for variables in self.variables.values() for one in variables]
        made = replace(
            program,
            input_source=ints(self._source),
            input_slot=ints(self._slot),
            loops={**program.loops, **self._loops},
            initial=[*program.initial, *initial],
        )
        calls, is_condition = self._placed(made)
        return replace(made, call=calls, is_condition=is_condition)

    def _cut_cycles(self) -> None:
        """Let ops read variables instead of `Merge`, and results of the loop after `Exit`."""
        places = {
            one.merge: (loop, place)
            for loop, variables in self.variables.items()
            for place, one in enumerate(variables)
        }
        exits = self._cut_conditions(places)
        for row in self._of_kind("Exit"):
            for edge in self._edges(row):
                if self._slot[edge] >= 0 and self._source[edge] in exits:
                    self._source[edge], self._slot[edge] = exits[self._source[edge]]
        for edge, source in enumerate(self._source):
            if source in self._row_of:
                self._source[edge] = self._row_of[source]
        for merge, row in self._row_of.items():
            for edge in self._edges(merge):
                self._source[edge] = row

    def _cut_conditions(self, places: Mapping[int, Tensor]) -> dict[int, Tensor]:
        """Remove the condition from each `Switch` of a variable; returns the result that it is."""
        found = {}
        for row in self._of_kind("Switch"):
            edges = [edge for edge in self._edges(row) if self._slot[edge] >= 0]
            data = self._source[edges[0]] if edges else -1
            if data in places:
                found[row] = places[data]
                for edge in edges[1:]:
                    self._source[edge] = -1
        return found

    def _placed(self, made: Program) -> tuple[Ints, Ints]:
        """The loop or call around each op, and whether the op belongs to a condition."""
        parents = _Parents(made, self._loops)
        order = topological(self._count + len(made.initial), lambda row: self._before(made, row))
        for row in order:
            parents.place(row, self._before(made, row))
        original = np.full(self._count, -1) if made.call is None else made.call
        inner = ints(parents.loop[: self._count])
        flags = np.zeros(self._count, np.int64)
        if made.is_condition is not None:
            flags = np.where(inner >= 0, 0, made.is_condition)
        for loop, found in self._loops.items():
            flags[self._leading_to(found.condition[0], inner, loop)] = 1
        return ints(np.where(inner >= 0, inner, original)), ints(flags)

    def _before(self, made: Program, row: int) -> Iterable[int]:
        if row >= self._count:
            return (made.initial[row - self._count][0],)
        found = [self._source[edge] for edge in self._edges(row)]
        if row in self._loops:
            found += [source for source, _ in self._loops[row].results]
        return found

    def _leading_to(self, row: int, inner: Ints, loop: int) -> list[int]:
        """The ops of a loop that its condition depends on."""
        found: set[int] = set()
        stack = [row]
        while stack:
            row = stack.pop()
            if 0 <= row < self._count and inner[row] == loop and row not in found:
                found.add(row)
                stack += [self._source[edge] for edge in self._edges(row)]
        return list(found)


class _Parents:
    """The innermost loop around each row."""

    def __init__(self, program: Program, loops: dict[int, Loop]) -> None:
        self.loop = [-1] * (len(program) + len(program.initial))
        self._owner = {row: loop for loop, found in loops.items() for row in found.variables}
        self._outer = dict.fromkeys(loops, -1)
        self._depth = {-1: 0, **dict.fromkeys(loops, 1)}

    def place(self, row: int, before: Iterable[int]) -> None:
        """Find the loop of a row, after those of the rows before it."""
        around = [self.loop[other] for other in before if other >= 0]
        inner = max(around, key=self._depth.__getitem__, default=-1)
        if row in self._owner:
            loop = self._owner[row]
            if inner != loop and self._depth[inner] >= self._depth[loop]:
                self._outer[loop], self._depth[loop] = inner, self._depth[inner] + 1
            inner = loop
        elif row in self._outer:
            inner = self._outer[row]
        self.loop[row] = inner
