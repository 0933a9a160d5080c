"""Attributes of TensorFlow ops, decoded from the file's own bytes when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tfprof.columns import Ints
from tfprof.errors import InputError
from tfprof.formats import messages
from tfprof.formats.messages import Message, message_class
from tfprof.formats.records import MessageReader
from tfprof.model.ops import AttributeValue


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAttributes:
    """The attributes of nodes whose messages stand at `start` to `end` in `records`."""

    records: MessageReader
    start: Ints
    end: Ints
    message: str  # the type of those messages, with the attributes' values left encoded
    path: tuple[str, ...]  # the fields that lead to the map of attributes

    def get(self, position: int, name: str) -> AttributeValue:
        encoded = self._map(position).get(name)
        return None if encoded is None else _plain(self._value(name, encoded))

    def encoded(self, position: int) -> Mapping[str, bytes]:
        return dict(sorted(self._map(position).items()))

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> Iterator[tuple[bytes | None, ...]]:
        """The values of these attributes of each node as they were written, None for no value."""
        starts, ends = self.start[positions].tolist(), self.end[positions].tolist()
        for start, end in zip(starts, ends, strict=True):
            find = self._within(start, end).get
            yield tuple([find(name) for name in names])

    def _map(self, position: int) -> Message:
        """The attributes of a node, their values left encoded."""
        return self._within(int(self.start[position]), int(self.end[position]))

    def _within(self, start: int, end: int) -> Message:
        found = self.records.parse(self.message, start, end)
        for field in self.path:
            found = getattr(found, field)
        return found

    def _value(self, name: str, encoded: bytes) -> Message:
        try:
            return message_class("tensorflow.AttrValue").FromString(encoded)
        except messages.DecodeError:
            raise InputError(
                self.records.path, f"an attribute `{name}` in it is damaged."
            ) from None


def _plain(value: Message) -> AttributeValue:
    """An AttrValue as a plain value; tensors and functions have none."""
    kind = value.WhichOneof("value")
    if kind == "s":
        return _text(value.s)
    if kind in ("i", "f", "b", "type"):
        found: AttributeValue = getattr(value, kind)
        return found
    if kind == "list":
        items = value.list
        if items.s:
            return tuple(_text(item) for item in items.s)
        return tuple(items.i) or tuple(items.f) or tuple(items.b) or ()
    return None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
