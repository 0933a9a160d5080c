"""A view as rows of plain values, for JSON, CSV and data frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from tfprof.metrics import Metric, selected_columns
from tfprof.units import exact_micros
from tfprof.views.view import View

Row: TypeAlias = dict[str, Any]


def rows(view: View) -> Iterator[Row]:
    """Each row with its place in the tree and the selected facts.

    A number appears twice: `params` is the row's own, or None where it is not accounted for;
    `total_params` also covers what is below it.
    """
    metrics = selected_columns(view.options.select, gathered=view.is_gathered)
    depths, parents = view.tree.depths.tolist(), view.tree.parents.tolist()
    for place in range(len(view)):
        facts: Row = {
            "name": view.name[place],
            "depth": depths[place],
            "parent": view.name[parents[place]] if place else None,
        }
        for metric in metrics:
            facts |= _facts(view, place, metric)
        yield facts


def row(view: View, place: int) -> Row:
    """One row of `rows`."""
    return next(islice(rows(view), place, None))


def json_row(row: Row) -> Row:
    """A row of `rows` as JSON can hold it; only tensors have floats that are no numbers."""
    if "tensor_value" not in row:
        return row
    return row | {"tensor_value": json_value(row["tensor_value"])}


def json_value(value: Any) -> Any:
    """`value` with each float that is no number as a text: `NaN`, `Infinity`, `-Infinity`."""
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _facts(view: View, row: int, metric: Metric) -> Row:
    if metric.is_number:
        shape = _shape(view, row) if metric.key == "params" and not view.is_gathered else {}
        if metric.exact:
            return _times(view, row, metric)
        return shape | _numbers(view, row, metric.key)
    return _FACTS[metric.key](view, row)


def _numbers(view: View, row: int, key: str) -> Row:
    own = int(view.own[key][row]) if view.is_accounted[row] else None
    return {key: own, f"total_{key}": int(view.total[key][row])}


def _times(view: View, row: int, metric: Metric) -> Row:
    """A time in microseconds, exact to the nanosecond where it was recorded so."""
    own, total = (exact_micros(int(table[metric.exact][row])) for table in (view.own, view.total))
    return {metric.key: own if view.is_accounted[row] else None, f"total_{metric.key}": total}


def _shape(view: View, row: int) -> Row:
    members = view.members[row].tolist()
    shape = view.profile.ops.shape[members[0]] if members else None
    return {"shape": None if shape is None else list(shape)}


def _input_shapes(view: View, row: int) -> list[Any]:
    """The inputs' shapes of the one op, or of each op where a row has many."""
    found = [
        [None if shape is None else list(shape) for shape in view.input_shapes(op)]
        for op in view.members[row].tolist()
    ]
    return found if view.is_gathered else next(iter(found), [])


def _occurrence(view: View, row: int) -> Row:
    return _numbers(view, row, "runs") | _numbers(view, row, "definitions")


def _hidden_above(view: View, row: int) -> int:
    return 0 if view.skipped is None else int(view.skipped[row])


def _value(view: View, row: int) -> Any:
    tensors = view.profile.tensors
    if row == 0 or view.is_gathered or tensors.find(view.name[row]) < 0:
        return None
    values = tensors.read(view.name[row])
    if values.dtype.kind == "O":
        texts = [value.decode("utf-8", "replace") for value in values.reshape(-1)]
        values = np.array(texts, object).reshape(values.shape)
    if values.dtype.kind == "c":
        return np.stack((values.real, values.imag), axis=-1).tolist()
    return values.tolist()


_FACTS: dict[str, Callable[[View, int], Row]] = {
    "device": lambda view, row: {"devices": [name for name in view.devices(row) if name]},
    "op_types": lambda view, row: {"op_types": view.types(row)},
    "occurrence": lambda view, row: (
        _numbers(view, row, "runs") | _numbers(view, row, "definitions")
    ),
    "input_shapes": lambda view, row: {"input_shapes": _input_shapes(view, row)},
    "tensor_value": lambda view, row: {"tensor_value": _value(view, row)},
    "num_hidden_ops": lambda view, row: {"num_hidden_ops": _hidden_above(view, row)},
}
