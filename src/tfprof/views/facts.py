"""Facts about rows besides their numbers: one function per fact, a column for many rows at once.

A metric names its function here (`Metric.fact`). There are few kinds of columns; outputs know how
to write each kind and never ask which fact it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tfprof.columns import (
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
from tfprof.memo import OnDemand
from tfprof.metrics import Metric, Need
from tfprof.model.ops import Ops
from tfprof.model.tensors import Tensors
from tfprof.views.view import View

# The kinds of columns. They are plain classes because the first answer waits for this module, and
# creating data classes takes longer than everything else in it.


class Texts:
    """A set of texts per row, in order, as codes into `names`.

    The code -1 is an empty text, which only tables show. A row without any has the text `default`;
    where that is None, a table leaves the row's field out.
    """

    __slots__ = ("codes", "default", "names")

    def __init__(self, codes: Ragged, names: Strings, default: str | None = None) -> None:
        self.codes = codes
        self.names = names
        self.default = default


class Counts:
    """Own and total counts per row, by name; a row that is not accounted for shows no own ones."""

    __slots__ = ("own", "total")

    def __init__(self, own: Mapping[str, Ints], total: Mapping[str, Ints]) -> None:
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
        """The lists of all ops of each row, one after the other."""
        return Ragged(self.codes.offsets[self.ops.offsets], self.codes.values)


class TensorValues:
    """A tensor per row, by its place in `tensors`, or -1; values are read when they are written."""

    __slots__ = ("place", "tensors")

    def __init__(self, tensors: Tensors, place: Ints) -> None:
        self.tensors = tensors
        self.place = place


# `Shapes` is one shape per row, `Ints` a whole number per row.
Column: TypeAlias = Texts | Counts | Shapes | ShapeLists | TensorValues | Ints

Fact: TypeAlias = Callable[[View, slice], Column | None]

FACTS: dict[str, Fact] = {}


def fact(function: Fact) -> Fact:
    """Make `function` the fact of its name, for `Metric.fact`.

    It gets a view and a slice of its rows, and returns None if the view has no such fact. Its name
    is also the key in JSON, the heading in CSV, and the field in messages that have one.
    """
    FACTS[function.__name__] = function
    return function


def column(metric: Metric, view: View, rows: slice) -> Column | None:
    """What `metric` says about `rows` besides its number."""
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
def devices(view: View, rows: slice) -> Texts:
    """Where the ops of each row ran; an op that never ran adds an empty text to a gathered row."""
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
    # Where an op ran in several recordings, its devices are in no order and may share a name.
    is_set = bool(placed.lengths.max(initial=0) <= 1)
    return Texts(_sets(members, found, are_sets=is_set), Strings(known))


@fact
def op_types(view: View, rows: slice) -> Texts:
    """Every type that the ops of each row go by; a row without ops has the view's own type."""
    known = view.profile.ops.types
    members = _members(view, rows)
    found = _sets(members, known.members.take(members.values), are_sets=True)
    return Texts(found, known.names, default=view.own_type or "")


@fact
def occurrence(view: View, rows: slice) -> Counts:
    """How often the ops of each row ran, and how many ops there are."""
    names = ("runs", "definitions")
    return Counts(
        OnDemand(names, lambda name: view.own[name][rows]),
        OnDemand(names, lambda name: view.total[name][rows]),
    )


@fact
def input_shapes(view: View, rows: slice) -> ShapeLists:
    """The shape of each input of each op, by position."""
    members = _members(view, rows)
    return ShapeLists(members, *shapes_of_inputs(view.profile.ops, members.values))


@fact
def tensor_value(view: View, rows: slice) -> TensorValues:
    """What the checkpoint holds under the name of each row; rows of many ops have nothing there."""
    tensors = view.profile.tensors
    if view.is_gathered or not view.profile.has(Need.VALUES):
        return TensorValues(tensors, np.full(rows.stop - rows.start, -1))
    table = NameTable()
    table.add(tensors.name)
    place = table.find(view.name.take(np.arange(rows.start, rows.stop))).copy()
    if rows.start == 0:
        place[0] = -1  # the root is no op, whatever a tensor is called
    return TensorValues(tensors, place)


@fact
def num_hidden_ops(view: View, rows: slice) -> Ints:
    """How many hidden rows lie between each row and the one above it."""
    if view.skipped is None:
        return np.zeros(rows.stop - rows.start, np.int64)
    return view.skipped[rows]


def shapes_of_inputs(ops: Ops, chosen: Ints) -> tuple[Ragged, tuple[Shape, ...]]:
    """The shapes of the inputs of `chosen` ops, as codes, and the shape of each code.

    It is that of the source's first output, whichever the edge takes: so the numbers agree with
    those that have been printed for years.
    """
    edges = Ragged(ops.inputs.offsets, ops.inputs.source).take(chosen)
    source = np.maximum(edges.values, 0)
    output = ops.outputs.offsets[source]
    has_output = (edges.values >= 0) & (output < ops.outputs.offsets[source + 1])
    shapes = ops.outputs.shape
    codes = np.full(len(source), len(shapes.values))
    codes[has_output] = shapes.codes[output[has_output]]
    return Ragged(edges.offsets, codes), (*shapes.values, None)


def _members(view: View, rows: slice) -> Ragged:
    """The ops that each of `rows` stands for."""
    offsets = view.members.offsets[rows.start : rows.stop + 1]
    return Ragged(offsets - offsets[0], view.members.values[offsets[0] : offsets[-1]])


def _sets(members: Ragged, of_members: Ragged, *, are_sets: bool) -> Ragged:
    """The distinct values that the ops of each row have, ascending; `are_sets`: as each op has."""
    found = Ragged(of_members.offsets[members.offsets], of_members.values)
    if are_sets and members.lengths.max(initial=0) <= 1:
        return found
    # Values from -1 on, so that each pair of row and value is one number.
    width = int(found.values.max(initial=-1)) + 2
    owners, values = np.divmod(distinct(found.owners * width + found.values + 1), width)
    return Ragged(offsets_of(np.bincount(owners, minlength=len(found))), values - 1)
