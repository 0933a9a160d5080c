"""What a text of some message may say, as flat arrays for the compiled reader of texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

Descriptor: TypeAlias = Any  # of a message, a field or an enum, as protobuf gives it

LARGEST_HASH: Final = 0xFFFF_FFFF
NO_ROW: Final = -2  # not -1: compiled functions say with it that they failed

# How a value is written, by protobuf's number of the type: a letter, and the largest numbers that
# fit, below and above zero. Our schemas use no other types.
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
    """The names that a message and all within it may use, a row for each.

    A table is the fields of one message, the values of one enum, or the words of a bool. Table 0
    is the message that was asked for. The rows of a table are found by hashing: it has
    `slot_mask[table] + 1` slots, from `slot_start[table]` on, that hold a row or `NO_ROW`.
    """

    def __init__(self, descriptor: Descriptor) -> None:
        self.slots, self.slot_start, self.slot_mask = array("i"), array("i"), array("i")
        self.names = bytearray()
        self.name_start = array("i", [0])  # in `names`, by row; a name ends where the next begins
        self.tag = array("i")  # as the wire has it; of an enum or a bool, its number
        self.kind = array("i")  # one of the letters above
        self.table = array("i")  # what the value is made of
        self.lowest, self.highest = array("Q"), array("Q")  # how far from zero a number may be
        self.is_repeated, self.is_packed = array("i"), array("i")
        self.has_presence = array("i")  # whether a default value counts as a value
        self.bit, self.rivals = array("Q"), array("Q")  # in a set of fields; the rest of its oneof
        self._numbers: dict[str, int] = {}
        self._waiting: list[Descriptor] = []
        self._table_of(descriptor.full_name, descriptor)
        for table in self._waiting:  # grows meanwhile
            self._add_table(table)

    def _table_of(self, name: str, contents: Descriptor) -> int:
        """The number of a table, which will be added if it is new."""
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
            # Whoever reads a list of numbers must take it packed and not; packed is shorter.
            is_packed = _is_repeated(field) and kind not in (STRING, BYTES, MESSAGE)
            wire_type = 2 if is_packed else _WIRE_TYPES.get(kind, 0)
            self._add_row(field.name, field.number << 3 | wire_type)
            self.kind[-1] = ord(kind)
            self.table[-1] = self._table_within(field)
            self.lowest[-1], self.highest[-1] = lowest, highest
            self.is_repeated[-1], self.is_packed[-1] = _is_repeated(field), is_packed
            self.has_presence[-1] = field.has_presence
            if not _is_repeated(field):
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
        size = 1 << (2 * len(rows) + 1).bit_length()  # at most half full: a search soon ends
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
        """As the reader takes it, letter by letter."""
        found = 0
        for letter in self.names[self.name_start[row] : self.name_start[row + 1]]:
            found = (found * 33 + letter) & LARGEST_HASH
        return found


def _is_repeated(field: Descriptor) -> bool:
    # Newer protobufs have the one, older the other.
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == 3)
