"""Lists of tensors: the shape and number of their elements, and the tensors read from them."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Dims, Unknown, dim_of, refined
from tfprof.sources.tf_shapes.op import Held, Op, Value
from tfprof.sources.tf_shapes.registry import held, shapes, values


@held("TensorListReserve")
def reserved(op: Op) -> Held:
    """A list of the given length; the shape of its elements may be open."""
    return Held(_element(op, 0), _length(op, 1))


@held("EmptyTensorList")
def empty(op: Op) -> Held:
    """A list that grows; its length is not followed."""
    return Held(_element(op, 0), is_empty=True)


@held("TensorListFromTensor")
def unstacked(op: Op) -> Held:
    """The entries along the first dim."""
    length, *element = op.shape(0)
    return Held(refined(tuple(element), _element(op, 1)), length)


@held("TensorListScatter TensorListScatterV2")
def scattered(op: Op) -> Held:
    """The entries along the first dim, at given places."""
    length = _length(op, 3) if op.kind.endswith("V2") else OPEN
    return Held(refined(op.shape(0)[1:], _element(op, 2)), length)


@held("TensorListScatterIntoExistingList")
def scattered_into(op: Op) -> Held:
    """The list, with further entries."""
    known = op.held()
    return Held(refined(op.shape(1)[1:], known.shape), known.length)


@held("TensorListSetItem")
def with_item(op: Op) -> Held:
    """The list; an open shape of its elements follows from the new one."""
    known = op.held()
    return Held(refined(op.maybe_shape(2), known.shape), known.length)


@held("TensorListPushBack")
def longer(op: Op) -> Held:
    """The list with one more element."""
    known, pushed = op.held(), _integers(op, 1)
    value = pushed if known.is_empty or known.value == pushed else None
    return Held(refined(op.maybe_shape(1), known.shape), value=value)


@held("TensorListPopBack")
def shorter(op: Op) -> Held:
    """The list with one element less."""
    return Held(op.held().shape, value=op.held().value)


@held("TensorListResize")
def resized(op: Op) -> Held:
    """The list with another length."""
    return Held(op.held().shape, _length(op, 1))


@held("Identity Enter Exit Switch Merge RefIdentity")
def passed_on(op: Op) -> Held:
    """The same as the first input."""
    return op.held()


@shapes("TensorListGetItem")
def item(op: Op) -> list[Shape]:
    """One element."""
    return [refined(_known_element(op), _element(op, 2))]


@shapes("TensorListPopBack")
def last_item(op: Op) -> list[Shape]:
    """The list and its last element."""
    return [(), refined(_known_element(op), _element(op, 1))]


@values("TensorListPopBack")
def last_values(op: Op) -> list[Value | None]:
    """The integers of the last element, if they are those of every element."""
    value = op.held().value
    return [None, None if value is None else np.array(value, object)]


@shapes("TensorListStack")
def stacked(op: Op) -> list[Shape]:
    """All elements in one tensor."""
    element = refined(_known_element(op), _element(op, 1))
    if element is None:
        raise Unknown
    length = op.integer("num_elements", OPEN)
    try:
        length = op.held().length if length < 0 else length
    except Unknown:
        length = dim_of(length)
    return [(length, *element)]


@shapes("TensorListGather")
def chosen(op: Op) -> list[Shape]:
    """The elements at given places in one tensor."""
    element = refined(_known_element(op), _element(op, 2))
    if element is None:
        raise Unknown
    return [(op.shape(1)[0], *element)]


@shapes("TensorListElementShape")
def element_rank(op: Op) -> list[Shape]:
    """One number per dim of the elements."""
    element = op.held().shape
    if element is None:
        raise Unknown
    return [(len(element),)]


@values("TensorListElementShape")
def element_dims(op: Op) -> list[Value | None]:
    """The dims of the elements, -1 where open."""
    element = op.held().shape
    if element is None:
        raise Unknown
    return [np.array(element, object)]


@values("TensorListLength")
def length(op: Op) -> list[Value | None]:
    """The number of elements."""
    known = op.held().length
    if known < 0:
        raise Unknown
    return [np.array(known, object)]


def _known_element(op: Op) -> Shape:
    try:
        return op.held().shape
    except Unknown:
        return None


def _element(op: Op, position: int) -> Shape:
    """The shape of elements that an input states; None if it is a single number."""
    try:
        value = op.maybe_value(position)
        rank = op.maybe_shape(position)
    except Unknown:
        return None
    if rank == () or (value is None and rank is None):
        return None
    try:
        found: Dims = op.dims(position)
    except Unknown:
        return None
    return found


def _length(op: Op, position: int) -> int:
    value = op.maybe_value(position)
    return OPEN if value is None else dim_of(value.item())


def _integers(op: Op, position: int) -> tuple[int, ...] | None:
    """The integers in a vector, if all are known."""
    value = op.maybe_value(position)
    if value is None or value.ndim != 1 or any(number is None for number in value):
        return None
    return tuple(value.tolist())
