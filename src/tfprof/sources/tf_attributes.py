"""Attributes of TensorFlow ops, decoded from the file's own bytes when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfprof.columns import Ints
from tfprof.errors import InputError
from tfprof.formats.messages import DecodeError, Message, message_class
from tfprof.formats.records import Records
from tfprof.model.ops import AttributeValue


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAttributes:
    """The attributes of nodes whose messages stand at `start` to `end` in `records`."""

    records: Records
    start: Ints
    end: Ints
    message: str  # the type of those messages, with the attributes' values left encoded
    path: tuple[str, ...]  # the fields that lead to the map of attributes

    def get(self, position: int, name: str) -> AttributeValue:
        encoded = self.encoded(position).get(name)
        return None if encoded is None else _plain(self._value(name, encoded))

    def encoded(self, position: int) -> Mapping[str, bytes]:
        start, end = int(self.start[position]), int(self.end[position])
        found = self.records.parse(self.message, start, end)
        for field in self.path:
            found = getattr(found, field)
        return dict(sorted(found.items()))

    def _value(self, name: str, encoded: bytes) -> Message:
        try:
            return message_class("tensorflow.AttrValue").FromString(encoded)
        except DecodeError:
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
