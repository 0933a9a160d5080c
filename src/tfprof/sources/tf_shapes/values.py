"""Follows the values of small integer tensors, such as shapes and counters."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import zip_longest
from math import prod

import numpy as np

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Unknown, axis_in, is_whole
from tfprof.sources.tf_shapes.op import MOST_NUMBERS, Op, Value
from tfprof.sources.tf_shapes.registry import VALUES, values

_LARGEST = 1 << 63  # larger results come from damaged files


def _limited(number: object) -> object:
    is_small = isinstance(number, int) and -_LARGEST <= number < _LARGEST
    return number if is_small else None


def _elementwise(kind: str, function: Callable[..., object], count: int) -> None:
    """Register a rule that applies `function` to each group of known elements."""

    def one(*numbers: object) -> object:
        if any(number is None for number in numbers):
            return None
        try:
            return _limited(function(*numbers))
        except ArithmeticError:
            return None

    applied = np.frompyfunc(one, count, 1)

    def rule(op: Op) -> list[Value | None]:
        given = [op.value(position) for position in range(count)]
        if prod(np.broadcast_shapes(*(value.shape for value in given))) > MOST_NUMBERS:
            raise Unknown
        return [np.array(applied(*given), object)]

    VALUES[kind] = rule


def _truncated(one: int, two: int) -> int:
    quotient = abs(one) // abs(two)
    return quotient if (one < 0) == (two < 0) else -quotient


def _both(one: object, two: object) -> object:
    return bool(one) and bool(two)


def _either(one: object, two: object) -> object:
    return bool(one) or bool(two)


_BINARY: dict[str, Callable[..., object]] = {
    "Add": operator.add,
    "AddV2": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod,
    "TruncateDiv": _truncated,
    "Div": _truncated,
    "Maximum": max,
    "Minimum": min,
    "Less": operator.lt,
    "LessEqual": operator.le,
    "Greater": operator.gt,
    "GreaterEqual": operator.ge,
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LogicalAnd": _both,
    "LogicalOr": _either,
}
_UNARY: dict[str, Callable[..., object]] = {
    "Neg": operator.neg,
    "Abs": abs,
    "LogicalNot": operator.not_,
    "ZerosLike": lambda _: 0,
    "OnesLike": lambda _: 1,
}
for _kind, _function in _BINARY.items():
    _elementwise(_kind, _function, 2)
for _kind, _function in _UNARY.items():
    _elementwise(_kind, _function, 1)
_elementwise("Square", lambda number: number * number, 1)
_elementwise("SelectV2", lambda test, one, two: one if test else two, 3)
_elementwise("Select", lambda test, one, two: one if test else two, 3)


@values(
    "Identity Snapshot StopGradient PreventGradient EnsureShape DebugIdentityV2 CheckNumerics",
    "DeepCopy Enter Exit",
)
def same(op: Op) -> list[Value | None]:
    """The value of the first input."""
    return [op.value(0)]


@values("Switch")
def switched(op: Op) -> list[Value | None]:
    """Both outputs have the value of the data."""
    return [op.value(0)] * 2


_BITS = (8, 16, 32, 64)
_INTEGERS = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in _BITS)
_BOOL = "bool"


@values("Cast")
def cast(op: Op) -> list[Value | None]:
    """The same integers; booleans become 0 or 1. Other types are not followed."""
    wanted = op.text("DstT")
    if wanted != _BOOL and wanted not in _INTEGERS:
        raise Unknown
    made = bool if wanted == _BOOL else int
    converted = np.frompyfunc(lambda number: None if number is None else made(number), 1, 1)
    return [np.array(converted(op.value(0)), object)]


def of_shape(shape: Shape) -> Value:
    """The dims as a value, None where open."""
    if shape is None:
        raise Unknown
    found = np.empty(len(shape), object)
    found[:] = [None if dim == OPEN else dim for dim in shape]
    return found


@values("Shape ShapeN")
def dims(op: Op) -> list[Value | None]:
    """The dims of each input."""
    found = [op.maybe_shape(position) for position in range(len(op.inputs))]
    return [None if shape is None else of_shape(shape) for shape in found]


@values("VariableShape")
def variable_dims(op: Op) -> list[Value | None]:
    """The dims of a variable."""
    return [of_shape(op.held().shape)]


@values("Size")
def size(op: Op) -> list[Value | None]:
    """The number of elements."""
    shape = op.shape(0)
    if not is_whole(shape):
        raise Unknown
    return [np.array(_limited(prod(shape)), object)]


@values("Rank")
def rank(op: Op) -> list[Value | None]:
    """The number of dims."""
    return [np.array(len(op.shape(0)), object)]


def _known_or_open(op: Op, position: int) -> Value:
    """The value of a small input, with unknown elements if nothing is known."""
    value = op.maybe_value(position)
    if value is not None:
        return value
    shape = op.shape(position)
    if not is_whole(shape) or prod(shape) > MOST_NUMBERS:
        raise Unknown
    return np.full(shape, None, object)


@values("Pack")
def packed(op: Op) -> list[Value | None]:
    """The values side by side."""
    _require_few(op)
    parts = [_known_or_open(op, position) for position in range(len(op.inputs))]
    return [np.stack(parts, op.integer("axis"))]


def _require_few(op: Op) -> None:
    if len(op.inputs) > MOST_NUMBERS:
        raise Unknown


@values("ConcatV2")
def joined(op: Op) -> list[Value | None]:
    """The values one after the other."""
    _require_few(op)
    axis = op.number(-1)
    parts = [_known_or_open(op, position) for position in range(len(op.inputs) - 1)]
    if sum(part.size for part in parts) > MOST_NUMBERS:
        raise Unknown
    return [np.concatenate(parts, axis)]


@values("Reshape")
def reshaped(op: Op) -> list[Value | None]:
    """The same numbers in another shape."""
    return [op.value(0).reshape(op.numbers(1))]


@values("ExpandDims")
def expanded(op: Op) -> list[Value | None]:
    """The same numbers with a further dim."""
    return [np.expand_dims(op.value(0), op.number(1))]


@values("Squeeze")
def squeezed(op: Op) -> list[Value | None]:
    """The same numbers without dims of size 1."""
    return [np.squeeze(op.value(0), op.integers("squeeze_dims") or None)]


@values("Transpose")
def transposed(op: Op) -> list[Value | None]:
    """The same numbers with dims in another order."""
    return [op.value(0).transpose(op.numbers(1))]


@values("Unpack")
def unpacked(op: Op) -> list[Value | None]:
    """The entries along one dim."""
    value = op.value(0)
    moved = np.moveaxis(value, op.integer("axis"), 0)
    return [np.array(part, object) for part in moved]


@values("Split")
def split(op: Op) -> list[Value | None]:
    """Equal parts."""
    parts = op.integer("num_split")
    if not 0 < parts <= MOST_NUMBERS:
        raise Unknown
    return list(np.split(op.value(1), parts, op.number(0)))


@values("SplitV")
def split_by_sizes(op: Op) -> list[Value | None]:
    """Parts of given sizes."""
    ends = np.cumsum(op.numbers(1)[:-1]).tolist()
    return list(np.split(op.value(0), ends, op.number(2)))


@values("GatherV2 Gather")
def gathered(op: Op) -> list[Value | None]:
    """The entries at known places."""
    if op.integer("batch_dims"):
        raise Unknown
    value, places = op.value(0), op.whole(1).astype(np.int64)
    axis = axis_in(op.number(2), value.ndim) if op.kind == "GatherV2" else 0
    if places.size * max(value.size, 1) > MOST_NUMBERS**2:
        raise Unknown
    found = np.take(value, places, axis)
    return [np.array(found, object)]


@values("Fill BroadcastTo")
def filled(op: Op) -> list[Value | None]:
    """Repeated numbers."""
    places = (0, 1) if op.kind == "Fill" else (1, 0)
    dims_, value = op.numbers(places[0]), op.value(places[1])
    if min(dims_, default=0) < 0 or prod(dims_) > MOST_NUMBERS:
        raise Unknown
    return [np.array(np.broadcast_to(value, dims_), object)]


@values("Tile")
def tiled(op: Op) -> list[Value | None]:
    """Repeated numbers."""
    value, times = op.value(0), op.numbers(1)
    if min(times, default=0) < 0 or value.size * prod(times) > MOST_NUMBERS:
        raise Unknown
    return [np.tile(value, times)]


@values("Range")
def counted(op: Op) -> list[Value | None]:
    """The numbers of a range."""
    found = range(*(op.number(position) for position in range(3)))
    if len(found) > MOST_NUMBERS:
        raise Unknown
    return [np.array(found, object)]


@values("ReverseV2")
def reversed_(op: Op) -> list[Value | None]:
    """The numbers in reverse."""
    return [np.flip(op.value(0), tuple(op.numbers(1)))]


@values("InvertPermutation")
def inverted(op: Op) -> list[Value | None]:
    """The place of each number."""
    return [np.argsort(op.whole(0).astype(np.int64)).astype(object)]


def _reduction(kind: str, function: Callable[..., int]) -> None:
    def rule(op: Op) -> list[Value | None]:
        value, axes = op.value(0), op.numbers(1)
        chosen = {axis_in(axis, value.ndim) for axis in axes}
        if len(chosen) < value.ndim:
            raise Unknown
        found = np.array(_limited(function([int(number) for number in op.whole(0).flat])), object)
        return [found.reshape((1,) * value.ndim) if op.integer("keep_dims") else found]

    VALUES[kind] = rule


_REDUCTIONS: dict[str, Callable[..., int]] = {
    "Prod": prod,
    "Sum": sum,
    "Max": max,
    "Min": min,
    "All": all,
    "Any": any,
}
for _kind, _function in _REDUCTIONS.items():
    _reduction(_kind, _function)

# The kinds that compute; the others only move values.
ARITHMETIC = frozenset((*_BINARY, *_UNARY, *_REDUCTIONS, "Square", "Range", "InvertPermutation"))


@values("BroadcastArgs")
def broadcast_dims(op: Op) -> list[Value | None]:
    """The broadcast shape of two shapes."""
    one, two = op.numbers(0), op.numbers(1)
    pairs = list(zip_longest(reversed(one), reversed(two), fillvalue=1))
    return [np.array([b if a == 1 else a for a, b in reversed(pairs)], object)]


@values("BroadcastGradientArgs")
def reduced_axes(op: Op) -> list[Value | None]:
    """The axes along which each of two inputs was broadcast."""
    one, two = op.numbers(0), op.numbers(1)
    if one == two:
        return [np.array([], object)] * 2
    width = max(len(one), len(two))
    padded = [[1] * (width - len(dims_)) + dims_ for dims_ in (one, two)]
    found: list[list[int]] = [[], []]
    for axis, (a, b) in enumerate(zip(*padded, strict=True)):
        if a == 1:
            found[0].append(axis)
        if b == 1:
            found[1].append(axis)
    return [np.array(axes, object) for axes in found]


@values("ConcatOffset")
def offsets(op: Op) -> list[Value | None]:
    """The place of each part in the concatenated tensor."""
    axis = op.number(0)
    found, at = [], 0
    for position in range(1, len(op.inputs)):
        part = op.numbers(position)
        start = np.zeros(len(part), object)
        start[axis] = at
        found.append(start)
        at += part[axis]
    return list(found)


@values("DynamicStitch")
def stitched(op: Op) -> list[Value | None]:
    """Numbers at given places; later ones replace earlier ones."""
    count = len(op.inputs) // 2
    found: dict[int, object] = {}
    for position in range(count):
        numbers = _known_or_open(op, count + position).flat
        found.update(zip(op.numbers(position), numbers, strict=True))
    size_ = max(found, default=OPEN) + 1
    if size_ > MOST_NUMBERS or len(found) < size_:
        raise Unknown
    return [np.array([found[place] for place in range(size_)], object)]


# The kinds whose values follow from shapes or lists; the others need a value.
FROM_SHAPES = frozenset(
    (
        *("Rank", "Shape", "ShapeN", "Size", "VariableShape"),
        *("TensorListElementShape", "TensorListLength", "TensorListPopBack"),
    )
)
