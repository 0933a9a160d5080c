"""The facts of the rows of a view as fields of a table, many rows at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfprof.columns import Ints, Ragged, Shapes, Strings, distinct, ints, offsets_of
from tfprof.metrics import Metric, selected_columns
from tfprof.model.ops import Ops
from tfprof.outputs.pieces import Field, Piece, amounts, or_else, written_once
from tfprof.units import Unit, format_shape
from tfprof.views.view import View

_SUFFIX = {"params": " params", "float_ops": " flops"}


def of_rows(view: View, rows: slice) -> list[Field]:
    """What the selected columns of a tree say of `rows`."""
    fields: list[Field] = []
    for metric in columns(view):
        if metric.key == "params" and not view.is_gathered:
            fields.append(_shapes(view, rows))
        if metric.unit is not None:
            suffix = _SUFFIX.get(metric.key, "")
            fields.append(Field(_own_and_total(view, rows, metric.key, metric.unit, suffix)))
        elif metric.key in _FACTS:
            fields.append(_FACTS[metric.key](view, rows))
    return fields


def columns(view: View) -> list[Metric]:
    """The columns that a table of `view` has, in order."""
    style = view.options.generation.style
    return selected_columns(
        view.options.select, gathered=view.is_gathered, splits_micros=style.splits_micros
    )


def _own_and_total(view: View, rows: slice, key: str, unit: Unit, after: str) -> list[Piece]:
    own = amounts(view.own[key][rows], unit, "/")
    total = amounts(view.total[key][rows], unit, after)
    return [or_else(view.is_accounted[rows], own, b"--/"), total]


def _occurrence(view: View, rows: slice) -> Field:
    if view.is_gathered:
        return Field([b"occurrence N/A in code view"])
    definitions = _own_and_total(view, rows, "definitions", Unit.COUNT, "")
    if not view.options.generation.style.counts_runs:
        return Field(definitions)
    return Field(_own_and_total(view, rows, "runs", Unit.COUNT, "|") + definitions)


def _shapes(view: View, rows: slice) -> Field:
    """The shape that a row's parameters have."""
    members = _members(view, rows)
    shapes = view.profile.ops.shape.take(members.values)
    codes = np.full(len(members), len(shapes.values))
    codes[members.lengths > 0] = shapes.codes
    texts = Strings([*shape_texts(shapes, unknown=""), ""]).take(codes)
    return Field([texts], texts.lengths > 0)


def _devices(view: View, rows: slice) -> Field:
    found = devices(view, rows)
    is_shown = _members(view, rows).lengths > 0 if view.is_gathered else found.lengths > 0
    return Field([found], is_shown)


def devices(view: View, rows: slice) -> Strings:
    """Where the ops of each row ran, in order; an empty name for those that never did."""
    known = list(view.profile.devices.name)
    names = ["", *sorted(known)]
    ranks = {name: rank for rank, name in enumerate(names)}
    rank = ints([ranks[name] for name in known])
    members = _members(view, rows)
    placed = view.profile.op_devices.take(members.values)
    # An op that never ran has the empty name, whose rank is 0.
    counts = np.maximum(placed.lengths, 1)
    found = np.zeros(int(counts.sum()), np.int64)
    is_placed = np.repeat(placed.lengths > 0, counts)
    found[is_placed] = rank[placed.values]
    return written_once(
        _sets(members, Ragged(offsets_of(counts), found)),
        lambda codes: "|".join(names[code] for code in codes),
    )


def types(view: View, rows: slice) -> Strings:
    """Every type that the ops of each row go by, in order."""
    known = view.profile.ops.types
    members = _members(view, rows)
    found = written_once(
        _sets(members, known.members.take(members.values)),
        lambda codes: "|".join(known.names[code] for code in codes),
    )
    return or_else(members.lengths > 0, found, (view.own_type or "").encode())


def _input_shapes(view: View, rows: slice) -> Field:
    if view.is_gathered:
        return Field([b"input_shapes N/A in code view"])
    members = _members(view, rows)
    inputs, shapes = input_codes(view.profile.ops, members.values)
    of_rows = Ragged(inputs.offsets[members.offsets], inputs.values)
    return Field([written_once(of_rows, lambda codes: "|".join(input_texts(codes, shapes)))])


_FACTS: dict[str, Callable[[View, slice], Field]] = {
    "device": _devices,
    "op_types": lambda view, rows: Field([types(view, rows)]),
    "occurrence": _occurrence,
    "input_shapes": _input_shapes,
}


def input_codes(ops: Ops, chosen: Ints) -> tuple[Ragged, list[str]]:
    """The shapes of the inputs of the chosen ops, as codes, and what each code says.

    It is that of the source's first output, whichever the edge takes: see `View.input_shapes`.
    """
    edges = Ragged(ops.inputs.offsets, ops.inputs.source).take(chosen)
    source = np.maximum(edges.values, 0)
    output = ops.outputs.offsets[source]
    has_output = (edges.values >= 0) & (output < ops.outputs.offsets[source + 1])
    shapes = ops.outputs.shape
    codes = np.full(len(source), len(shapes.values))
    codes[has_output] = shapes.codes[output[has_output]]
    return Ragged(edges.offsets, codes), [*shape_texts(shapes, unknown="unknown"), "unknown"]


def input_texts(codes: list[int], shapes: list[str]) -> list[str]:
    """The inputs of an op, as in `0:3x3x16`."""
    return [f"{place}:{shapes[code]}" for place, code in enumerate(codes)]


def shape_texts(column: Shapes, *, unknown: str) -> list[str]:
    """What each code of a column of shapes says; a scalar is shown as `1`."""
    return [unknown if shape is None else format_shape(shape or (1,)) for shape in column.values]


def _members(view: View, rows: slice) -> Ragged:
    """The ops that each of `rows` stands for."""
    offsets = view.members.offsets[rows.start : rows.stop + 1]
    return Ragged(offsets - offsets[0], view.members.values[offsets[0] : offsets[-1]])


def _sets(members: Ragged, of_members: Ragged) -> Ragged:
    """The different values that the ops of each row have, ascending as those of an op are."""
    found = Ragged(of_members.offsets[members.offsets], of_members.values)
    if members.lengths.max(initial=0) <= 1:
        return found
    width = int(found.values.max(initial=0)) + 1
    owners, values = np.divmod(distinct(found.owners * width + found.values), width)
    return Ragged(offsets_of(np.bincount(owners, minlength=len(found))), values)
