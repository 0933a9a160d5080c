"""The section `memory`: the curve of each allocator, its peak, and what held the memory.

Times are nanoseconds since the start of the step. The page computes what held memory at any time
from the changes of each op; where these would be too many, it has what held memory at the peak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, joined
from tfprof.measures.memory import AllocatorTrace, loaded_traces
from tfprof.model.memory_curves import MemoryCurve
from tfprof.model.profile import ProfileColumns
from tfprof.options import MemoryOptions
from tfprof.outputs.memory_text import title
from tfprof.views import lines, scope
from tfprof.views.memory import (
    MOST_ALLOCATORS,
    AllocatorMemory,
    Memory,
    MemoryBreakdown,
    of_trace,
)

# A curve of this many points looks the same at any width of a screen. Only the step with the
# highest peak has so many; the curves of 50 others would be larger than the rest of the page.
MOST_POINTS = 4_000
FEWER_POINTS = 1_000
# Of all curves together; they take about half a megabyte of the page.
MOST_CHANGES = 100_000
# Per allocator; the peaks of all steps are listed.
MOST_STEPS = 50

# The breakdowns that the page shows, which it can compute for any time.
HOLDERS = ("scope", "op", "code")
_OPTIONS = MemoryOptions()  # the tables of the page are those of these options


def section(profile: ProfileColumns, answer: Memory) -> dict[str, Any]:
    """The memory of each allocator, highest peak first; `answer` is that of default options."""
    groups = _shown(loaded_traces(profile))
    holders = _Holders.of(profile, _with_changes(groups))
    return {
        "notes": [note[:1].upper() + note[1:] for note in answer.notes],
        "most_rows": answer.options.max_rows,
        "most_depth": answer.options.max_depth,
        "holders": holders.section(profile),
        "allocators": [_allocator(profile, traces, holders) for traces in groups],
    }


def _shown(traces: Sequence[AllocatorTrace]) -> list[list[AllocatorTrace]]:
    """The traces of each allocator on each device in order of steps, highest peak first.

    If there are too many steps or allocators, those with the highest peaks are shown.
    """
    groups: dict[tuple[str, int], list[AllocatorTrace]] = {}
    for one in traces:
        groups.setdefault((one.allocator, one.device), []).append(one)
    shown = [
        sorted(sorted(group, key=_peak)[:MOST_STEPS], key=lambda one: one.step)
        for group in groups.values()
    ]
    return sorted(shown, key=lambda group: min(map(_peak, group)))[:MOST_ALLOCATORS]


def _peak(trace: AllocatorTrace) -> int:
    """A key that sorts traces by their peaks in descending order."""
    return -trace.curve.peak_bytes


def _with_changes(groups: Sequence[Sequence[AllocatorTrace]]) -> list[AllocatorTrace]:
    """The traces whose changes the page has: the highest peak of each allocator, then others."""
    highest = [min(group, key=_peak) for group in groups]
    rest = [one for group in groups for one in group if one not in highest]
    found, left = [], MOST_CHANGES
    for one in [*highest, *sorted(rest, key=_peak)]:
        if len(one.op) <= left:
            found.append(one)
            left -= len(one.op)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Holders:
    """The ops that allocated or released memory in `traces`, ascending."""

    traces: Sequence[AllocatorTrace]
    op: Ints

    @classmethod
    def of(cls, profile: ProfileColumns, traces: Sequence[AllocatorTrace]) -> _Holders:
        changed = np.zeros(len(profile.ops), np.bool_)
        changed[joined([one.op for one in traces])] = True
        return cls(traces, np.flatnonzero(changed))

    def section(self, profile: ProfileColumns) -> dict[str, Any]:
        """The kind and line of each holder, and the scopes that contain them."""
        arrangement = scope.arrange(profile)
        tree, members = arrangement.tree, arrangement.members
        row_of_op = np.zeros(len(profile.ops), np.int64)
        row_of_op[members.values] = members.owners
        flags = np.zeros(len(tree), np.int64)
        flags[row_of_op[self.op]] = 1
        flags[0] = 1
        rows = np.flatnonzero(tree.sums_below(flags))
        return {
            "kind": _sorted_values(profile.ops.kind.take(self.op)),
            "line": _sorted_values(lines.of_ops(profile).take(self.op))
            if profile.has_code
            else None,
            "row": np.searchsorted(rows, row_of_op[self.op]),
            "scopes": {"end": tree.keep(rows).end, "name": arrangement.name.take(rows)},
        }

    def changes(self, trace: AllocatorTrace, start_ns: int) -> dict[str, Ints] | None:
        """The changes of a trace in order of time, or None if the page has not got them."""
        if trace not in self.traces:
            return None
        order = np.argsort(trace.time_ns, kind="stable")
        return {
            "time": trace.time_ns[order] - start_ns,
            "holder": np.searchsorted(self.op, trace.op[order]),
            "bytes": trace.bytes[order],
        }


def _sorted_values(column: Coded) -> dict[str, Any]:
    """A column with its values in order, so that equal sums are listed as Python lists them."""
    column = column.compact()
    order = column.values.order()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return {"codes": rank[column.codes], "values": column.values.take(order)}


def _allocator(
    profile: ProfileColumns, traces: Sequence[AllocatorTrace], holders: _Holders
) -> dict[str, Any]:
    answers = [of_trace(profile, trace, _OPTIONS) for trace in traces]
    first, highest = answers[0], min(traces, key=_peak)
    return {
        "title": title(first),
        "recording": first.recording if len(profile.recordings) > 1 else "",
        "step_peaks": [{"step": step, "bytes": peak} for step, peak in first.step_peaks.items()],
        "steps": [
            _step(trace, answer, holders, MOST_POINTS if trace is highest else FEWER_POINTS)
            for trace, answer in zip(traces, answers, strict=True)
        ],
    }


def _step(
    trace: AllocatorTrace, one: AllocatorMemory, holders: _Holders, most_points: int
) -> dict[str, Any]:
    changes = holders.changes(trace, one.start_ns)
    held = {by: _rows(found) for by, found in one.breakdowns.items() if by in HOLDERS}
    return {
        "step": one.step,
        "peak_bytes": one.peak_bytes,
        "peak_ns": one.peak_ns,
        "left_bytes": one.left_bytes,
        "purposes": _purposes(one),
        "reached_by": [{"op": op, "bytes": taken} for op, taken in one.reached_by],
        "curve": _points(one.curve, most_points),
        "levels": _points(one.levels, most_points) if len(one.levels) else None,
        "changes": changes,
        "held": held if changes is None else None,
    }


def _purposes(one: AllocatorMemory) -> list[dict[str, Any]]:
    """What the memory at the peak is for, most of it first; empty if that is unknown."""
    if (found := one.by_purpose) is None:
        return []
    rows = zip(found.name, found.bytes.tolist(), strict=True)
    return [{"name": name, "bytes": size} for name, size in rows]


def _points(curve: MemoryCurve, most: int) -> dict[str, Any]:
    shown = curve.thinned(most)
    return {"time": shown.time_ns, "bytes": shown.bytes, "points": len(curve)}


def _rows(breakdown: MemoryBreakdown) -> dict[str, Any]:
    return {
        "name": breakdown.name,
        "depth": breakdown.depth,
        "bytes": breakdown.bytes,
        "ops": breakdown.ops,
        "hidden_rows": breakdown.hidden_rows,
        "hidden_bytes": breakdown.hidden_bytes,
    }
