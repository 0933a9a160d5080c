"""Trip counts of loops whose condition compares a counter with a known limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from tfprof.sources.tf_shapes.op import Tensor, Value
from tfprof.sources.tf_shapes.program import Loop

_MOST_HOPS = 50  # from op to op along `Identity`
_MOST_TESTS = 200  # in a condition
_ENDLESS = 1 << 62

_PASSING = frozenset(
    ("Enter", "Exit", "Identity", "PreventGradient", "Snapshot", "StopGradient", "Switch")
)
_SUMS = frozenset(("Add", "AddV2"))
# Comparisons of a counter with a limit, and the same from the limit's side.
_MIRRORED = {
    "Less": "Greater",
    "LessEqual": "GreaterEqual",
    "Greater": "Less",
    "GreaterEqual": "LessEqual",
}


class Graph(Protocol):
    """What is known about the ops around a loop."""

    def kind(self, row: int) -> str: ...

    def inputs(self, row: int) -> list[Tensor]: ...

    def value(self, tensor: Tensor) -> Value | None: ...

    def initial(self, variable: int) -> Tensor: ...


class Counter(NamedTuple):
    """A loop variable that each iteration changes by the same number."""

    start: int
    step: int


def origin(graph: Graph, tensor: Tensor) -> Tensor:
    """The tensor that ops without effect pass on."""
    for _ in range(_MOST_HOPS):
        inputs = graph.inputs(tensor[0]) if graph.kind(tensor[0]) in _PASSING else ()
        if not inputs:
            return tensor
        tensor = inputs[0]
    return tensor


def is_constant(graph: Graph, loop: Loop, place: int) -> bool:
    """Whether a loop variable keeps its initial value."""
    if place >= len(loop.results):
        return False
    return origin(graph, loop.results[place]) == (loop.variables[place], 0)


def number(graph: Graph, tensor: Tensor) -> int | None:
    """The value of a tensor with one element, or None."""
    value = graph.value(tensor)
    if value is None or value.size != 1 or value.item() is None:
        return None
    return int(value.item())


def counter(graph: Graph, loop: Loop, place: int) -> Counter | None:
    """The counter that a loop variable is, or None."""
    if place >= len(loop.results):
        return None
    variable = (loop.variables[place], 0)
    start = number(graph, graph.initial(loop.variables[place]))
    row, _ = origin(graph, loop.results[place])
    kind, inputs = graph.kind(row), graph.inputs(row)
    if start is None or len(inputs) != 2 or kind not in (*_SUMS, "Sub"):
        return None
    for own, other in (inputs, inputs[::-1]) if kind in _SUMS else (inputs,):
        step = number(graph, other)
        if origin(graph, own) == variable and step is not None:
            return Counter(start, -step if kind == "Sub" else step)
    return None


def trip_count(graph: Graph, loop: Loop) -> int | None:
    """How many iterations run, or None if that does not follow from constants."""
    found = _Condition(graph, loop).count(loop.condition)
    return None if found is None or found >= _ENDLESS else found


class _Condition:
    """Evaluates a condition: after how many iterations each part of it becomes false."""

    def __init__(self, graph: Graph, loop: Loop) -> None:
        self._graph = graph
        self._loop = loop
        self._places = {(row, 0): place for place, row in enumerate(loop.variables)}
        self._left = _MOST_TESTS

    def count(self, tensor: Tensor) -> int | None:
        self._left -= 1
        if self._left < 0:
            return None
        row, _ = tensor = origin(self._graph, tensor)
        if (known := number(self._graph, tensor)) is not None:
            return _ENDLESS if known else 0
        kind, inputs = self._graph.kind(row), self._graph.inputs(row)
        if len(inputs) != 2:
            return None
        if kind in _COMBINED:
            return _COMBINED[kind](self.count(inputs[0]), self.count(inputs[1]))
        if kind in _MIRRORED:
            one, two = inputs
            found = self._until(kind, one, two)
            return self._until(_MIRRORED[kind], two, one) if found is None else found
        return None

    def _until(self, kind: str, counted: Tensor, limit: Tensor) -> int | None:
        """The number of iterations until a comparison of a counter with a limit is false."""
        place = self._places.get(origin(self._graph, counted))
        last = number(self._graph, limit)
        found = None if place is None else counter(self._graph, self._loop, place)
        if found is None or last is None:
            return None
        start, step = found
        if kind.startswith("Greater"):  # the same, with all signs changed
            start, step, last = -start, -step, -last
        distance = last - start + (1 if kind.endswith("Equal") else 0)
        if distance <= 0:
            return 0
        return -(-distance // step) if step > 0 else _ENDLESS


def _all_of(one: int | None, two: int | None) -> int | None:
    if 0 in (one, two):
        return 0
    return None if one is None or two is None else min(one, two)


def _any_of(one: int | None, two: int | None) -> int | None:
    if _ENDLESS in (one, two):
        return _ENDLESS
    return None if one is None or two is None else max(one, two)


_COMBINED: dict[str, Callable[[int | None, int | None], int | None]] = {
    "LogicalAnd": _all_of,
    "LogicalOr": _any_of,
}
