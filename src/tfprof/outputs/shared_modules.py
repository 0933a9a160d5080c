"""The table of modules that several others call, which follows the table of layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfprof.measures.shared_modules import SharedModule, shared_modules
from tfprof.outputs import fields
from tfprof.outputs.alignment import aligned
from tfprof.outputs.html_table import Column, heading, paragraph, table
from tfprof.units import Unit, exact_micros, format_whole_micros
from tfprof.views.view import View, chosen_by

_TITLE = "Shared modules"
_SENTENCE = (
    "A shared module has a row in each caller; its parameters count once, in the row of this name."
)
# The columns, the last of which are numbers of layers that may not be selected.
_HEADINGS = ("shared module", "class", "callers", "calls", "parameters", "FLOPs", "time")
_NUMBERS = ("params", "float_ops", "micros")
_TEXTS = 2  # the first columns


def found(view: View) -> list[SharedModule]:
    """The shared modules of a view of layers, in the chosen steps."""
    return shared_modules(view.profile, chosen_by(view.options))


def lines(view: View) -> Iterator[str]:
    """The table as lines of text; nothing if there are no shared modules."""
    if rows := _rows(view):
        head, *body = aligned(rows, left=range(_TEXTS))
        yield from (head, "─" * max(map(len, (head, *body))), *body, "", _SENTENCE)


def html(view: View) -> str:
    """The table as HTML; nothing if there are no shared modules."""
    shown = _rows(view)
    if not shown:
        return ""
    headings, *rows = shown
    columns = [Column(text, is_number=place >= _TEXTS) for place, text in enumerate(headings)]
    return heading(_TITLE) + table(columns, rows) + paragraph(_SENTENCE)


def as_dicts(view: View) -> list[dict[str, Any]]:
    """The table as plain values; times are in microseconds."""
    return [
        {
            "name": one.name,
            "layer_class": one.kind,
            "rows": list(one.rows),
            "callers": one.callers,
            "calls": one.calls,
            "params": one.params,
            "float_ops": one.float_ops,
            "micros": exact_micros(one.nanos),
        }
        for one in found(view)
    ]


def _cells(one: SharedModule) -> tuple[str, ...]:
    return (
        one.name,
        one.kind,
        f"{one.callers:,}",
        f"{one.calls:,}",
        f"{one.params:,}" if one.params else "",
        Unit.COUNT.format(one.float_ops) if one.float_ops else "",
        format_whole_micros(one.nanos) if one.nanos else "",
    )


def _rows(view: View) -> list[list[str]]:
    """The headings and a row per module, without empty columns and those that are not selected."""
    rows = [_HEADINGS, *(_cells(one) for one in found(view))]
    selected = {metric.key for metric in fields.columns(view)}
    keys = [""] * (len(_HEADINGS) - len(_NUMBERS)) + list(_NUMBERS)
    places = [
        place
        for place, key in enumerate(keys)
        if (not key or key in selected) and any(row[place] for row in rows[1:])
    ]
    return [[row[place] for place in places] for row in rows] if places else []
