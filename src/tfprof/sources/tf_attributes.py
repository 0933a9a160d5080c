"""Attributes of TensorFlow ops, decoded from the file's own bytes when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfprof.columns import Ints
from tfprof.formats.messages import Message, message_class
from tfprof.model.ops import AttributeValue


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAttributes:
    """The attributes of nodes whose messages stand at `start` to `end` in `data`."""

    data: bytes
    start: Ints
    end: Ints
    message: str  # the type of those messages
    path: tuple[str, ...]  # the fields that lead to the map of attributes

    def get(self, position: int, name: str) -> AttributeValue:
        found = self._map(position)
        return _plain(found[name]) if name in found else None

    def encoded(self, position: int) -> Mapping[str, bytes]:
        return {
            name: value.SerializeToString(deterministic=True)
            for name, value in sorted(self._map(position).items())
        }

    def _map(self, position: int) -> Message:
        span = self.data[self.start[position] : self.end[position]]
        found = message_class(self.message).FromString(span)
        for field in self.path:
            found = getattr(found, field)
        return found


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
