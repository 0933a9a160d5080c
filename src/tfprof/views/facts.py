"""Facts about rows besides their numbers: one function per fact, which returns a column.

A metric names its function here (`Metric.fact`). There are only a few types of columns; outputs
can write each type and do not depend on the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tfprof.columns import (
    Floats,
    Ints,
    NameTable,
    Ragged,
    Shape,
    Shapes,
    Strings,
    distinct,
    ints,
    offsets_of,
)
from tfprof.measures.numbers import Numbers
from tfprof.memo import OnDemand
from tfprof.metrics import Metric, Need
from tfprof.model.ops import Ops
from tfprof.model.tensors import Tensors
from tfprof.views.view import View

# The types of columns. They are plain classes because creating data classes would take longer than
# importing the rest of this module, which delays the first answer.


class Texts:
    """A set of texts per row, in order, as codes into `names`.

    The code -1 is an empty text, which only tables show. A row without texts has the text
    `default`; if that is None, a table omits the field of the row.
    """

    __slots__ = ("codes", "default", "names")

    def __init__(self, codes: Ragged, names: Strings, default: str | None = None) -> None:
        self.codes = codes
        self.names = names
        self.default = default


class Counts:
    """Own and total counts per row, by name; unaccounted rows do not show their own."""

    __slots__ = ("own", "total")

    def __init__(
        self, own: Mapping[str, Ints | Floats], total: Mapping[str, Ints | Floats]
    ) -> None:
        self.own = own
        self.total = total


class ShapeLists:
    """A list of shapes for each of the `ops` of each row, as codes into `shapes`."""

    __slots__ = ("codes", "ops", "shapes")

    def __init__(self, ops: Ragged, codes: Ragged, shapes: Sequence[Shape]) -> None:
        self.ops = ops
        self.codes = codes
        self.shapes = shapes

    def of_rows(self) -> Ragged:
        """The concatenated lists of all ops of each row."""
        return Ragged(self.codes.offsets[self.ops.offsets], self.codes.values)


class TensorValues:
    """A tensor per row, as its index in `tensors` or -1; outputs read the values on demand."""

    __slots__ = ("place", "tensors")

    def __init__(self, tensors: Tensors, place: Ints) -> None:
        self.tensors = tensors
        self.place = place


class Sizes:
    """A number of bytes per row, -1 if it is unknown."""

    __slots__ = ("bytes",)

    def __init__(self, column: Ints) -> None:
        self.bytes = column


# `Shapes` is one shape per row, `Ints` one integer per row.
Column: TypeAlias = Texts | Counts | Shapes | ShapeLists | Sizes | TensorValues | Ints

Fact: TypeAlias = Callable[[View, slice], Column | None]

FACTS: dict[str, Fact] = {}


def fact(function: Fact) -> Fact:
    """Register `function` under its name, for `Metric.fact`.

    It gets a view and a slice of its rows, and returns None if the view does not have the fact.
    Its name is also the key in JSON, the heading in CSV, and the field in messages that have one.
    """
    FACTS[function.__name__] = function
    return function


def column(metric: Metric, view: View, rows: slice) -> Column | None:
    """The fact that `metric` shows about `rows` besides its number, if any."""
    return FACTS[metric.fact](view, rows) if metric.fact else None


@fact
def shape(view: View, rows: slice) -> Shapes | None:
    """The shape of the parameters of a row's op."""
    if view.is_gathered:
        return None
    members = _members(view, rows)
    known = view.profile.ops.shape
    codes = np.full(len(members), len(known.values))
    codes[members.lengths > 0] = known.codes[members.values]
    return Shapes(codes, (*known.values, None))


@fact
def layer_class(view: View, rows: slice) -> Texts:
    """The class of each row that is a layer, or the classes of the layers of a row's ops."""
    from tfprof.measures import layers  # noqa: PLC0415 -- few tables describe layers

    table, of_ops, _ = layers.model_layers(view.profile)
    known = sorted({*table.kind.values} - {""})
    rank = [known.index(name) if name else -1 for name in table.kind.values]
    rank_of = np.append(ints(rank)[table.kind.codes], -1)
    members = _members(view, rows)
    if view.layer is not None:
        members = Ragged(np.arange(len(members) + 1), np.arange(len(members)))
        ranks = rank_of[view.layer[rows]]
    else:
        ranks = rank_of[of_ops[members.values]]
    classes = Ragged(offsets_of((ranks >= 0).astype(np.int64)), ranks[ranks >= 0])
    return Texts(_sets(members, classes, are_sets=True), Strings(known), default="")


@fact
def output_shape(view: View, rows: slice) -> Shapes | None:
    """The output shape of each row that is a layer, or of the first output of a row's op."""
    from tfprof.measures import layers  # noqa: PLC0415 -- few tables describe layers

    if view.layer is not None:
        known = layers.output_shapes(view.profile)
        codes = np.append(known.codes, len(known.values))[view.layer[rows]]
        return Shapes(codes, (*known.values, None))
    if view.is_gathered:
        return None
    members = _members(view, rows)
    known = layers.first_outputs(view.profile.ops, members.values)
    codes = np.full(len(members), len(known.values))
    codes[members.lengths > 0] = known.codes
    return Shapes(codes, (*known.values, None))


@fact
def held_bytes(view: View, rows: slice) -> Sizes | None:
    """The most memory that the ops of each row and the rows below it held at one time."""
    return None if view.held is None else Sizes(view.held()[view.arranged[rows]])


@fact
def devices(view: View, rows: slice) -> Texts:
    """The devices of each row's ops; an op that never ran adds an empty text to a gathered row."""
    names = list(view.profile.devices.name)
    known = sorted(set(names))
    ranks = {name: rank for rank, name in enumerate(known)}
    rank = ints([ranks[name] for name in names])
    members = _members(view, rows)
    placed = view.profile.op_devices.take(members.values)
    found = Ragged(placed.offsets, rank[placed.values])
    if view.is_gathered:
        counts = np.maximum(placed.lengths, 1)
        codes = np.full(int(counts.sum()), -1)
        codes[np.repeat(placed.lengths > 0, counts)] = found.values
        found = Ragged(offsets_of(counts), codes)
    # The devices of an op that ran in several recordings are unordered and may share a name.
    is_set = bool(placed.lengths.max(initial=0) <= 1)
    return Texts(_sets(members, found, are_sets=is_set), Strings(known))


@fact
def op_types(view: View, rows: slice) -> Texts:
    """All types of the ops of each row; a row without ops has the view's own type."""
    known = view.profile.ops.types
    members = _members(view, rows)
    found = _sets(members, known.members.take(members.values), are_sets=True)
    return Texts(found, known.names, default=view.own_type or "")


@fact
def occurrence(view: View, rows: slice) -> Counts:
    """How often the ops of each row ran, and the number of ops."""

    def of_rows(numbers: Numbers) -> Mapping[str, Ints | Floats]:
        def column(name: str) -> Ints | Floats:
            found = numbers[name][rows]
            return view.runs(found) if name == "runs" else found

        return OnDemand(("runs", "definitions"), column)

    return Counts(of_rows(view.own), of_rows(view.total))


@fact
def input_shapes(view: View, rows: slice) -> ShapeLists:
    """The shape of each input of each op, by position."""
    members = _members(view, rows)
    return ShapeLists(members, *shapes_of_inputs(view.profile.ops, members.values))


@fact
def tensor_value(view: View, rows: slice) -> TensorValues:
    """The checkpoint tensor with the name of each row; gathered rows have none."""
    tensors = view.profile.tensors
    if view.is_gathered or not view.profile.has(Need.VALUES):
        return TensorValues(tensors, np.full(rows.stop - rows.start, -1))
    table = NameTable()
    table.add(tensors.name)
    place = table.find(view.name.take(np.arange(rows.start, rows.stop))).copy()
    if rows.start == 0:
        place[0] = -1  # the root is not an op, even if a tensor has its name
    return TensorValues(tensors, place)


@fact
def num_hidden_ops(view: View, rows: slice) -> Ints:
    """The number of hidden rows between each row and its parent."""
    if view.skipped is None:
        return np.zeros(rows.stop - rows.start, np.int64)
    return view.skipped[rows]


def shapes_of_inputs(ops: Ops, chosen: Ints) -> tuple[Ragged, tuple[Shape, ...]]:
    """The shapes of the inputs of `chosen` ops, as codes, and the shape of each code.

    Without a stated shape, an input has the shape of its source's first output, whichever output
    the edge takes, because the original prints it that way.
    """
    edges = Ragged(ops.inputs.offsets, ops.inputs.source).take(chosen)
    source = np.maximum(edges.values, 0)
    output = ops.outputs.offsets[source]
    has_output = (edges.values >= 0) & (output < ops.outputs.offsets[source + 1])
    shapes = ops.outputs.shape
    codes = np.full(len(source), len(shapes.values))
    codes[has_output] = shapes.codes[output[has_output]]
    found, known = Ragged(edges.offsets, codes), (*shapes.values, None)
    if not len(ops.stated_inputs.shape):
        return found, known
    of_chosen = ops.stated_inputs.take(chosen)
    stated = Ragged(of_chosen.offsets, of_chosen.shape.codes + len(known))
    rows = np.arange(len(chosen)) + np.where(stated.lengths > 0, len(chosen), 0)
    return Ragged.joined([found, stated]).take(rows), (*known, *of_chosen.shape.values)


def _members(view: View, rows: slice) -> Ragged:
    """The ops of each of `rows`."""
    offsets = view.members.offsets[rows.start : rows.stop + 1]
    return Ragged(offsets - offsets[0], view.members.values[offsets[0] : offsets[-1]])


def _sets(members: Ragged, of_members: Ragged, *, are_sets: bool) -> Ragged:
    """The distinct values of the ops of each row, ascending.

    `are_sets` means that the values of each op are already distinct and ascending.
    """
    found = Ragged(of_members.offsets[members.offsets], of_members.values)
    if are_sets and members.lengths.max(initial=0) <= 1:
        return found
    # Encode each pair of row and value as one number; values start at -1.
    width = int(found.values.max(initial=-1)) + 2
    owners, values = np.divmod(distinct(found.owners * width + found.values + 1), width)
    return Ragged(offsets_of(np.bincount(owners, minlength=len(found))), values - 1)
