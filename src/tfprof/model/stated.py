"""Facts about ops taken from a finished profile instead of being derived from names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, NameTable, Strings
from tfprof.model.attributes import AttributeReader, AttributeTable, AttributeValue
from tfprof.model.ops import Ops


@dataclass(frozen=True, slots=True, eq=False)
class StatedFacts:
    """The phase and the forward op of each op, by the op's position in its input."""

    phase: Ints
    forward: Ints  # a row of `names`, or a negative number as in `Conventions.forward_of`
    names: Strings

    def phases(self, ops: Ops, rows: Ints) -> Ints:
        return self.phase[ops.origins.position[rows]]

    def forward_of(self, ops: Ops, rows: Ints) -> Ints:
        found = self.forward[ops.origins.position[rows]]
        if ops.name is not self.names:  # `forward` refers to rows of another table
            gradients = np.flatnonzero(found >= 0)
            known = NameTable()
            known.add(ops.name)
            found[gradients] = known.find(self.names.take(found[gradients]))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class MovedAttributes:
    """Attributes of ops whose positions changed: op `i` is at `positions[i]` in `reader`."""

    reader: AttributeReader
    positions: Ints

    def get(self, position: int, name: str) -> AttributeValue:
        return self.reader.get(int(self.positions[position]), name)

    def encoded(self, position: int) -> Mapping[str, bytes]:
        return self.reader.encoded(int(self.positions[position]))

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> Iterable[tuple[bytes | None, ...]]:
        return self.reader.encoded_values(self.positions[positions], names)

    def table(self, positions: Ints) -> AttributeTable:
        return self.reader.table(self.positions[positions])
