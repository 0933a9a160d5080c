"""The rows of an aligned table: one column per metric, with the totals of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Shapes
from tfprof.measures.memory import (
    has_held_parameters,
    holders_from_before,
    lacks_small_allocations,
)
from tfprof.measures.shared_modules import are_shared
from tfprof.metrics import BY_KEY, Metric, Need
from tfprof.model.layers import NO_LAYER
from tfprof.model.profile import ProfileColumns
from tfprof.outputs import fields, shared_modules
from tfprof.outputs.alignment import line
from tfprof.units import Unit, format_percent
from tfprof.views import facts
from tfprof.views.facts import Sizes, Texts
from tfprof.views.view import View

_NAME = "layer"
_SHARE = "share"
_INDENT = "  "
_MARK = " (shared)"
# Shares are those of the first of these that is selected.
_SHARED = ("micros", "float_ops", "params")
# The columns that a table leaves out if it is too wide, in this order, until it fits.
_OPTIONAL = (
    ("forward_macs", "backward_macs"),
    ("forward_float_ops", "backward_float_ops"),
    ("trainable_params", "other_params"),
    ("slots",),
    ("macs",),
    ("layer_class",),
    ("forward_micros", "backward_micros"),
    ("output_shape",),
    ("forward_accelerator_micros", "backward_accelerator_micros"),
    ("held_bytes", "output_bytes"),
)


class _Column(NamedTuple):
    """A column: the heading of its group, its own heading, and a text per row."""

    group: str
    heading: str
    cells: list[str]
    is_number: bool = True


def lines(view: View) -> Iterator[str]:
    """The lines of the table: headings, one line per row, and the totals of the root."""
    columns = [_names(view), *_columns(view)]
    widths = _widths(columns)
    if any(column.group for column in columns):
        yield _groups(columns, widths)
    yield _line([column.heading for column in columns], columns, widths)
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1)) + "\n"
    yield rule
    for row in range(1, len(view)):
        yield _line([column.cells[row] for column in columns], columns, widths)
    yield rule
    yield _line([column.cells[0] for column in columns], columns, widths)
    yield from (f"{line}\n" for line in ("", *_sentences(view)))
    if shared := list(shared_modules.lines(view)):
        yield from (f"{line}\n" for line in ("", *shared))


def too_wide(view: View, width: int) -> list[Metric]:
    """The columns to leave out, so that the table is at most `width` characters wide if possible.

    Names, parameters, float operations and time always stay.
    """
    left_out: list[Metric] = []
    for keys in _OPTIONAL:
        shown = replace(view, left_out=view.left_out | {metric.key for metric in left_out})
        widths = _widths([_names(shown), *_columns(shown)])
        if sum(widths) + 2 * (len(widths) - 1) <= width:
            break
        left_out += [metric for metric in fields.columns(shown) if metric.key in keys]
    return left_out


def _widths(columns: Sequence[_Column]) -> list[int]:
    """The width of each column; the first of a group is widened until the group's heading fits."""
    widths = [max(map(len, (column.heading, *column.cells))) for column in columns]
    for group in {column.group for column in columns} - {""}:
        places = [place for place, column in enumerate(columns) if column.group == group]
        inside = sum(widths[place] + 2 for place in places) - 2
        widths[places[0]] += max(len(f" {group} ") - inside, 0)
    return widths


def _sentences(view: View) -> Iterator[str]:
    """What the numbers are, below the totals."""
    metrics = fields.columns(view)
    numbers = [metric for metric in metrics if metric.is_number]
    is_recorded = view.profile.has(Need.RUNS)
    if numbers:
        yield "A row includes the layers in it."
    if any("params" in (metric.key, metric.part_of) for metric in numbers):
        yield "A variable that several layers share counts once."
    if is_recorded and any(metric.unit is Unit.MICROS for metric in numbers):
        yield (
            "Times are those of an average step, summed over ops, even if they ran at the same "
            "time."
        )
    if is_recorded and any(metric.key == "held_bytes" for metric in metrics):
        yield (
            "Peak memory is the most that the ops of a row held at one time in a step"
            f"{_from_before(view.profile)}."
        )
        if lacks_small_allocations(view.profile):
            yield "On CPUs, TensorFlow does not record allocations of less than 256 KiB."


def _from_before(profile: ProfileColumns) -> str:
    """What peaks of rows include of the memory that was allocated before the recording."""
    if has_held_parameters(profile):
        return (
            "; layers include their parameters, and the row `memory` everything else that was "
            "allocated before the recording"
        )
    if len(holders_from_before(profile)):
        return "; the row `memory` includes what was allocated before the recording"
    return ", without what was allocated before, such as variables"


def _names(view: View) -> _Column:
    """The name of each row; a layer in another layer is indented, without the other's name.

    A module that several others call is marked in each of them.
    """
    depths, parents = view.tree.depths.tolist(), view.tree.parents.tolist()
    names = list(view.name)
    layer = np.full(len(view), NO_LAYER) if view.layer is None else view.layer
    marks = np.append(are_shared(view.profile), [False])[layer].tolist()
    cells = [fields.TOTAL]
    for row in range(1, len(view)):
        above = f"{names[parents[row]]}/"
        name = names[row].removeprefix(above) + (_MARK if marks[row] else "")
        cells.append(_INDENT * (depths[row] - 2) + name)
    return _Column("", _NAME, cells, is_number=False)


def _columns(view: View) -> Iterator[_Column]:
    metrics = fields.columns(view)
    shared = _shared(view, metrics)
    for place, metric in enumerate(metrics):
        if metric.fact and not metric.is_number:
            yield from _fact(view, metric)
            continue
        if metric.unit is None:
            continue
        group, heading = headings(metric, metrics)
        yield _Column(group, heading, _numbers(view.total[metric.key], metric))
        following = metrics[place + 1] if place + 1 < len(metrics) else None
        is_last = following is None or following.part_of != (metric.part_of or metric.key)
        if shared and shared in (metric.key, metric.part_of) and is_last:
            yield _Column(group, _SHARE, _shares(view, shared))


def headings(metric: Metric, metrics: Sequence[Metric]) -> tuple[str, str]:
    """The heading of a column and of its group: a number and its parts are a group."""
    name = metric.heading or metric.key.replace("_", " ")
    if metric.part_of:
        whole = BY_KEY[metric.part_of]
        return whole.heading, name
    has_parts = any(other.part_of == metric.key for other in metrics)
    return (name, fields.TOTAL) if has_parts else ("", name)


def _shared(view: View, metrics: Sequence[Metric]) -> str:
    """The number whose shares are shown: the one that orders rows, or the first of `_SHARED`."""
    keys = [metric.key for metric in metrics if metric.is_number and not metric.part_of]
    wanted = (view.options.order_by, *_SHARED)
    return next((key for key in wanted if key in keys), "")


def _shares(view: View, key: str) -> list[str]:
    total = view.total[key].tolist()
    return [format_percent(number, total[0]) if number else "" for number in total]


def _numbers(column: Ints, metric: Metric) -> list[str]:
    """Each number as text; zeros are left blank, and parameters are written in full."""
    is_exact = "params" in (metric.key, metric.part_of)
    unit = metric.unit or Unit.COUNT
    numbers = column.tolist()
    texts = map("{:,}".format, numbers) if is_exact else unit.format_column(column)
    return [text if number else "" for text, number in zip(texts, numbers, strict=True)]


def _fact(view: View, metric: Metric) -> Iterator[_Column]:
    """The column of a fact; only texts, sizes and shapes fit into a table."""
    column = facts.column(metric, view, slice(0, len(view)))
    heading = metric.heading or metric.label
    if isinstance(column, Texts):
        names, default = list(column.names), column.default or ""
        cells = [
            "|".join(names[code] for code in codes.tolist() if code >= 0) or default
            for codes in map(column.codes.__getitem__, range(len(view)))
        ]
        yield _Column("", heading, cells, is_number=False)
    elif isinstance(column, Sizes):
        known = zip(Unit.BYTES.format_column(column.bytes), column.bytes.tolist(), strict=True)
        yield _Column("", heading, [text if size >= 0 else "" for text, size in known])
    elif isinstance(column, Shapes):
        yield _Column(
            "",
            heading,
            [fields.output_shape(column[row]) for row in range(len(view))],
            is_number=False,
        )


def _line(cells: Sequence[str], columns: Sequence[_Column], widths: Sequence[int]) -> str:
    texts = [place for place, column in enumerate(columns) if not column.is_number]
    return line(cells, widths, texts) + "\n"


def _groups(columns: Sequence[_Column], widths: Sequence[int]) -> str:
    """The line of group headings, each centred above the columns of its group."""
    parts: list[tuple[str, int]] = []
    for column, width in zip(columns, widths, strict=True):
        if column.group and parts and parts[-1][0] == column.group:
            parts[-1] = (column.group, parts[-1][1] + 2 + width)
        else:
            parts.append((column.group, width))
    shown = (f" {group} ".center(width, "─") if group else " " * width for group, width in parts)
    return "  ".join(shown).rstrip() + "\n"
