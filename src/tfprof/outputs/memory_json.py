"""Memory over time as JSON: the curves, and which ops held the memory at each peak."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tfprof.model.memory_curves import MemoryCurve
from tfprof.outputs import schemas
from tfprof.units import exact_micros
from tfprof.views.memory import AllocatorMemory, Memory, MemoryBreakdown


def as_dict(memory: Memory) -> dict[str, Any]:
    """The whole answer as plain values."""
    return _head(memory) | {"allocators": [_allocator(one) for one in memory.allocators]}


def encode(memory: Memory) -> Iterator[bytes]:
    """The answer as JSON text, one line per allocator."""
    opening = json.dumps(_head(memory), indent=1).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(_allocator(one)) for one in memory.allocators)
    yield f'{opening},\n "allocators": [\n  {lines}\n ]\n}}\n'.encode()


def _head(memory: Memory) -> dict[str, Any]:
    options = asdict(memory.options).items()
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in options}
    return {"schema": schemas.name_of("memory"), "options": plain, "notes": list(memory.notes)}


def _allocator(one: AllocatorMemory) -> dict[str, Any]:
    return {
        "allocator": one.allocator,
        "device": one.device,
        "step": one.step,
        "recording": one.recording,
        "start_micros": exact_micros(one.start_ns),
        "peak_bytes": one.peak_bytes,
        "peak_micros": exact_micros(one.peak_ns),
        "reached_by": [{"op": op, "bytes": taken} for op, taken in one.reached_by],
        "left_bytes": one.left_bytes,
        "step_peaks": [{"step": step, "bytes": peak} for step, peak in one.step_peaks.items()],
        "held_at_peak": {kind: _rows(found) for kind, found in one.breakdowns.items()},
        "curve": _points(one.curve),
        "allocator_level": _points(one.levels),
    }


def _rows(breakdown: MemoryBreakdown) -> dict[str, Any]:
    columns = (breakdown.depth.tolist(), breakdown.bytes.tolist(), breakdown.ops.tolist())
    return {
        "rows": [
            {"name": name, "depth": depth, "bytes": size, "ops": ops}
            for name, depth, size, ops in zip(breakdown.name, *columns, strict=True)
        ],
        "hidden_rows": breakdown.hidden_rows,
        "hidden_bytes": breakdown.hidden_bytes,
    }


def _points(curve: MemoryCurve) -> dict[str, list[int] | list[int | float]]:
    return {
        "micros": [exact_micros(time) for time in curve.time_ns.tolist()],
        "bytes": curve.bytes.tolist(),
    }


HELD_COLUMNS = ("allocator", "device", "step", "by", "name", "depth", "bytes", "share", "ops")


def held_rows(memory: Memory) -> Iterator[dict[str, Any]]:
    """What held memory at the peak, as flat rows with `HELD_COLUMNS`."""
    for one in memory.allocators:
        for by, breakdown in one.breakdowns.items():
            for row in _rows(breakdown)["rows"]:
                place = {"allocator": one.allocator, "device": one.device, "step": one.step}
                share = row["bytes"] / one.peak_bytes if one.peak_bytes > 0 else 0.0
                found = place | {"by": by} | row | {"share": share}
                yield {key: found[key] for key in HELD_COLUMNS}
