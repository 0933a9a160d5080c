"""Attributes of ops: values by name, such as the strides of a convolution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tfprof.columns import Coded, Ints, Strings

AttributeValue: TypeAlias = (
    bool | int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | None
)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeTable:
    """All attributes of some ops: those of op `i` are from `offsets[i]` to `offsets[i + 1]`.

    Equal values are stored once. If an op has several attributes of one name, the last one counts.
    """

    offsets: Ints
    name: Coded
    value: Ints  # a row of `values`
    values: Strings  # as their source wrote them: any bytes
    encoding: str  # how they are written: `json`, or one that `sources.saved_attributes` knows


class AttributeReader(Protocol):
    """The attributes of the ops that one input defined, by their position in it."""

    def get(self, position: int, name: str) -> AttributeValue:
        """The value of one attribute, or None if the op has no such attribute."""

    def encoded(self, position: int) -> Mapping[str, bytes]:
        """All attributes of an op as their source wrote them."""

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> Iterable[tuple[bytes | None, ...]]:
        """The values of these attributes of many ops as they were written, None for no value."""

    def table(self, positions: Ints) -> AttributeTable:
        """All attributes of many ops."""
