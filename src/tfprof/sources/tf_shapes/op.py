"""An op as shape rules see it: the shapes and values of its inputs, and its attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy.typing as npt

from tfprof.columns import Shape
from tfprof.formats import messages
from tfprof.model.attributes import AttributeValue
from tfprof.sources.tf_attributes import decode
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown, dim_of

MOST_NUMBERS = 512  # in a tensor whose values are followed

Tensor: TypeAlias = tuple[int, int]  # the row of an op and the slot of an output
# Integers or booleans, None where unknown. The array has the shape of the tensor.
Value: TypeAlias = npt.NDArray[Any]


class Held(NamedTuple):
    """What a handle refers to: the variable's shape, or the shape and number of list elements.

    `value` has the integers of every element of a list, if they are known and all the same; an
    empty list has any value.
    """

    shape: Shape
    length: int = OPEN
    value: tuple[int, ...] | None = None
    is_empty: bool = False


class Tensors(Protocol):
    """Facts about tensors, as far as they are known."""

    def shape(self, tensor: Tensor) -> Shape: ...

    def value(self, tensor: Tensor) -> Value | None: ...

    def held(self, tensor: Tensor) -> Held | None: ...


class Op:
    """One op; queries raise `Unknown` if the answer is not known."""

    __slots__ = ("_attributes", "_encoded", "_tensors", "declared", "inputs", "kind", "stated")

    def __init__(  # noqa: PLR0917 -- only the engine makes ops
        self,
        kind: str,
        inputs: Sequence[Tensor],
        stated: Sequence[Shape],
        declared: Shape,
        attributes: Callable[[], Mapping[str, bytes]],
        tensors: Tensors,
    ) -> None:
        self.kind = kind
        self.inputs = inputs
        self.stated = stated  # the output shapes in the graph
        self.declared = declared  # the attribute `shape`
        self._attributes = attributes
        self._encoded: Mapping[str, bytes] | None = None  # read on first use
        self._tensors = tensors

    def tensor(self, position: int) -> Tensor:
        if not -len(self.inputs) <= position < len(self.inputs):
            raise Unknown
        return self.inputs[position]

    def maybe_shape(self, position: int) -> Shape:
        """The shape of an input, or None if its rank is unknown."""
        return self._tensors.shape(self.tensor(position))

    def shape(self, position: int, rank: int | None = None) -> Dims:
        """The shape of an input, which may have open dims."""
        shape = self.maybe_shape(position)
        if shape is None or (rank is not None and len(shape) != rank):
            raise Unknown
        return shape

    def shapes(self, stop: int | None = None, start: int = 0) -> list[Dims]:
        """The shapes of several inputs."""
        places = range(len(self.inputs))[start:stop]
        return [self.shape(position) for position in places]

    def maybe_value(self, position: int) -> Value | None:
        """The value of an input, or None if nothing of it is known."""
        return self._tensors.value(self.tensor(position))

    def value(self, position: int) -> Value:
        """The value of an input, some elements of which may be None."""
        value = self.maybe_value(position)
        if value is None:
            raise Unknown
        return value

    def whole(self, position: int) -> Value:
        """The value of an input, with all elements known."""
        value = self.value(position)
        if any(number is None for number in value.flat):
            raise Unknown
        return value

    def numbers(self, position: int) -> list[int]:
        """The values of an input as a flat list."""
        return [int(number) for number in self.whole(position).flat]

    def number(self, position: int) -> int:
        """The only value of an input."""
        (number,) = self.numbers(position)
        return number

    def dims(self, position: int) -> Dims:
        """An input that states a shape; unknown elements are open dims."""
        value = self.maybe_value(position)
        if value is not None:
            return tuple(dim_of(number) for number in value.flat)
        (rank,) = self.shape(position, 1)
        if not 0 <= rank <= MOST_NUMBERS:
            raise Unknown
        return (OPEN,) * rank

    def held(self, position: int = 0) -> Held:
        """What the handle at an input refers to."""
        held = self._tensors.held(self.tensor(position))
        if held is None:
            raise Unknown
        return held

    def attribute(self, name: str) -> AttributeValue:
        """The value of an attribute, or None if it is missing or damaged."""
        if self._encoded is None:
            self._encoded = self._attributes()
        encoded = self._encoded.get(name)
        try:
            return None if encoded is None else decode(encoded)
        except messages.DecodeError:
            return None

    def integer(self, name: str, default: int = 0) -> int:
        found = self.attribute(name)
        return int(found) if isinstance(found, int) else default

    def text(self, name: str, default: str = "") -> str:
        found = self.attribute(name)
        return found if isinstance(found, str) and found else default

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of integers; empty if missing."""
        found = self.attribute(name)
        listed = found if isinstance(found, tuple) else ()
        return tuple(number for number in listed if isinstance(number, int))
