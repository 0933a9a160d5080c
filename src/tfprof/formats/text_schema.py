"""The fields and values allowed in a message's text, as flat arrays for the compiled reader."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

Descriptor: TypeAlias = Any  # protobuf's descriptor of a message, a field or an enum

LARGEST_HASH: Final = 0xFFFF_FFFF
NO_ROW: Final = -2  # not -1, which compiled functions return on an error

# How values are encoded, by protobuf's type number: a letter, then the largest magnitude of a
# negative and of a positive number. Our schemas use no other types.
INTEGER, ENUM, BOOL, FLOAT, DOUBLE, STRING, BYTES, MESSAGE = "iebfdsym"
_TYPES: Final = {
    1: (DOUBLE, 0, 0),
    2: (FLOAT, 0, 0),
    3: (INTEGER, 1 << 63, (1 << 63) - 1),
    4: (INTEGER, 0, (1 << 64) - 1),
    5: (INTEGER, 1 << 31, (1 << 31) - 1),
    8: (BOOL, 0, 0),
    9: (STRING, 0, 0),
    11: (MESSAGE, 0, 0),
    12: (BYTES, 0, 0),
    13: (INTEGER, 0, (1 << 32) - 1),
    14: (ENUM, 1 << 31, (1 << 31) - 1),
}
_WIRE_TYPES: Final = {DOUBLE: 1, FLOAT: 5, STRING: 2, BYTES: 2, MESSAGE: 2}  # a varint is 0

_BOOLS: Final = {"true": 1, "True": 1, "t": 1, "1": 1, "false": 0, "False": 0, "f": 0, "0": 0}
_BOOL_TABLE: Final = "bool"


class Schema:
    """The names allowed in a message and in everything nested in it, one row each.

    A table holds the fields of one message, the values of one enum, or the words for a bool. Table
    0 is the message itself. The rows of a table are found by hashing: it has
    `slot_mask[table] + 1` slots, starting at `slot_start[table]`, each with a row or `NO_ROW`.
    """

    def __init__(self, descriptor: Descriptor) -> None:
        self.slots, self.slot_start, self.slot_mask = array("i"), array("i"), array("i")
        self.names = bytearray()
        self.name_start = array("i", [0])  # in `names`, by row; a name ends where the next begins
        self.tag = array("i")  # the wire tag of a field; the number of an enum value or bool
        self.kind = array("i")  # one of the letters above
        self.table = array("i")  # the table of the value's own fields or words
        self.lowest, self.highest = array("Q"), array("Q")  # the largest allowed magnitudes
        self.is_repeated, self.is_packed = array("i"), array("i")
        self.has_presence = array("i")  # whether a default value counts as a value
        self.bit, self.rivals = array("Q"), array("Q")  # of the field; of the others in its oneof
        self._numbers: dict[str, int] = {}
        self._waiting: list[Descriptor] = []
        self._table_of(descriptor.full_name, descriptor)
        for table in self._waiting:  # grows during the loop
            self._add_table(table)

    def _table_of(self, name: str, contents: Descriptor) -> int:
        """The number of a table, queueing it to be added if it is new."""
        if name not in self._numbers:
            self._numbers[name] = len(self._numbers)
            self._waiting.append(contents)
        return self._numbers[name]

    def _add_table(self, contents: Descriptor) -> None:
        first = len(self.kind)
        if isinstance(contents, Mapping):
            self._add_words(contents)
        elif hasattr(contents, "fields"):
            self._add_fields(contents.fields)
        else:
            self._add_words({value.name: value.number for value in contents.values})
        self._add_slots(range(first, len(self.kind)))

    def _add_fields(self, fields: Iterable[Descriptor]) -> None:
        bits = {field.name: 1 << bit for bit, field in enumerate(fields)}
        for field in fields:
            kind, lowest, highest = _TYPES[field.type]
            # Readers must accept number lists packed and unpacked; packed is shorter.
            is_packed = is_repeated(field) and kind not in (STRING, BYTES, MESSAGE)
            wire_type = 2 if is_packed else _WIRE_TYPES.get(kind, 0)
            self._add_row(field.name, field.number << 3 | wire_type)
            self.kind[-1] = ord(kind)
            self.table[-1] = self._table_within(field)
            self.lowest[-1], self.highest[-1] = lowest, highest
            self.is_repeated[-1], self.is_packed[-1] = is_repeated(field), is_packed
            self.has_presence[-1] = field.has_presence
            if not is_repeated(field):
                self.bit[-1] = bits[field.name]
            if field.containing_oneof is not None:
                members = (bits[member.name] for member in field.containing_oneof.fields)
                self.rivals[-1] = sum(members) - bits[field.name]

    def _table_within(self, field: Descriptor) -> int:
        if field.type == 8:
            return self._table_of(_BOOL_TABLE, _BOOLS)
        inner = field.message_type or field.enum_type
        return self._table_of(inner.full_name, inner) if inner else 0

    def _add_words(self, numbers: Mapping[str, int]) -> None:
        for name, number in numbers.items():
            self._add_row(name, number)

    def _add_row(self, name: str, tag: int) -> None:
        self.names += name.encode()
        self.name_start.append(len(self.names))
        self.tag.append(tag)
        for column in (self.kind, self.table, self.lowest, self.highest, self.is_repeated):
            column.append(0)
        for column in (self.is_packed, self.has_presence, self.bit, self.rivals):
            column.append(0)

    def _add_slots(self, rows: range) -> None:
        size = 1 << (2 * len(rows) + 1).bit_length()  # at most half full, for short searches
        slots = array("i", [NO_ROW]) * size
        for row in rows:
            slot = self._hash(row) & (size - 1)
            while slots[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            slots[slot] = row
        self.slot_start.append(len(self.slots))
        self.slot_mask.append(size - 1)
        self.slots.extend(slots)

    def _hash(self, row: int) -> int:
        """The hash of a row's name, computed as in the reader."""
        found = 0
        for letter in self.names[self.name_start[row] : self.name_start[row + 1]]:
            found = (found * 33 + letter) & LARGEST_HASH
        return found


def is_repeated(field: Descriptor) -> bool:
    """Whether a field holds a list of values."""
    # Newer versions of protobuf have `is_repeated`, older ones `label`.
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == 3)
