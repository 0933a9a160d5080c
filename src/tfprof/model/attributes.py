"""Attributes of ops: named values, such as the strides of a convolution."""

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
    """All attributes of some ops; op `i` has the rows from `offsets[i]` to `offsets[i + 1]`.

    Equal values are stored once. If an op has an attribute twice, the last one counts.
    """

    offsets: Ints
    name: Coded
    value: Ints  # a row of `values`
    values: Strings  # the bytes as written by the source, not necessarily text
    encoding: str  # of `values`: one of `sources.saved_attributes.DECODERS`


class AttributeReader(Protocol):
    """The attributes of the ops defined by one input; an op is given by its position there."""

    def get(self, position: int, name: str) -> AttributeValue:
        """The value of an attribute, or None if the op does not have it."""

    def encoded(self, position: int) -> Mapping[str, bytes]:
        """All attributes of an op, still encoded."""

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> Iterable[tuple[bytes | None, ...]]:
        """For each op, the encoded values of these attributes, or None for a missing one."""

    def table(self, positions: Ints) -> AttributeTable:
        """All attributes of these ops."""
