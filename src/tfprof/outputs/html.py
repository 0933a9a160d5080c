"""Show a view as an HTML table, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.columns import Ints, Shapes
from tfprof.metrics import BY_KEY, Metric
from tfprof.outputs import fields, shared_modules, tabular
from tfprof.outputs.html_table import (
    Amount,
    Cell,
    Column,
    Name,
    document,
    nested_names,
    paragraph,
    table,
)
from tfprof.units import counted, format_bytes, format_shape
from tfprof.views import facts
from tfprof.views.facts import Sizes
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import View

_MAX_ROWS = 200
_MAX_TEXT = 200
_OWN = Column("own", is_number=True, title="without the rows below", is_quiet=True)


def of_view(view: View) -> str:
    """The rows of a view, how many are left out, and the notes."""
    is_nested = Trait.NESTED in view.traits
    rows = _shown_rows(view)
    metrics = fields.columns(view)
    columns = [Column("name"), *(one for metric in metrics for one in _columns(view, metric))]
    depths = view.tree.depths[rows].tolist()
    cells: list[list[Cell]] = [
        [name, *(cell for metric in metrics for cell in _cells(view, row, metric))]
        for name, row in zip(_names(view, rows, depths), rows.tolist(), strict=True)
    ]
    left = len(view) - (not is_nested) - len(rows)
    sentence = VIEWS[view.kind].sentence
    return document(
        # In a flat table the rest of the sentence is about shares that only the text shows.
        paragraph(sentence if is_nested else f"{sentence.partition(':')[0]}."),
        table(*_without_empty(columns, cells), depths),
        paragraph(_left_out(left)) if left > 0 else "",
        shared_modules.html(view) if Trait.ALIGNED in view.traits else "",
        notes=view.notes,
    )


def _left_out(count: int) -> str:
    rows = counted(count, "more row")
    return f"{rows}: print(view) shows all, view.to_dataframe() has all."


def _shown_rows(view: View) -> Ints:
    """The rows to show, in order; those nearest to the root come first if there are too many."""
    if Trait.NESTED not in view.traits:
        return np.arange(1, min(len(view), 1 + _MAX_ROWS))  # the root is not a row
    nearest = np.argsort(view.tree.depths, kind="stable")[:_MAX_ROWS]
    return np.sort(nearest)


def _names(view: View, rows: Ints, depths: list[int]) -> list[Name]:
    """The names of the rows; a row whose rows below are all left out says how many they are."""
    names = list(view.name.take(rows))
    short = nested_names(names, depths) if Trait.NESTED in view.traits else names
    if Trait.ALIGNED in view.traits:
        short = [fields.TOTAL, *short[1:]]
    is_shown = np.zeros(len(view), np.int64)
    is_shown[rows] = 1
    is_last = view.tree.sums_below(is_shown)[rows] == 1
    left_out = np.where(is_last, view.tree.sizes[rows] - 1, 0).tolist()
    return [
        Name(text, name, f"+ {count:,} more" if count else "")
        for text, name, count in zip(short, names, left_out, strict=True)
    ]


def _without_empty(
    columns: list[Column], rows: list[list[Cell]]
) -> tuple[list[Column], list[list[Cell]]]:
    """Drop columns of text that are empty in all rows."""
    kept = [
        place
        for place, column in enumerate(columns)
        if column.is_number or not rows or any(row[place] for row in rows)
    ]
    return [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _columns(view: View, metric: Metric) -> list[Column]:
    """The columns of a metric: its fact, its number, and in most views the row's own number."""
    if Trait.ALIGNED in view.traits:
        return [_aligned_column(metric)]
    found: list[Column] = []
    if metric.fact:
        found.append(Column(metric.fact.replace("_", " ")))
    if metric.is_number:
        label = metric.label.removeprefix("# ")
        found.append(Column(label, is_number=True, title=metric.meaning))
        if Trait.NESTED in view.traits:
            found.append(_OWN)
    return found


def _aligned_column(metric: Metric) -> Column:
    whole = BY_KEY[metric.part_of].heading if metric.part_of else ""
    heading = f"{whole} {metric.heading or metric.label.removeprefix('# ')}".strip()
    return Column(heading, metric.is_number, metric.meaning, is_quiet=bool(metric.part_of))


def _cells(view: View, row: int, metric: Metric) -> list[Cell]:
    if Trait.ALIGNED in view.traits and metric.unit is not None:
        total, whole = (int(view.total[metric.key][place]) for place in (row, 0))
        is_exact = "params" in (metric.key, metric.part_of)
        text = f"{total:,}" if is_exact else metric.unit.format(total)
        text = text if total else ""
        return [Amount(text) if metric.part_of else _part(total, whole, text)]
    found: list[Cell] = [_fact(view, row, metric)] if metric.fact else []
    if metric.unit is None:
        return found
    own, total = (int(numbers[metric.key][row]) for numbers in (view.own, view.total))
    whole = int(view.total[metric.key][0])
    own_text = metric.unit.format(own) if view.is_accounted[row] else "--"
    if Trait.NESTED not in view.traits:
        return [*found, _part(own, whole, own_text)]
    return [*found, _part(total, whole, metric.unit.format(total)), Amount(own_text)]


def _part(number: int, whole: int, text: str) -> Amount:
    return Amount(text, number / whole if number and whole > 0 else None)


def _fact(view: View, row: int, metric: Metric) -> str:
    """A fact as text, cut if it is long."""
    column = facts.column(metric, view, slice(row, row + 1))
    if isinstance(column, Sizes):
        return format_bytes(int(column.bytes[0])) if column.bytes[0] >= 0 else ""
    if isinstance(column, Shapes):
        return fields.output_shape(column[0])
    found = tabular.fact(view, row, metric)
    text = ", ".join(_plain(value, key if len(found) > 1 else "") for key, value in found.items())
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _plain(value: object, key: str = "") -> str:
    if value is None:
        return ""
    lead = f"{key} " if key else ""
    return lead + (_list_text(value) if isinstance(value, list) else str(value))


def _list_text(values: Sequence[object]) -> str:
    whole = [value for value in values if isinstance(value, int)]
    if values and len(whole) == len(values):
        return format_shape(whole)
    return ", ".join("unknown" if value is None else _plain(value) for value in values)
