"""Convert a view to rows of plain values, for JSON, CSV and data frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any, TypeAlias, assert_never

import numpy as np

from tfprof.columns import Bools, Floats, Ints, Shape, Shapes, distinct
from tfprof.metrics import Metric, selected_columns
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.tensors import Tensors
from tfprof.units import exact_micros, without_fraction
from tfprof.views import facts
from tfprof.views.facts import Column, Counts, ShapeLists, Sizes, TensorValues, Texts
from tfprof.views.view import View

Row: TypeAlias = dict[str, Any]

# Columns by key; values are computed when their row is reached.
_Columns: TypeAlias = dict[str, Iterable[Any]]

# Rows computed at a time.
_BLOCK_ROWS = 1 << 12

# The most empty lists in the value of an empty tensor.
_MOST_EMPTY = 10_000


def rows(view: View) -> Iterator[Row]:
    """Each row with its position in the tree and the selected metrics.

    A number appears twice: `params` is the row's own, or None if the row is not accounted for;
    `total_params` includes the rows below it.
    """
    return _rows(view, range(len(view)), plain=lambda value: value)


def json_rows(view: View) -> Iterator[Row]:
    """`rows` as valid JSON: NaN and infinities, which only tensors contain, become strings."""
    return _rows(view, range(len(view)), plain=json_value)


def row(view: View, place: int) -> Row:
    """One row of `rows`."""
    return next(_rows(view, range(place, place + 1), plain=lambda value: value))


def fact(view: View, place: int, metric: Metric) -> Row:
    """The fact of a metric in one row, by column name; totals of counts are left out."""
    some = slice(place, place + 1)
    column = facts.column(metric, view, some)
    found = _fact(view, some, metric.fact, column, plain=lambda value: value)
    return {
        key: next(iter(values)) for key, values in found.items() if not key.startswith("total_")
    }


def json_value(value: Any) -> Any:
    """`value` with non-finite floats replaced by the strings `NaN`, `Infinity`, `-Infinity`."""
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _rows(view: View, places: range, plain: Callable[[Any], Any]) -> Iterator[Row]:
    """The rows at `places`; tensor values are passed through `plain`."""
    for start in range(places.start, places.stop, _BLOCK_ROWS):
        some = slice(start, min(start + _BLOCK_ROWS, places.stop))
        columns = _places(view, some)
        for metric in selected_columns(view.options.select, gathered=view.is_gathered):
            columns |= _fact(view, some, metric.fact, facts.column(metric, view, some), plain)
            if metric.is_number:
                columns |= _number(view, some, metric)
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(columns, values, strict=True))


def _places(view: View, rows: slice) -> _Columns:
    """The name, depth and parent of each row."""
    parents = view.tree.parents[rows]
    names = list(view.name.take(np.arange(rows.start, rows.stop)))
    above: list[str | None] = list(view.name.take(parents))
    if rows.start == 0:
        above[0] = None
    return {"name": names, "depth": view.tree.depths[rows].tolist(), "parent": above}


def _number(view: View, rows: slice, metric: Metric) -> _Columns:
    """The columns of a number; times are in microseconds, with fractions if recorded."""
    own, total = (
        _exact_micros(table[metric.exact][rows])
        if metric.exact
        else table[metric.key][rows].tolist()
        for table in (view.own, view.total)
    )
    return _own_and_total(metric.key, own, total, view.is_accounted[rows])


def _exact_micros(nanos: Ints) -> list[Any]:
    whole, rest = np.divmod(nanos, NANOS_PER_MICRO)
    return list(map(exact_micros, nanos.tolist())) if rest.any() else whole.tolist()


def numbers(column: Ints | Floats) -> list[Any]:
    """The numbers of a column: integers, and floats for those that have a fraction."""
    return (
        list(map(without_fraction, column.tolist()))
        if column.dtype.kind == "f"
        else column.tolist()
    )


def _own_and_total(
    name: str, own: Sequence[Any], total: Sequence[Any], is_accounted: Bools
) -> _Columns:
    shown = zip(own, is_accounted.tolist(), strict=True)
    return {
        name: [number if is_shown else None for number, is_shown in shown],
        f"total_{name}": total,
    }


def _fact(
    view: View, rows: slice, name: str, column: Column | None, plain: Callable[[Any], Any]
) -> _Columns:
    """The columns of a fact, by column name."""
    found: _Columns = {}
    match column:
        case None:
            pass
        case Texts():
            found[name] = texts(column)
        case Counts():
            for key in column.own:
                own, total = numbers(column.own[key]), numbers(column.total[key])
                found |= _own_and_total(key, own, total, view.is_accounted[rows])
        case Shapes():
            found[name] = [_sides(column.values[code]) for code in column.codes.tolist()]
        case ShapeLists():
            found[name] = _shape_lists(column, is_gathered=view.is_gathered)
        case Sizes():
            found[name] = [size if size >= 0 else None for size in column.bytes.tolist()]
        case TensorValues():
            values = map(_value, repeat(column.tensors), column.place.tolist())
            found[name] = map(plain, values)
        case np.ndarray():
            found[name] = column.tolist()
        case _:
            assert_never(column)
    return found


def texts(column: Texts) -> Iterator[list[str]]:
    """The texts of each row."""
    codes, offsets = column.codes.values.tolist(), column.codes.offsets.tolist()
    used = distinct(column.codes.values[column.codes.values >= 0])
    names = dict(zip(used.tolist(), column.names.take(used), strict=True))
    default = [column.default] if column.default else []
    for start, end in pairwise(offsets):
        found = codes[start:end]
        yield [names[code] for code in found if code >= 0] if found else default.copy()


def _sides(shape: Shape) -> list[int] | None:
    return None if shape is None else list(shape)


def _shape_lists(column: ShapeLists, *, is_gathered: bool) -> Iterator[list[Any]]:
    """The input shapes of each row's op, or a list per op if the view gathers ops."""
    lists = column.codes if is_gathered else column.of_rows()
    codes, offsets = lists.values.tolist(), lists.offsets.tolist()
    found = (
        [_sides(column.shapes[code]) for code in codes[start:end]]
        for start, end in pairwise(offsets)
    )
    if not is_gathered:
        return found
    return ([next(found) for _ in range(count)] for count in column.ops.lengths.tolist())


def _value(tensors: Tensors, place: int) -> Any:
    """The values of a tensor as nested lists, or None for a missing tensor (-1)."""
    if place < 0:
        return None
    values = tensors.read(tensors.name[place])
    if values.size == 0 and math.prod(values.shape[: values.shape.index(0)]) > _MOST_EMPTY:
        return []  # a shape such as (1000000, 0) must not cost more than the file has
    if values.dtype.kind == "O":
        decoded = [value.decode("utf-8", "replace") for value in values.reshape(-1)]
        values = np.array(decoded, object).reshape(values.shape)
    if values.dtype.kind == "c":
        return np.stack((values.real, values.imag), axis=-1).tolist()
    return values.tolist()
