"""The sizes of tensors in exported programs, some of which depend on symbols such as the batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from tfprof.columns import Shape
from tfprof.formats.exported_graph import Graph, OpenSize
from tfprof.formats.symbolic_sizes import UnknownSizeError, parse, solved, value_of
from tfprof.model.ops import UNKNOWN_REPEATS

_UNKNOWN = -1
_MOST_TRIPS = 1 << 40  # more would take years


class Sizes:
    """Sizes of tensors: those of the example at export, or for another batch."""

    def __init__(self, graph: Graph, batch_size: int) -> None:
        """`batch_size` is 0 for the batch of the example."""
        self._graph = graph
        self._shapes: dict[str, Shape] = {}
        self._known: dict[OpenSize, int] = {}
        self._symbols = self._hints()
        self.batch = self._batch()  # the symbol of the batch, empty if it is fixed
        self._is_example = not batch_size
        if batch_size and self.batch:
            self._symbols[self.batch] = batch_size
        # The symbols whose values are those of the example.
        self.open = {
            name: size
            for name, size in self._symbols.items()
            if self._is_example or name != self.batch
        }

    def shape(self, tensor: str) -> Shape:
        """The shape of a tensor by name, None if it is unknown."""
        if tensor not in self._shapes:
            about = self._graph.tensors.get(tensor)
            self._shapes[tensor] = about and tuple(map(self.size, about.sizes))
        return self._shapes[tensor]

    def size(self, size: int | OpenSize) -> int:
        """The number that a size stands for, -1 if it is unknown."""
        if isinstance(size, int):
            return size
        if size not in self._known:
            self._known[size] = self._computed(size)
        return self._known[size]

    def trips(self, repeats: Sequence[int | OpenSize | None]) -> int:
        """How often loops that are inside of each other run their ops."""
        sizes = [_UNKNOWN if one is None else self.size(one) for one in repeats]
        is_known = _UNKNOWN not in sizes and math.prod(sizes) <= _MOST_TRIPS
        return math.prod(sizes) if is_known else UNKNOWN_REPEATS

    def plain(self, value: object) -> object:
        """An argument of an op as plain numbers; None if it is unknown."""
        if isinstance(value, OpenSize):
            return self.size(value)
        if isinstance(value, list):
            return [self.size(one) if isinstance(one, OpenSize) else one for one in value]
        return value

    def _computed(self, size: OpenSize) -> int:
        if self._is_example and size.hint is not None:
            return size.hint
        try:
            return value_of(parse(size.text), self._symbols)
        except UnknownSizeError:
            return _UNKNOWN

    def _hints(self) -> dict[str, int]:
        """The values of symbols in the example."""
        found: dict[str, int] = {}
        sizes = (one for tensor in self._graph.tensors.values() for one in tensor.sizes)
        known = {
            one: Fraction(one.hint)
            for one in sizes
            if isinstance(one, OpenSize) and one.hint is not None
        }
        for size in sorted(known, key=lambda size: not _symbol(size)):  # symbols first
            with suppress(UnknownSizeError):
                name, value = solved(parse(size.text), known[size], found)
                found.setdefault(name, value)
        return found

    def _batch(self) -> str:
        """The symbol that is the first size of the first input that has one."""
        for entry in self._graph.entries:
            about = self._graph.tensors.get(entry.tensor)
            if entry.kind == "input" and about and about.sizes:
                first = about.sizes[0]
                if isinstance(first, OpenSize) and (name := _symbol(first)):
                    return name
        return ""


def _symbol(size: OpenSize) -> str:
    """The symbol that a size is; empty for other expressions."""
    try:
        found = parse(size.text)
    except UnknownSizeError:
        return ""
    return found.name if found.is_symbol else ""
