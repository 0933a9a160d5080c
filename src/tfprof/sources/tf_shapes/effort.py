"""How often each op runs, and which ops only compute shapes that are already known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import numpy as np

from tfprof.columns import Ints, Shape, ints
from tfprof.model.ops import UNKNOWN_REPEATS
from tfprof.sources.tf_shapes.dims import is_whole
from tfprof.sources.tf_shapes.op import Tensor, Value
from tfprof.sources.tf_shapes.program import Program
from tfprof.sources.tf_shapes.registry import VALUES
from tfprof.sources.tf_shapes.values import ARITHMETIC

_MOST_REPEATS = 1 << 40  # no program runs an op more often
_STATEFUL_CALLS = frozenset(("StatefulPartitionedCall", "While", "If", "Case"))
# They need the shape of their input but not its values.
_SHAPE_ONLY = frozenset(("ZerosLike", "OnesLike", "Shape", "ShapeN", "Size", "Rank"))


def repeats(program: Program, trips: Mapping[int, int | None]) -> Ints:
    """How often each op runs: the product of the trip counts of the loops around it.

    `UNKNOWN_REPEATS` if a trip count is unknown. The condition of a loop runs once more than its
    body.
    """
    found = np.ones(len(program), np.int64)
    if program.call is None or not trips:
        return found
    calls, flags = program.call.tolist(), np.zeros(len(program), np.int64)
    is_condition = (flags if program.is_condition is None else program.is_condition).tolist()
    known: dict[int, int] = {-1: 1}  # how often each call runs
    for row, call in enumerate(calls):
        for outer in reversed(_unknown_callers(call, calls, known)):
            # In a damaged graph, a loop may contain itself.
            times = known.get(calls[outer], UNKNOWN_REPEATS)
            known[outer] = _times(times, trips, calls[outer], is_condition[outer])
        found[row] = _times(known[call], trips, call, is_condition[row])
    return found


def endless_loops(repeats: Ints, trips: Mapping[int, int | None]) -> tuple[int, ...]:
    """The rows of loops that run so often that their ops count once."""
    return tuple(
        row
        for row, count in trips.items()
        if count is not None and int(repeats[row]) * (count + 1) > _MOST_REPEATS
    )


def _unknown_callers(call: int, calls: list[int], known: Mapping[int, int]) -> list[int]:
    """The call and its callers, up to the first one in `known`."""
    found: dict[int, None] = {}
    while call not in known and call not in found:
        found[call] = None
        call = calls[call]
    return list(found)


def _times(outer: int, trips: Mapping[int, int | None], call: int, is_condition: int) -> int:
    if call not in trips:
        return outer
    count = trips[call]
    if outer == 0:  # it never runs, so its own trip count does not matter
        return 0
    if outer == UNKNOWN_REPEATS or count is None:
        return UNKNOWN_REPEATS
    times = outer * (count + is_condition)
    return times if times <= _MOST_REPEATS else UNKNOWN_REPEATS


class Facts(Protocol):
    """What is known about a program after inference."""

    def kind(self, row: int) -> str: ...

    def shape(self, tensor: Tensor) -> Shape: ...

    def value(self, tensor: Tensor) -> Value | None: ...


def shape_arithmetic(facts: Facts, count: int, rows: int, before: _Before) -> Ints:
    """The ops whose results are known in advance, or needed only for their known shapes.

    The first `count` of all `rows` are ops; `before` has the rows that a row takes values from.
    """
    is_needed = _needed(facts, count, rows, before)
    return ints(
        [
            row
            for row in range(count)
            if not is_needed[row] or (facts.kind(row) in ARITHMETIC and _is_folded(facts, row))
        ]
    )


_Before = Callable[[int], Iterable[int]]


def _needed(facts: Facts, count: int, rows: int, before: _Before) -> bytearray:
    """For each row, whether its values reach an op that nothing follows, or that has effects."""
    is_source = bytearray(rows)
    for row in range(rows):
        for other in before(row):
            is_source[max(other, 0)] |= other >= 0
    stack = [
        row for row in range(count) if not is_source[row] or facts.kind(row) in _STATEFUL_CALLS
    ]
    is_needed = bytearray(rows)
    while stack:
        row = stack.pop()
        if not is_needed[row]:
            is_needed[row] = 1
            if row >= count or not _knows_result(facts, row):
                stack += [other for other in before(row) if other >= 0]
    return is_needed


def _knows_result(facts: Facts, row: int) -> bool:
    """Whether the op's result is known without the values of its inputs."""
    kind = facts.kind(row)
    if kind in _SHAPE_ONLY:
        return is_whole(facts.shape((row, 0)))
    return kind in VALUES and _is_folded(facts, row)


def _is_folded(facts: Facts, row: int) -> bool:
    """Whether all elements of the op's first output are known."""
    value = facts.value((row, 0))
    return value is not None and all(number is not None for number in value.flat)
