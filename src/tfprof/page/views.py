"""The sections `ops` and `views`: one row per op, and all rows of each view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Shape, Strings, ints
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.metrics import METRICS, Metric, Need
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.page import units
from tfprof.units import format_shape
from tfprof.views.defaults import resolved
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import View, build

_ALL_DEPTHS = 2**31 - 1
_NONE = -1


def numbers_of(profile: ProfileColumns) -> list[Metric]:
    """The metrics that the files have numbers for."""
    found = per_op(profile, EVERYTHING)
    return [metric for metric in METRICS if metric.is_number and found[metric.key].any()]


def column_name(metric: Metric) -> str:
    """The name of the column that has a metric: times are exact, in nanoseconds, as in JSON."""
    return metric.exact or metric.key


def ops(profile: ProfileColumns, views: Mapping[str, View]) -> dict[str, Any]:
    """One row per op."""
    table = profile.ops
    numbers = per_op(profile, EVERYTHING)
    return {
        "count": len(table),
        "name": table.name,
        "kind": _coded(table.kind),
        "device": _coded(_devices(profile)),
        "phase": _coded(Coded(profile.phase, Strings([phase.name.lower() for phase in Phase]))),
        "shape": _coded(_shapes(profile)),
        "line": _row_of_ops(views.get("code"), len(table)),
        "layer": _row_of_ops(views.get("layers"), len(table)),
        "inputs": _inputs(profile),
        "numbers": {
            column_name(metric): numbers[column_name(metric)]
            for metric in numbers_of(profile)
            if not metric.part_of
        },
    }


def _inputs(profile: ProfileColumns) -> dict[str, Any]:
    """The edges into each op. Sources are relative to the op, which halves the size of the data."""
    inputs = profile.ops.inputs
    edges = Ragged(inputs.offsets, inputs.source)
    return {"counts": edges.lengths, "back": edges.owners - edges.values, "slot": inputs.slot}


def _coded(found: Coded) -> dict[str, Any]:
    return {"codes": found.codes, "values": found.values}


def _devices(profile: ProfileColumns) -> Coded:
    """The first device of each op; an op that did not run has none."""
    placed = profile.op_devices
    codes = np.full(len(placed), len(profile.devices))
    has_any = np.flatnonzero(placed.lengths > 0)
    codes[has_any] = placed.values[placed.offsets[has_any]]
    return Coded(codes, Strings([*profile.devices.name, ""])).compact()


def _shapes(profile: ProfileColumns) -> Coded:
    """The shape of the first output of each op, as text."""
    outputs = profile.ops.outputs
    has_any = np.diff(outputs.offsets) > 0
    known = outputs.shape.values
    codes = np.full(len(profile.ops), len(known))
    codes[has_any] = outputs.shape.codes[outputs.offsets[:-1][has_any]]
    return Coded(codes, Strings([*map(_shape_text, known), ""])).compact()


def _shape_text(shape: Shape) -> str:
    if shape is None:
        return ""
    return format_shape(shape).replace("-1", "?") if shape else "scalar"


def _row_of_ops(view: View | None, count: int) -> Ints:
    """The row of a view that has each op, -1 if none has."""
    found = np.full(count, _NONE)
    if view is not None:
        found[view.members.values] = view.members.owners
    return found


def build_views(profile: ProfileColumns) -> dict[str, View]:
    """Each view with all its rows, in the order of its arrangement."""
    return {kind: _whole(kind, profile) for kind in VIEWS if kind != "code" or profile.has_code}


def _whole(kind: str, profile: ProfileColumns) -> View:
    options = resolved(kind, profile, Options(max_depth=_ALL_DEPTHS, order_by=""))
    return build(kind, profile, options)


def section(view: View, metrics: Sequence[Metric]) -> dict[str, Any]:
    """The rows of a view as the page has them."""
    traits = VIEWS[view.kind].traits
    is_gathered = Trait.GATHERED in traits
    own = {column_name(metric): view.own[column_name(metric)] for metric in metrics if is_gathered}
    return {
        "kind": view.kind,
        "sentence": VIEWS[view.kind].sentence,
        "nested": Trait.NESTED in traits,
        "gathered": is_gathered,
        "end": view.tree.end,
        "name": view.name,
        "op": _single_ops(view),
        "ops": view.members.lengths,
        "accounted": view.is_accounted,
        "own": own,
        "total": {},
        "facts": {},
        "columns": [],
        "merged": None,
        "notes": list(view.notes),
    }


def _single_ops(view: View) -> Ints:
    """The op of each row that is exactly one op, else -1."""
    members = view.members
    found = np.full(len(view), _NONE)
    is_single = members.lengths == 1
    found[is_single] = members.values[members.offsets[:-1][is_single]]
    return ints(found)


def metrics(profile: ProfileColumns) -> list[dict[str, Any]]:
    """The metrics that can be chosen for the page."""
    numbers = per_op(profile, EVERYTHING)
    found = [metric for metric in numbers_of(profile) if not metric.part_of]
    # Measured time first, if there is any: it is what most readers look for.
    found.sort(key=lambda metric: metric.key != "micros" or metric.needs is not Need.RUNS)
    return [
        {
            "key": metric.key,
            "column": column_name(metric),
            "label": metric.label.removeprefix("# "),
            "meaning": metric.meaning,
            "unit": units.NAMES[metric.unit] if metric.unit else "count",
            "total": int(numbers[column_name(metric)].sum()),
        }
        for metric in found
    ]
