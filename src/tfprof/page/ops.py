"""The section `ops`: one row per op."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Strings
from tfprof.measures.layers import first_outputs
from tfprof.measures.numbers import EVERYTHING, Numbers, in_parts, per_op
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.page.merging import MergedView
from tfprof.page.views import coded, column_name, numbers_of, row_of_ops, shape_texts
from tfprof.views.view import View

_PHASES = tuple(phase.name.lower() for phase in Phase)


def ops(profile: ProfileColumns, views: Mapping[str, View]) -> dict[str, Any]:
    """Names, kinds, places, edges and numbers of all ops."""
    table = profile.ops
    every = np.arange(len(table))
    numbers = per_op(profile, EVERYTHING)
    runs = in_parts(profile, EVERYTHING, "runs")
    keys = [column_name(metric) for metric in numbers_of(profile) if not metric.part_of]
    return {
        "count": len(table),
        "name": table.name,
        "kind": coded(table.kind),
        "device": _devices(profile),
        "phase": coded(Coded(profile.phase, Strings(_PHASES))),
        "shape": coded(shape_texts(first_outputs(table, every))),
        "line": row_of_ops(views.get("code"), len(table)),
        "layer": row_of_ops(views.get("layers"), len(table)),
        "inputs": _inputs(profile),
        "numbers": {key: numbers[key] for key in keys},
        "runs": runs.exactly(runs.column),
        "micros": _micros(profile, numbers, views.get("scope")),
        "carries_micros": not profile.counts_whole_micros,
    }


def _inputs(profile: ProfileColumns) -> dict[str, Any]:
    """The edges into each op. Sources are relative to the op, which halves the size of the data."""
    inputs = profile.ops.inputs
    edges = Ragged(inputs.offsets, inputs.source)
    return {"counts": edges.lengths, "back": edges.owners - edges.values, "slot": inputs.slot}


def _devices(profile: ProfileColumns) -> dict[str, Any]:
    """The devices of each op, as a text and as a list; an op that did not run has none."""
    placed, names = profile.op_devices, list(profile.devices.name)
    codes, firsts = placed.numbered()
    # Recordings may have devices of the same name.
    lists = [list(dict.fromkeys(names[code] for code in placed[row])) for row in firsts.tolist()]
    return {"codes": codes, "values": Strings(map(", ".join, lists)), "names": lists}


def _micros(profile: ProfileColumns, numbers: Numbers, scope: View | None) -> dict[str, Ints]:
    """Whole microseconds, where the page cannot derive them from nanoseconds."""
    if not profile.counts_whole_micros and not isinstance(scope, MergedView):
        return {}  # `whole_micros.js` rounds like `measures.time`, in the order of scopes
    timed = [metric for metric in numbers_of(profile) if metric.exact and not metric.part_of]
    return {
        metric.key: numbers[metric.key]
        for metric in timed
        if not np.array_equal(numbers[metric.key], numbers[metric.exact] // NANOS_PER_MICRO)
    }
