"""The rows that a query of a store returns, as a table, JSON or CSV, written batch by batch."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from itertools import chain
from typing import Any

from tfprof.errors import escaped, shortened
from tfprof.model.stored_runs import QueryRows
from tfprof.outputs import schemas
from tfprof.outputs.alignment import line

_LONGEST_CELL = 80
_NULL = "NULL"
# JSON has no such numbers; the texts are those of tensor values.
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def table(found: QueryRows) -> Iterator[str]:
    """An aligned table; columns are as wide as the first batch requires, or wider in later rows."""
    if found.is_plan:
        for batch in found.batches:
            yield from (f"{row[-1]}\n" for row in batch)
        return
    first = next(found.batches, [])
    rows = [[_cell(name) for name in found.names], *map(_cells, first)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = {
        place
        for place in range(len(widths))
        if not all(_is_number(row[place]) for row in first if row[place] is not None)
    }
    for cells in chain(rows, (_cells(row) for batch in found.batches for row in batch)):
        yield f"{line(cells, widths, left)}\n"


def as_json(found: QueryRows) -> Iterator[str]:
    """An object with the columns and one object per row."""
    names = _distinct(found.names)
    columns = [{"name": name, "type": kind} for name, kind in zip(names, found.types, strict=True)]
    yield f'{{"schema": {json.dumps(schemas.name_of("sql"))},\n'
    yield f' "columns": {json.dumps(columns)},\n "rows": ['
    separator = "\n  "
    for batch in found.batches:
        for row in batch:
            values = dict(zip(names, map(_plain, row), strict=True))
            yield f"{separator}{json.dumps(values)}"
            separator = ",\n  "
    yield "\n ]}\n"


def as_csv(found: QueryRows) -> Iterator[str]:
    """A header and one line per row; NULL is an empty field, and lists and structs are JSON."""
    yield _csv_lines([_distinct(found.names)])
    for batch in found.batches:
        yield _csv_lines([list(map(_field, row)) for row in batch])


# The formats of an answer that are text.
FORMATS: Mapping[str, Callable[[QueryRows], Iterator[str]]] = {
    "table": table,
    "json": as_json,
    "csv": as_csv,
}


def _csv_lines(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _field(value: Any) -> Any:
    found = _plain(value)
    return json.dumps(found) if isinstance(found, (list, dict, bool)) else found


def _distinct(names: Sequence[str]) -> list[str]:
    """The names of columns; a number is added to those that occur before."""
    found: dict[str, None] = {}
    for name in names:
        free, number = name, 1
        while free in found:
            free, number = f"{name}_{number}", number + 1
        found[free] = None
    return list(found)


def _cells(row: Sequence[Any]) -> list[str]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> str:
    if value is None:
        return _NULL
    if isinstance(value, float):
        return repr(value)
    found = _plain(value)
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    # On one line, so that every row is one.
    return shortened(escaped(text), _LONGEST_CELL)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    """A value of DuckDB as JSON has it."""
    if value is None:
        return None
    return next((plain(value) for kinds, plain in _PLAIN if isinstance(value, kinds)), str(value))


def _whole_or_float(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


# How values of each type are written; those of other types are text.
_PLAIN: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((bool, int, str), lambda value: value),
    (float, lambda value: value if math.isfinite(value) else _NOT_FINITE[repr(value)]),
    (Decimal, _whole_or_float),
    ((date, time), lambda value: value.isoformat()),
    ((list, tuple), lambda value: [_plain(one) for one in value]),
    (dict, lambda value: {str(key): _plain(one) for key, one in value.items()}),
    (bytes, bytes.hex),
)
