"""Infers shapes that a program leaves open, for a given batch size.

If a signature accepts any number of examples, most shapes in its graph have an open dim. The batch
size determines the first dim of the inputs, and a rule for each kind of op derives the shapes of
its outputs from those of its inputs. Shapes without a rule stay open; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeAlias

from tfprof.columns import Ints, Shape
from tfprof.formats import messages
from tfprof.formats.messages import message_class
from tfprof.model.builder import OpColumns
from tfprof.model.ops import OutputShapes

_MOST_ROUNDS = 100  # of applying the rules to all ops; programs need a few
_MOST_HOPS = 30  # from op to op, when a rule follows inputs
_MOST_NUMBERS = 64  # in a tensor that describes a shape
_INT32 = 3

Dims: TypeAlias = tuple[int, ...]
Rule: TypeAlias = "Callable[[Shapes, int, int], Dims | None]"
Tensor: TypeAlias = tuple[int, int]  # the row of an op and the slot of an output
Results: TypeAlias = Mapping[int, Sequence[Tensor]]  # the results of calls, by row


def outputs_for(
    columns: OpColumns, source: Ints, results: Results, batch_size: int
) -> OutputShapes:
    """The shapes of all outputs for `batch_size` examples, as far as they can be inferred.

    `source` has the row of each input, or -1 for no op.
    """
    shapes = Shapes(columns, source, results)
    shapes.set_batch_size(batch_size)
    shapes.infer()
    return OutputShapes.of_rows(
        [
            [shapes.of((row, slot)) for slot in range(columns.outputs.count(row))]
            for row in range(len(columns.name))
        ]
    )


class Shapes:
    """The shapes of all outputs, as stated in the graph and as inferred."""

    def __init__(self, columns: OpColumns, source: Ints, results: Results) -> None:
        self._columns = columns
        self._results = results
        self._found: dict[Tensor, Dims] = {}
        self._values: dict[Tensor, Dims | None] = {}
        self._offsets = columns.input_offsets.tolist()
        self._source, self._slot = source.tolist(), columns.input_slot.tolist()
        self._kinds = [columns.kind.values[code] for code in columns.kind.codes.tolist()]
        self._open = [
            (row, slot)
            for row in range(len(columns.name))
            for slot in range(columns.outputs.count(row))
            if self.known((row, slot)) is None
        ]

    def set_batch_size(self, batch_size: int) -> None:
        """Set the first dim of the program's inputs, if no other dim is open."""
        for tensor in self._open:
            stated = self.stated(tensor)
            is_input = self._kinds[tensor[0]] == "Placeholder"
            if is_input and stated and stated[0] < 0 and min(stated[1:], default=0) >= 0:
                self._found[tensor] = (batch_size, *stated[1:])

    def infer(self) -> None:
        """Apply the rules until they find no more shapes."""
        waiting = [tensor for tensor in self._open if tensor not in self._found]
        for _ in range(_MOST_ROUNDS):
            self._values.clear()  # more can be found than in the last round
            left = [tensor for tensor in waiting if not self._solve(tensor)]
            if len(left) == len(waiting):
                return
            waiting = left

    def _solve(self, tensor: Tensor) -> bool:
        row, slot = tensor
        if row in self._results:
            given = self._results[row]
            shape = self.known(given[slot]) if slot < len(given) else None
        elif (rule := _RULES.get(self._kinds[row])) is not None:
            shape = rule(self, row, slot)
        else:
            return False
        if shape is None or not _may_be(self.stated(tensor), shape):
            return False
        self._found[tensor] = shape
        return True

    def stated(self, tensor: Tensor) -> Shape:
        return self._columns.outputs.of(*tensor)

    def of(self, tensor: Tensor) -> Shape:
        return self._found.get(tensor, self.stated(tensor))

    def known(self, tensor: Tensor) -> Dims | None:
        """The shape of a tensor if it has no open dim."""
        shape = self.of(tensor) if tensor[0] >= 0 else None
        return None if shape is None or min(shape, default=0) < 0 else shape

    def tensor(self, row: int, position: int) -> Tensor:
        """The tensor at `position` among the inputs of an op."""
        inputs = self.tensors(row)
        return inputs[position] if -len(inputs) <= position < len(inputs) else (-1, 0)

    def tensors(self, row: int) -> list[Tensor]:
        """All input tensors of an op."""
        edges = range(self._offsets[row], self._offsets[row + 1])
        return [(self._source[edge], self._slot[edge]) for edge in edges if self._slot[edge] >= 0]

    def input(self, row: int, position: int) -> Dims | None:
        return self.known(self.tensor(row, position))

    def kind(self, row: int) -> str:
        return self._kinds[row] if row >= 0 else ""

    def number(self, row: int, name: str) -> int:
        """The value of an integer or boolean attribute, or 0."""
        reader = self._columns.attributes
        value = None if reader is None else reader.get(row, name)
        return int(value) if isinstance(value, int) else 0

    def text(self, row: int, name: str) -> str:
        reader = self._columns.attributes
        value = None if reader is None else reader.get(row, name)
        return value if isinstance(value, str) else ""

    def value(self, tensor: Tensor, hops: int = _MOST_HOPS) -> Dims | None:
        """The integers in a small tensor, such as a shape, or None if they are unknown."""
        if tensor not in self._values and hops:
            self._values[tensor] = None  # ends the search if the tensor depends on itself
            rule = _VALUES.get(self.kind(tensor[0]))
            self._values[tensor] = rule(self, tensor[0], hops - 1) if rule else None
        return self._values.get(tensor)

    def values(self, row: int, hops: int) -> list[Dims] | None:
        """The integers in all inputs of an op, or None if any are unknown."""
        found = [self.value(tensor, hops) for tensor in self.tensors(row)]
        known = [value for value in found if value is not None]
        return known if len(known) == len(found) else None

    def constant(self, row: int) -> Dims | None:
        """The 32-bit integers in a constant, or None if there are too many or none."""
        reader = self._columns.attributes
        encoded = b"" if reader is None else reader.encoded(row).get("value", b"")
        try:
            found = message_class("raw.NumbersValue").FromString(encoded).tensor
        except messages.DecodeError:
            return None
        content = found.tensor_content
        if found.dtype != _INT32 or max(len(content) // 4, len(found.int_val)) > _MOST_NUMBERS:
            return None
        if content:
            places = range(0, len(content) - 3, 4)
            return tuple(
                int.from_bytes(content[at : at + 4], "little", signed=True) for at in places
            )
        # Repeated numbers at the end are stored once.
        size = prod(int(dim.size) for dim in found.tensor_shape.dim)
        numbers: Dims = tuple(found.int_val)
        if not numbers or not 0 <= size <= _MOST_NUMBERS:
            return () if size == 0 else None
        return numbers + numbers[-1:] * (size - len(numbers))

    def open_dim(self, tensor: Tensor) -> int | None:
        """The index of the only open dim in the stated shape; None if there are more or none."""
        stated = self.stated(tensor) if tensor[0] >= 0 else None
        places = [place for place, dim in enumerate(stated or ()) if dim < 0]
        return places[0] if len(places) == 1 else None

    def element(self, tensor: Tensor) -> Dims | None:
        """The shape of the elements of a tensor list, found where the list was filled."""
        for _ in range(_MOST_HOPS):
            row, slot = tensor
            kind = self.kind(row)
            if row in self._results and slot < len(self._results[row]):
                tensor = self._results[row][slot]
            elif kind == "Identity":
                tensor = self.tensor(row, 0)
            elif kind == "TensorListSetItem":
                return self.input(row, 2)
            elif kind == "TensorListFromTensor":
                shape = self.input(row, 0)
                return None if shape is None else shape[1:]
            else:
                return None
        return None


def _may_be(stated: Shape, shape: Dims) -> bool:
    if stated is None:
        return True
    pairs = zip(stated, shape, strict=False)
    return len(stated) == len(shape) and all(dim in (-1, there) for dim, there in pairs)


def _filled(stated: Shape, dims: Mapping[int, int]) -> Dims | None:
    """A stated shape with its open dims taken from `dims`; None if any remain open."""
    if stated is None:
        return None
    filled = tuple(dims.get(place, -1) if dim < 0 else dim for place, dim in enumerate(stated))
    return None if min(filled, default=0) < 0 else filled


def _same_batch(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """The first dim is that of the first input; the others are stated."""
    taken = shapes.input(row, 0)
    return _filled(shapes.stated((row, slot)), {0: taken[0]}) if taken else None


def _broadcast(shapes: Shapes, row: int, _slot: int) -> Dims | None:
    """The broadcast shape of all inputs."""
    result: list[int] = []
    for tensor in shapes.tensors(row):
        shape = shapes.known(tensor)
        if shape is None:
            return None
        result = [1] * (len(shape) - len(result)) + result
        for place in range(1, len(shape) + 1):
            result[-place] = shape[-place] if result[-place] == 1 else result[-place]
    return tuple(result)


def _same_shape(shapes: Shapes, row: int, slot: int) -> Dims | None:
    return None if slot else shapes.input(row, 0)


def _same_size(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """The only open dim follows from the number of elements, which is that of the first input."""
    taken, place = shapes.input(row, 0), shapes.open_dim((row, slot))
    stated = shapes.stated((row, slot))
    if taken is None or stated is None or place is None:
        return None
    others = prod(dim for dim in stated if dim >= 0)
    if not others or prod(taken) % others:
        return None
    return _filled(stated, {place: prod(taken) // others})


def _reduced(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """The only open dim is that of the input, if the reduced dims are known."""
    if shapes.value(shapes.tensor(row, 1)) is None:
        return None
    return _carried(shapes, shapes.tensor(row, 0), (row, slot))


def _carried(shapes: Shapes, taken: Tensor, made: Tensor) -> Dims | None:
    """The stated shape of `made`, with its only open dim taken from that of `taken`."""
    shape, place, there = shapes.known(taken), shapes.open_dim(taken), shapes.open_dim(made)
    if shape is None or place is None or there is None:
        return None
    return _filled(shapes.stated(made), {there: shape[place]})


def _product(shapes: Shapes, row: int, _slot: int) -> Dims | None:
    """A matrix product, possibly of batches of matrices."""
    a, b = shapes.input(row, 0), shapes.input(row, 1)
    if a is None or b is None or min(len(a), len(b)) < 2:
        return None
    turns_a = shapes.number(row, "transpose_a") or shapes.number(row, "adj_x")
    turns_b = shapes.number(row, "transpose_b") or shapes.number(row, "adj_y")
    width = max(len(a), len(b)) - 2
    many_a, many_b = ((1,) * (width + 2 - len(dims)) + dims[:-2] for dims in (a, b))
    many = [y if x == 1 else x for x, y in zip(many_a, many_b, strict=True)]
    return (*many, a[-1 if turns_a else -2], b[-2 if turns_b else -1])


def _einsum(shapes: Shapes, row: int, _slot: int) -> Dims | None:
    """The dims of the letters after the arrow."""
    taken, arrow, made = shapes.text(row, "equation").replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    for position, letters in enumerate(taken.split(",")):
        shape = shapes.input(row, position)
        if shape is None or len(shape) != len(letters) or not letters.isalpha():
            return None
        sizes.update(zip(letters, shape, strict=True))
    if not arrow or not set(made) <= sizes.keys():
        return None
    return tuple(sizes[letter] for letter in made)


def _gathered(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """The rows of a table, one per index."""
    stated, indices = shapes.stated((row, slot)), shapes.input(row, 1)
    if stated is None or indices is None or shapes.number(row, "batch_dims"):
        return None
    if shapes.kind(row) == "GatherV2" and shapes.value(shapes.tensor(row, 2)) != (0,):
        return None
    return _filled(stated, dict(enumerate(indices)))


def _sliced(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """A slice of a tensor that includes all examples."""
    taken, made = shapes.tensor(row, 0), (row, slot)
    place, steps = shapes.open_dim(taken), shapes.value(shapes.tensor(row, 3))
    moves = shapes.number(row, "ellipsis_mask") or shapes.number(row, "new_axis_mask")
    if place is None or moves or steps is None:
        return None
    masks = shapes.number(row, "begin_mask") & shapes.number(row, "end_mask")
    takes_all = place >= len(steps) or (masks >> place & 1 and steps[place] == 1)
    return _carried(shapes, taken, made) if takes_all else None


def _split(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """A part of a tensor that is split along a dim other than the open one."""
    return _beside(shapes, shapes.tensor(row, 1), (row, slot))


def _joined(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """Tensors concatenated along a dim other than the open one."""
    return _beside(shapes, shapes.tensor(row, 0), (row, slot))


def _beside(shapes: Shapes, taken: Tensor, made: Tensor) -> Dims | None:
    """The open dim of an input, if input and output differ in exactly one other dim."""
    before, after = shapes.stated(taken) if taken[0] >= 0 else None, shapes.stated(made)
    if before is None or after is None or len(before) != len(after):
        return None
    differs = [x != y for x, y in zip(before, after, strict=True)]
    return _carried(shapes, taken, made) if sum(differs) == 1 else None


def _filled_up(shapes: Shapes, row: int, _slot: int) -> Dims | None:
    """The shape is the value of the first input."""
    return _without_open(shapes.value(shapes.tensor(row, 0)))


def _stretched(shapes: Shapes, row: int, _slot: int) -> Dims | None:
    """The shape is the value of the second input."""
    return _without_open(shapes.value(shapes.tensor(row, 1)))


def _without_open(dims: Dims | None) -> Dims | None:
    return None if dims is None or min(dims, default=0) < 0 else dims


def _reshaped(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """The shape is the value of the second input; -1 follows from the size of the first."""
    wanted = shapes.value(shapes.tensor(row, 1))
    if wanted is None:
        return _same_size(shapes, row, slot)
    if min(wanted, default=0) >= 0:
        return wanted
    taken, others = shapes.input(row, 0), prod(dim for dim in wanted if dim >= 0)
    if taken is None or wanted.count(-1) > 1 or not others or prod(taken) % others:
        return None
    return tuple(prod(taken) // others if dim < 0 else dim for dim in wanted)


def _item(shapes: Shapes, row: int, _slot: int) -> Dims | None:
    """One element of a tensor list."""
    return shapes.element(shapes.tensor(row, 0))


def _stacked(shapes: Shapes, row: int, slot: int) -> Dims | None:
    """All elements of a tensor list in one tensor."""
    stated, item = shapes.stated((row, slot)), shapes.element(shapes.tensor(row, 0))
    return None if not stated or item is None else _filled(stated, dict(enumerate(item, 1)))


def _shape_value(shapes: Shapes, row: int, _hops: int) -> Dims | None:
    return shapes.input(row, 0)


def _same_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    return shapes.value(shapes.tensor(row, 0), hops)


def _packed_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    found = shapes.values(row, hops)
    is_flat = found is not None and all(len(value) == 1 for value in found)
    return tuple(value[0] for value in found) if found is not None and is_flat else None


def _joined_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    found = shapes.values(row, hops)
    if not found or found[-1] != (0,):
        return None
    return tuple(number for value in found[:-1] for number in value)


def _gathered_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    found = shapes.values(row, hops)
    if found is None or len(found) != 3 or found[2] != (0,):
        return None
    numbers, places, _ = found
    is_within = all(0 <= place < len(numbers) for place in places)
    return tuple(numbers[place] for place in places) if is_within else None


def _product_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    found = shapes.values(row, hops)
    return (prod(found[0]),) if found and len(found) == 2 and found[1] == (0,) else None


def _times_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    found = shapes.values(row, hops)
    if found is None or len(found) != 2 or len(found[0]) != len(found[1]):
        return None
    return tuple(x * y for x, y in zip(*found, strict=True))


def _sliced_value(shapes: Shapes, row: int, hops: int) -> Dims | None:
    """A slice of a list of numbers."""
    found = shapes.values(row, hops)
    if found is None or [len(value) for value in found[1:]] != [1, 1, 1]:
        return None
    numbers, (begin,), (end,), (step,) = found
    if shapes.number(row, "shrink_axis_mask") & 1:
        return (numbers[begin],) if -len(numbers) <= begin < len(numbers) else None
    first = None if shapes.number(row, "begin_mask") & 1 else begin
    last = None if shapes.number(row, "end_mask") & 1 else end
    return numbers[first:last:step] if step else None


_VALUES: dict[str, Callable[[Shapes, int, int], Dims | None]] = {
    "Const": lambda shapes, row, _: shapes.constant(row),
    "Shape": _shape_value,
    "Identity": _same_value,
    "Pack": _packed_value,
    "ConcatV2": _joined_value,
    "GatherV2": _gathered_value,
    "Prod": _product_value,
    "Mul": _times_value,
    "StridedSlice": _sliced_value,
}


def _table(**rules: tuple[Rule, str]) -> dict[str, Rule]:
    return {kind: rule for rule, kinds in rules.values() for kind in kinds.split()}


_RULES = _table(
    examples=(
        _same_batch,
        "Conv2D Conv3D DepthwiseConv2dNative MaxPool AvgPool MaxPool3D AvgPool3D ResizeBilinear",
    ),
    elementwise=(
        _broadcast,
        (
            "Add AddV2 Sub Mul Div RealDiv DivNoNan FloorDiv FloorMod Pow Maximum Minimum "
            "SquaredDifference Greater GreaterEqual Less LessEqual Equal NotEqual LogicalAnd "
            "LogicalOr SelectV2 Xlogy Atan2"
        ),
    ),
    alike=(
        _same_shape,
        (
            "Abs Cast Ceil Cos Elu Erf Erfc Exp Expm1 Floor Identity LeakyRelu Log Log1p "
            "LogSoftmax LogicalNot Neg OnesLike PreventGradient Reciprocal Relu Relu6 Round "
            "Rsqrt Selu Sigmoid Sign Sin Snapshot Softmax Softplus Softsign Sqrt Square "
            "StopGradient Tanh ZerosLike BiasAdd FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 "
            "Cumsum ReverseV2"
        ),
    ),
    counted=(_same_size, "Transpose Squeeze ExpandDims"),
    reshaped=(_reshaped, "Reshape"),
    stretched=(_stretched, "BroadcastTo"),
    filled=(_filled_up, "Fill"),
    reduced=(_reduced, "Mean Sum Max Min Prod Any All ArgMax ArgMin"),
    products=(_product, "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3"),
    einsum=(_einsum, "Einsum"),
    gathered=(_gathered, "GatherV2 ResourceGather"),
    sliced=(_sliced, "StridedSlice"),
    split=(_split, "Split"),
    joined=(_joined, "ConcatV2"),
    items=(_item, "TensorListGetItem"),
    stacked=(_stacked, "TensorListStack"),
)
