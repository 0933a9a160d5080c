"""The attributes of TensorFlow ops, decoded from the bytes of the file on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tfprof.columns import Coded, Ints, NameTable, Strings, ints, offsets_of
from tfprof.errors import InputError
from tfprof.formats import messages
from tfprof.formats.messages import Message, message_class
from tfprof.formats.records import MessageReader
from tfprof.formats.scan import is_compiled
from tfprof.formats.scan_plan import Code, Fields, Inside, Plan, Rows
from tfprof.formats.scanned import Scanned
from tfprof.model.attributes import AttributeTable, AttributeValue

ENCODING = "tensorflow.AttrValue"
_TENSOR = b"\x42"  # the first byte of an AttrValue with a tensor
_REFERENCE = 100  # added to the number of a type: a reference to elements of that type
_LENGTH_DIGITS = 5  # base-128 digits of a length below 2 GiB

# The fields of an entry in the map of attributes.
_ENTRY: Fields = {1: Code("name"), 2: Code("value", is_text=False)}


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAttributes:
    """The attributes of nodes whose messages are at `start` to `end` in `records`."""

    records: MessageReader
    start: Ints
    end: Ints
    message: str  # the type of the messages, in a schema that leaves attribute values encoded
    path: tuple[str, ...]  # the nested fields down to the map of attributes

    def get(self, position: int, name: str) -> AttributeValue:
        encoded = self._map(position).get(name)
        if encoded is None:
            return None
        try:
            return decode(encoded)
        except messages.DecodeError:
            raise InputError(
                self.records.path, f"the attribute `{name}` of an op is damaged."
            ) from None

    def encoded(self, position: int) -> Mapping[str, bytes]:
        return dict(sorted(self._map(position).items()))

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> Iterator[tuple[bytes | None, ...]]:
        """For each node, the encoded values of these attributes, or None for a missing one."""
        starts, ends = self.start[positions].tolist(), self.end[positions].tolist()
        for start, end in zip(starts, ends, strict=True):
            find = self._within(start, end).get
            yield tuple([find(name) for name in names])

    def table(self, positions: Ints) -> AttributeTable:
        """All attributes of these nodes; unusual nodes are parsed instead of scanned."""
        if not is_compiled():
            return self._parsed_table(positions)
        nodes = self.records.cut(self.start[positions], self.end[positions])
        found = Scanned.of(_plan(self.message, self.path), _repeated(nodes))
        if found is None:
            return self._parsed_table(positions)
        values = found.coded("entry.value")
        offsets = np.append(found["node.entry"], len(values))[: len(positions) + 1]
        name = found.coded("entry.name")
        return AttributeTable(offsets, name, values.codes, values.values, ENCODING)

    def _parsed_table(self, positions: Ints) -> AttributeTable:
        found = [self.encoded(position) for position in positions.tolist()]
        return AttributeTable(
            offsets_of(ints([len(one) for one in found])),
            Coded.of([name for one in found for name in one]),
            *_distinct([value for one in found for value in one.values()]),
            ENCODING,
        )

    def _map(self, position: int) -> Message:
        """The attributes of a node, still encoded."""
        return self._within(int(self.start[position]), int(self.end[position]))

    def _within(self, start: int, end: int) -> Message:
        found = self.records.parse(self.message, start, end)
        for field in self.path:
            found = getattr(found, field)
        return found


def decode(encoded: bytes) -> AttributeValue:
    """The plain value of an encoded AttrValue; None for tensors and functions."""
    # A tensor may be as large as the model, so it is not decoded.
    is_tensor = encoded.startswith(_TENSOR)
    return None if is_tensor else _plain(messages.decode(ENCODING, encoded))


@cache
def _plan(message: str, path: tuple[str, ...]) -> Plan:
    """A plan that scans repeated messages of this type for the entries of the map at `path`."""
    type_ = message_class(message).DESCRIPTOR
    numbers = []
    for name in path:
        field = type_.fields_by_name[name]
        numbers.append(field.number)
        type_ = field.message_type
    *outer, number = numbers
    fields: Fields = {number: Rows("entry", _ENTRY, is_strict=True)}
    for number in reversed(outer):
        fields = {number: Inside(fields)}
    return Plan({1: Rows("node", fields)})


def _repeated(nodes: Strings) -> bytes:
    """A message with all of `nodes` in its repeated field 1."""
    # All lengths are padded to five digits, so that they can be encoded at once.
    shifts = 7 * np.arange(_LENGTH_DIGITS)
    digits = (nodes.lengths[:, np.newaxis] >> shifts & 0x7F).astype(np.uint8)
    digits[:, :-1] |= 0x80
    starts = _LENGTH_DIGITS * np.arange(len(nodes))
    lengths = Strings.of_spans(digits.tobytes(), starts, starts + _LENGTH_DIGITS)
    return Strings.woven([b"\x0a", lengths, nodes], len(nodes)).data


def _distinct(values: Sequence[bytes]) -> tuple[Ints, Strings]:
    """The number of each value, and the distinct values in the order of these numbers."""
    offsets = offsets_of(ints([len(value) for value in values]))
    table = NameTable()
    numbers = table.add(Strings.of_spans(b"".join(values), offsets[:-1], offsets[1:]))
    return numbers, table.texts()


def _plain(value: Message) -> AttributeValue:
    kind = value.WhichOneof("value")
    if kind == "s":
        return _text(value.s)
    if kind == "type":
        return _type_name(value.type)
    if kind in ("i", "f", "b"):
        found: AttributeValue = getattr(value, kind)
        return found
    if kind == "list":
        items = value.list
        if items.s:
            return tuple(_text(item) for item in items.s)
        return tuple(items.i) or tuple(items.f) or tuple(items.b) or ()
    return None


def _type_name(number: int) -> str:
    """The name of an element type; a reference to a variable has the type of its elements."""
    from tfprof.formats.tensor_types import tensor_type  # noqa: PLC0415 -- few questions need it

    return tensor_type(number % _REFERENCE).name


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
