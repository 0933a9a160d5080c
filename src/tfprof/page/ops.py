"""The section `ops`: one row per op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ragged, Strings
from tfprof.measures.layers import first_outputs
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.outputs.pieces import written_once
from tfprof.page.views import coded, column_name, numbers_of, row_of_ops, shape_texts
from tfprof.views.view import View

_PHASES = tuple(phase.name.lower() for phase in Phase)


def ops(profile: ProfileColumns, views: Mapping[str, View]) -> dict[str, Any]:
    """Names, kinds, places, edges and numbers of all ops."""
    table = profile.ops
    every = np.arange(len(table))
    numbers = per_op(profile, EVERYTHING)
    keys = [column_name(metric) for metric in numbers_of(profile) if not metric.part_of]
    return {
        "count": len(table),
        "name": table.name,
        "kind": coded(table.kind),
        "device": coded(_devices(profile)),
        "phase": coded(Coded(profile.phase, Strings(_PHASES))),
        "shape": coded(shape_texts(first_outputs(table, every))),
        "line": row_of_ops(views.get("code"), len(table)),
        "layer": row_of_ops(views.get("layers"), len(table)),
        "inputs": _inputs(profile),
        "numbers": {key: numbers[key] for key in keys},
    }


def _inputs(profile: ProfileColumns) -> dict[str, Any]:
    """The edges into each op. Sources are relative to the op, which halves the size of the data."""
    inputs = profile.ops.inputs
    edges = Ragged(inputs.offsets, inputs.source)
    return {"counts": edges.lengths, "back": edges.owners - edges.values, "slot": inputs.slot}


def _devices(profile: ProfileColumns) -> Coded:
    """The devices of each op; an op that did not run has none."""
    placed, names = profile.op_devices, list(profile.devices.name)
    if placed.lengths.max(initial=0) > 1:
        return Coded.of(list(written_once(placed, lambda codes: _listed(names, codes))))
    codes = np.full(len(placed), len(names))
    codes[placed.lengths > 0] = placed.values
    return Coded(codes, Strings([*names, ""]))


def _listed(names: Sequence[str], codes: Sequence[int]) -> str:
    """The distinct names of several recordings."""
    return ", ".join(dict.fromkeys(names[code] for code in codes))
