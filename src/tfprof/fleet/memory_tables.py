"""The tables of a partition about memory: the peak of each allocator, and who holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, ints, joined
from tfprof.measures.memory import allocator_traces
from tfprof.model.memory_curves import MemoryTrace
from tfprof.model.profile import ProfileColumns

# Enough points of a curve for a chart.
_MOST_POINTS = 200


def of(columns: ProfileColumns) -> dict[str, dict[str, Any]]:
    """The tables `allocators`, `held` and `levels`."""
    traces = allocator_traces(columns)
    return {
        "allocators": {
            "trace": np.arange(len(traces)),
            "step": ints([one.step for one in traces]),
            "device": ints([one.device for one in traces]),
            "allocator": Coded.of([one.allocator for one in traces]),
            "untimed": ints([one.untimed for one in traces]),
            "first_ns": ints([one.first_ns for one in traces]),
            "peak_bytes": ints([one.peak_bytes for one in traces]),
            "reported_bytes": ints([one.reported_bytes for one in traces]),
        },
        "held": _held(columns, traces),
        "levels": _levels(traces),
    }


def _held(columns: ProfileColumns, traces: Sequence[MemoryTrace]) -> dict[str, Any]:
    count = len(columns.ops)
    pieces: list[tuple[Ints, Ints, Ints]] = []
    for one in traces:
        held, taken = one.held_at_peak(count), one.taken_at_peak(count)
        op = np.flatnonzero((held != 0) | (taken != 0))
        pieces.append((op, held[op], taken[op]))
    return {
        "trace": _owners([len(op) for op, _, _ in pieces]),
        "op": joined([op for op, _, _ in pieces]),
        "held": joined([held for _, held, _ in pieces]),
        "taken": joined([taken for _, _, taken in pieces]),
    }


def _levels(traces: Sequence[MemoryTrace]) -> dict[str, Any]:
    curves = [(one.curve, one.levels) for one in traces]
    found = [curve.thinned(_MOST_POINTS) for pair in curves for curve in pair]
    owners = _owners([len(curve) for curve in found])
    return {
        "trace": owners // 2,
        "is_reported": owners % 2 == 1,
        "time_ns": joined([curve.time_ns for curve in found]),
        "bytes": joined([curve.bytes for curve in found]),
    }


def _owners(counts: list[int]) -> Ints:
    return np.repeat(np.arange(len(counts)), counts)
