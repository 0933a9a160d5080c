"""The attributes of ops in a saved profile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, Ragged
from tfprof.errors import InputError
from tfprof.formats import messages
from tfprof.model.attributes import AttributeTable, AttributeValue
from tfprof.sources import tf_attributes

_PLAIN = (bool, int, float, str)


def _of_json(encoded: bytes) -> AttributeValue:
    """Decode a JSON value: a list becomes a tuple, nested values and objects become None."""
    value = json.loads(encoded)
    if isinstance(value, list):
        return tuple(value) if all(isinstance(item, _PLAIN) for item in value) else None
    return value if isinstance(value, _PLAIN) else None


# The decoder of each encoding that a file may name.
DECODERS: dict[str, Callable[[bytes], AttributeValue]] = {
    "json": _of_json,
    tf_attributes.ENCODING: tf_attributes.decode,
}


@dataclass(frozen=True, slots=True, eq=False)
class SavedAttributes:
    """Reads attributes from a table; errors name the file as `path`."""

    path: str
    found: AttributeTable

    def get(self, position: int, name: str) -> AttributeValue:
        row = self._rows(position).get(name)
        if row is None:
            return None
        try:
            return DECODERS[self.found.encoding](self._value(row))
        except (ValueError, RecursionError, messages.DecodeError):
            raise InputError(self.path, f"the attribute `{name}` of an op is damaged.") from None

    def encoded(self, position: int) -> Mapping[str, bytes]:
        rows = self._rows(position)
        return {name: self._value(rows[name]) for name in sorted(rows)}

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> Iterator[tuple[bytes | None, ...]]:
        """For each op, the encoded values of these attributes, or None for a missing one."""
        columns = [self._column(name)[positions].tolist() for name in names]
        used = {row for column in columns for row in column}
        known = {row: None if row < 0 else self._value(row) for row in used}
        rows = zip(*columns, strict=True) if columns else ((),) * len(positions)
        return (tuple([known[row] for row in one]) for one in rows)

    def table(self, positions: Ints) -> AttributeTable:
        """All attributes of these ops."""
        found = self.found
        rows = Ragged(found.offsets, np.arange(len(found.value))).take(positions)
        name, value = found.name.take(rows.values), found.value[rows.values]
        return AttributeTable(rows.offsets, name, value, found.values, found.encoding)

    def _rows(self, position: int) -> dict[str, int]:
        """The attributes of an op, each with its row in the table of values."""
        start, end = self.found.offsets[position : position + 2].tolist()
        return {self.found.name[row]: int(self.found.value[row]) for row in range(start, end)}

    def _column(self, name: str) -> Ints:
        """The row of one attribute's value for each op, -1 for ops that do not have it."""
        found = self.found
        values = np.full(len(found.offsets) - 1, -1)
        if (code := found.name.values.row_of(name)) >= 0:
            rows = np.flatnonzero(found.name.codes == code)
            owners = np.searchsorted(found.offsets, rows, side="right") - 1
            values[owners] = found.value[rows]
        return values

    def _value(self, row: int) -> bytes:
        values = self.found.values
        return values.data[values.starts[row] : values.ends[row]]
