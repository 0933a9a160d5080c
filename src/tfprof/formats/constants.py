"""Constants in the nodes of a GraphDef: their type, their shape, and integers if there are few."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof.formats import wire
from tfprof.formats.wire import SPAN, VARINT, WireError

MOST_NUMBERS = 512  # in a constant whose values are read

_DTYPE_BOOL = 10
_STORED: dict[int, np.dtype[Any]] = {
    3: np.dtype("<i4"),
    9: np.dtype("<i8"),
    _DTYPE_BOOL: np.dtype("?"),
}
_ATTRIBUTES, _VALUE, _TENSOR = 5, 2, 8  # fields of a node, an entry of a map, and an AttrValue
_LISTS = (7, 10, 11)  # the fields of a TensorProto with 32-bit and 64-bit integers and booleans


class Constant(NamedTuple):
    """A constant: the number of its type, its dims, and its values if they are few integers."""

    dtype: int
    dims: tuple[int, ...]
    values: npt.NDArray[Any] | None


def constant(data: wire.Octets, start: int, end: int) -> Constant | None:
    """The constant in the node at `data[start:end]`, or None if it has none or is damaged.

    The content of large constants is skipped.
    """
    try:
        span = _tensor(data, start, end)
        return None if span is None else _constant(data, *span)
    except (WireError, ValueError):
        return None


def _tensor(data: wire.Octets, start: int, end: int) -> tuple[int, int] | None:
    """The span of the tensor in the attribute `value` of a node."""
    for entry in _spans(data, _ATTRIBUTES, start, end):
        parts = {field: (first, last) for field, _, first, last in wire.fields(data, *entry)}
        if 1 in parts and _VALUE in parts and bytes(data[slice(*parts[1])]) == b"value":
            return next(_spans(data, _TENSOR, *parts[_VALUE]), None)
    return None


def _spans(data: wire.Octets, number: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    for field, kind, first, last in wire.fields(data, start, end):
        if field == number and kind == SPAN:
            yield first, last


def _constant(data: wire.Octets, start: int, end: int) -> Constant:
    dtype, content = 0, (0, 0)
    dims: tuple[int, ...] = ()
    numbers: list[int] = []
    for field, kind, first, last in wire.fields(data, start, end):
        if field == 1 and kind == VARINT:
            dtype = first
        elif field == 2 and kind == SPAN:
            dims = tuple(_dims(data, first, last))
        elif field == 4 and kind == SPAN:
            content = (first, last)
        elif field in _LISTS and len(numbers) <= MOST_NUMBERS:
            numbers += _listed(data, first, last) if kind == SPAN else [first]
    stored, size = _STORED.get(dtype), prod(dims)
    if stored is None or not 0 <= size <= MOST_NUMBERS:
        return Constant(dtype, dims, None)
    if content[0] < content[1]:
        found = np.frombuffer(bytes(data[slice(*content)]), stored).astype(object)
        return Constant(dtype, dims, found.reshape(dims))
    return Constant(dtype, dims, _filled([wire.signed(number) for number in numbers], dims))


def _dims(data: wire.Octets, start: int, end: int) -> Iterator[int]:
    for first, last in _spans(data, 2, start, end):
        sizes = [value for field, kind, value, _ in wire.fields(data, first, last) if field == 1]
        yield wire.signed(sizes[-1]) if sizes else 0


def _listed(data: wire.Octets, at: int, end: int) -> Iterator[int]:
    """The numbers of a packed list, and at most one more than are read."""
    count = 0
    while at < end and count <= MOST_NUMBERS:
        number, at = wire.varint(data, at, end)
        count += 1
        yield number


def _filled(numbers: list[int], dims: tuple[int, ...]) -> npt.NDArray[Any] | None:
    """The array with these numbers; equal numbers at the end are stored once."""
    size = prod(dims)
    if len(numbers) > size:
        return None
    numbers += (numbers[-1:] or [0]) * (size - len(numbers))
    found = np.empty(size, object)
    found[:] = numbers
    return found.reshape(dims)
