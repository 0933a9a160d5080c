"""Facts about ops that a profile already states, so that no naming has to be interpreted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, NameTable, Strings
from tfprof.model.attributes import AttributeReader, AttributeTable, AttributeValue
from tfprof.model.ops import Ops


@dataclass(frozen=True, slots=True, eq=False)
class StatedFacts:
    """The phase and the forward op of each op of an input, by its position."""

    phase: Ints
    forward: Ints  # a row of `names`, or a negative number as in `Conventions.forward_of`
    names: Strings

    def phases(self, ops: Ops, rows: Ints) -> Ints:
        return self.phase[ops.origins.position[rows]]

    def forward_of(self, ops: Ops, rows: Ints) -> Ints:
        found = self.forward[ops.origins.position[rows]]
        if ops.name is not self.names:  # then its rows are other ones
            gradients = np.flatnonzero(found >= 0)
            known = NameTable()
            known.add(ops.name)
            found[gradients] = known.find(self.names.take(found[gradients]))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class MovedAttributes:
    """The attributes of ops that have new positions: op `i` is at `positions[i]` of `reader`."""

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
