"""The fields of nested rows in a table, as columns of text for many rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import numpy as np

from tfprof.columns import Bools, Floats, Ints, Shape, Shapes, Strings
from tfprof.metrics import Metric, selected_columns
from tfprof.outputs import tensor_text
from tfprof.outputs.pieces import Field, Piece, amounts, digits, or_else, written_once
from tfprof.units import Unit, format_shape
from tfprof.views import facts
from tfprof.views.facts import Counts, ShapeLists, Sizes, TensorValues, Texts
from tfprof.views.registry import Trait
from tfprof.views.view import View

TOTAL = "total"  # the name of the root in aligned tables
_SUFFIX = {"params": " params", "slots": " slots", "float_ops": " flops", "macs": " macs"}


def of_rows(view: View, rows: slice, metrics: Sequence[Metric]) -> list[Field]:
    """The fields of `rows` for `metrics`, from left to right."""
    fields: list[Field] = []
    for metric in metrics:
        if metric.fact and metric.label:
            fields += _fact(view, rows, metric)
        if metric.unit is not None:
            own, total = view.own[metric.key][rows], view.total[metric.key][rows]
            is_accounted, suffix = view.is_accounted[rows], _SUFFIX.get(metric.key, "")
            fields.append(Field(_own_and_total(is_accounted, own, total, metric.unit, suffix)))
    return fields


def below_rows(view: View, rows: slice, metrics: Sequence[Metric]) -> list[Piece]:
    """The lines below each of `rows`: tensor values."""
    found = [facts.column(metric, view, rows) for metric in metrics if not metric.label]
    return [
        Strings(tensor_text.of_tensor(column.tensors, place) for place in column.place.tolist())
        for column in found
        if isinstance(column, TensorValues)
    ]


def columns(view: View) -> list[Metric]:
    """The columns of a table of `view`, in order."""
    is_aligned = Trait.ALIGNED in view.traits
    selected = selected_columns(
        view.options.select,
        gathered=view.is_gathered and not is_aligned,
        splits_micros=view.options.generation.style.splits_micros and not is_aligned,
    )
    return [metric for metric in selected if metric.key not in view.left_out]


def _fact(view: View, rows: slice, metric: Metric) -> list[Field]:
    """The field of a fact for `rows`, or none if rows do not show it."""
    if metric.is_of_single_ops and view.is_gathered:
        return [Field([f"{metric.key} N/A in {view.kind} view".encode()])]
    fields: list[Field] = []
    match column := facts.column(metric, view, rows):
        case None | TensorValues():
            pass
        case Texts():
            is_shown = True if column.default is not None else column.codes.lengths > 0
            fields = [Field([text_sets(column)], is_shown)]
        case Counts():
            fields = [Field(_counts(view, rows, column))]
        case Shapes():
            texts = Strings(shape_texts(column.values, unknown="")).take(column.codes)
            fields = [Field([texts], texts.lengths > 0)]
        case ShapeLists():
            fields = [Field([_shape_lists(column)])]
        case Sizes():
            fields = [Field([amounts(column.bytes, Unit.BYTES)], column.bytes >= 0)]
        case np.ndarray():
            fields = [Field([digits(column)])]
        case _:
            assert_never(column)
    return fields


def _own_and_total(
    is_accounted: Bools, own: Ints | Floats, total: Ints | Floats, unit: Unit, after: str
) -> list[Piece]:
    return [
        or_else(is_accounted, amounts(own, unit, "/"), b"--/"),
        amounts(total, unit, after),
    ]


def text_sets(column: Texts) -> Strings:
    """The texts of each row, joined as in `a|b`."""
    names, default = column.names, column.default or ""

    def write(codes: list[int]) -> str:
        return "|".join("" if code < 0 else names[code] for code in codes) if codes else default

    return written_once(column.codes, write)


def _counts(view: View, rows: slice, column: Counts) -> list[Piece]:
    is_accounted = view.is_accounted[rows]
    names = shown_counts(view, column)
    pieces: list[Piece] = []
    for name in names:
        after = "" if name == names[-1] else "|"
        own, total = column.own[name], column.total[name]
        pieces += _own_and_total(is_accounted, own, total, Unit.COUNT, after)
    return pieces


def shown_counts(view: View, column: Counts) -> list[str]:
    """The names of the counts that a table shows; older generations omit the runs."""
    counts_runs = view.options.generation.style.counts_runs
    return [name for name in column.own if counts_runs or name != "runs"]


def _shape_lists(column: ShapeLists) -> Strings:
    """The input shapes of each row's op, as in `0:3x3|1:unknown`."""
    texts = shape_texts(column.shapes, unknown="unknown")
    of_rows = column.of_rows()
    return written_once(of_rows, lambda codes: "|".join(numbered_texts(codes, texts)))


def numbered_texts(codes: Sequence[int], texts: Sequence[str]) -> list[str]:
    """The texts of `codes`, each prefixed with its position: `0:3x3x16`."""
    return [f"{place}:{texts[code]}" for place, code in enumerate(codes)]


def shape_texts(shapes: Sequence[Shape], *, unknown: str) -> list[str]:
    """Each shape as in `3x3x16`; a scalar is shown as `1`."""
    return [unknown if shape is None else format_shape(shape or (1,)) for shape in shapes]


def output_shape(shape: Shape) -> str:
    """A shape as in `(?, 224, 224, 3)`; empty if it is unknown."""
    if shape is None:
        return ""
    sides = ", ".join("?" if side < 0 else str(side) for side in shape)
    return f"({sides},)" if len(shape) == 1 else f"({sides})"
