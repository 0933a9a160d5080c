"""The section `views`: the rows of each view, and the metrics of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, Shapes, Strings, ints
from tfprof.measures.numbers import EVERYTHING, Numbers, per_op, total
from tfprof.metrics import METRICS, THRESHOLD_KEYS, Metric, Need, selected_columns
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.outputs import aligned_rows, fields
from tfprof.page import merging, units
from tfprof.page.container import Spans
from tfprof.page.names import spans
from tfprof.units import Unit
from tfprof.views import facts
from tfprof.views.defaults import resolved
from tfprof.views.notes import notes
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import View, build

# All rows, in the order of their arrangement. Rows with negative numbers are hidden by default.
WHOLE = Options(max_depth=2**31 - 1, order_by="")
_WITH_NEGATIVE = WHOLE.taking({f"min_{key}": -(2**63) for key in THRESHOLD_KEYS})

_NO_OP = -1
# The numbers that tables show besides the chosen one, if the view has no columns of its own.
_USUAL = ("micros", "float_ops", "params", "peak_bytes")


def numbers_of(profile: ProfileColumns) -> list[Metric]:
    """The metrics that the files have numbers for."""
    found = per_op(profile, EVERYTHING)
    return [metric for metric in METRICS if metric.is_number and found[metric.key].any()]


def column_name(metric: Metric) -> str:
    """The name of the column that has a metric: times are exact, in nanoseconds, as in JSON."""
    return metric.exact or metric.key


def build_views(profile: ProfileColumns) -> dict[str, View]:
    """Each view with all its rows, in the order of its arrangement."""
    return {kind: whole(kind, profile) for kind in VIEWS if kind != "code" or profile.has_code}


def whole(kind: str, profile: ProfileColumns) -> View:
    """A view with all its rows, in the order of its arrangement, and notes on all its numbers.

    If these are too many for a page, the smallest are merged.
    """
    default = resolved(kind, profile, WHOLE).select
    select = tuple(sorted({*default, *(metric.key for metric in numbers_of(profile))}))
    view = build(kind, profile, replace(_WITH_NEGATIVE, select=select))
    # The thresholds are not what a reader asked for.
    asked = replace(view, options=replace(WHOLE, select=select))
    return fitted(replace(view, noted=lambda: notes(asked)))


def fitted(view: View) -> View:
    """The view with as many rows as a page can have; the smallest of other rows are merged."""
    return merging.merged(view, _whole_numbers(view.profile), merging.MOST_ROWS)


def _whole_numbers(profile: ProfileColumns) -> list[str]:
    """The columns of numbers that are not parts of others."""
    return [column_name(metric) for metric in numbers_of(profile) if not metric.part_of]


def sections(profile: ProfileColumns, views: Mapping[str, View]) -> dict[str, dict[str, Any]]:
    """The sections of whole views; names that are names of ops are not repeated."""
    return {
        kind: section_of(view) | {"name": _names(view, profile.ops.name)}
        for kind, view in views.items()
    }


def section_of(view: View, profile: ProfileColumns | None = None) -> dict[str, Any]:
    """The rows of a view, which may be filtered and should be `fitted`, as a page has them.

    `profile` is that of the page, if an option of the view changed it.

    A number is left out where the page can derive it: own numbers that are those of the row's op,
    and totals that are the sums over a row and the rows below it.
    """
    single = _single_ops(view)
    found: dict[str, Any] = {
        "kind": view.kind,
        "sentence": VIEWS[view.kind].sentence,
        "nested": Trait.NESTED in view.traits,
        "gathered": view.is_gathered,
        "policy": _policy(view),
        "order": view.options.order_by,
        "end": view.tree.end,
        "name": view.name,
        "op": single,
        "ops": view.members.lengths,
        "accounted": view.is_accounted,
        "own": {},
        "total": {},
        "facts": {},
        "columns": [],
        "merged": _merged_rows(view),
        "notes": list(view.notes),
    }
    _add_numbers(found, view, per_op(profile or view.profile, EVERYTHING))
    columns = _columns(view)
    for metric in columns:
        _add_column(found, view, metric, aligned_rows.headings(metric, columns))
    return found


def _merged_rows(view: View) -> dict[str, Any] | None:
    """The rows that stand for others, how many these are, their sums and their ops."""
    if not isinstance(view, merging.MergedView):
        return None
    at = np.flatnonzero(view.arranged == merging.MERGED)
    ops = view.members.take(at)
    return {
        "rows": view.merged,
        "at": at,
        "numbers": {key: int(view.total[key][at].sum()) for key in _whole_numbers(view.profile)},
        "ops": {"counts": ops.lengths, "op": ops.values},
    }


def _policy(view: View) -> dict[str, Any]:
    """How the rows are filtered, as far as it differs between views."""
    policy = view.options.generation.policy(view.kind)
    return {
        "steps": policy.steps,
        "trimmed_rows_vanish": policy.trimmed_rows_vanish,
        "starts_by_default": policy.starts_by_default,
        "counts_ops": policy.counts_ops,
    }


def _add_numbers(found: dict[str, Any], view: View, of_ops: Numbers) -> None:
    """Add the numbers that cannot be derived; only rows of many ops have parts of numbers."""
    for metric in numbers_of(view.profile):
        key = column_name(metric)
        if metric.part_of and not view.is_gathered:
            continue
        own = view.own[key]
        if metric.part_of or not np.array_equal(own, np.append(of_ops[key], 0)[found["op"]]):
            found["own"][key] = own
        total = _totals(view, key)
        if not np.array_equal(total, view.tree.sums_below(own)):
            found["total"][key] = total


def _names(view: View, of: Strings) -> Spans | Strings:
    return view.name if view.is_gathered else spans(view, of)


def _single_ops(view: View) -> Ints:
    """The op of each row that is exactly one op, else -1."""
    members = view.members
    found = np.full(len(view), _NO_OP)
    is_single = (members.lengths == 1) & (view.arranged != merging.MERGED)
    found[is_single] = members.values[members.offsets[:-1][is_single]]
    return ints(found)


def _totals(view: View, key: str) -> Ints:
    """The totals that the page shows: in a flat list, a row's own numbers.

    There, totals of views cover all later rows, so they depend on the order.
    """
    if Trait.NESTED in view.traits:
        return view.total[key]
    totals = view.own[key].copy()
    totals[0] = view.total[key][0]
    return totals


def _columns(view: View) -> list[Metric]:
    """The columns of a table besides the chosen metric."""
    numbers = numbers_of(view.profile)
    if Trait.ALIGNED not in view.traits:
        return [metric for metric in numbers if metric.key in _USUAL]
    select = resolved(view.kind, view.profile, Options()).select
    return selected_columns(select, gathered=False, splits_micros=False)


def _add_column(
    found: dict[str, Any], view: View, metric: Metric, headings: tuple[str, str]
) -> None:
    """Add the description of a column and, if it is a fact, its values."""
    group, heading = headings
    unit = metric.unit
    if unit is None:
        values = facts.column(metric, view, slice(0, len(view)))
        match values:
            case facts.Sizes():
                found["total"][metric.key] = values.bytes
                unit = Unit.BYTES
            case facts.Texts():
                found["facts"][metric.key] = coded(Coded.of(list(fields.text_sets(values))))
            case Shapes():
                found["facts"][metric.key] = coded(shape_texts(values))
            case _:
                return
    found["columns"].append(
        {
            "key": metric.key,
            "column": column_name(metric),
            "heading": heading,
            "group": group,
            "meaning": metric.meaning,
            "unit": units.NAMES[unit] if unit else None,
        }
    )


def shape_texts(shapes: Shapes) -> Coded:
    """Shapes as texts like `(?, 224, 224, 3)`; empty if unknown."""
    return Coded(shapes.codes, Strings(map(fields.output_shape, shapes.values)))


def coded(column: Coded) -> dict[str, Any]:
    """A column of repeating texts as the page has it."""
    column = column.compact()
    return {"codes": column.codes, "values": column.values}


def metrics(profile: ProfileColumns) -> list[dict[str, Any]]:
    """The metrics that can be chosen for the page."""
    found = [metric for metric in numbers_of(profile) if not metric.part_of]
    # Measured time first, if there is any: it is what most readers look for.
    found.sort(key=lambda metric: metric.key != "micros" or metric.needs is not Need.RUNS)
    wholes = [total(profile, EVERYTHING, column_name(metric)) for metric in found]
    return [_described(metric, int(whole)) for metric, whole in zip(found, wholes, strict=True)]


def _described(metric: Metric, total: int) -> dict[str, Any]:
    return {
        "key": metric.key,
        "column": column_name(metric),
        "label": label(metric),
        "meaning": metric.meaning,
        "unit": units.NAMES[metric.unit] if metric.unit else "count",
        "total": total,
    }


def label(metric: Metric) -> str:
    """The name of a metric: `parameters`, `FLOPs`, `peak bytes`."""
    name = metric.label.removeprefix("# ")
    # Tables may shorten the headings of other numbers.
    return metric.heading or name if metric.unit is Unit.COUNT else name


def row_of_ops(view: View | None, count: int) -> Ints:
    """The row of a view that has each op, -1 if none has."""
    found = np.full(count, _NO_OP)
    if view is not None:
        found[view.members.values] = view.members.owners
    return found
