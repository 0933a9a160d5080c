"""Memory over time as a text report: peak, curve, and which ops held the memory."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.errors import printable
from tfprof.outputs.chart import UNICODE, Pen, draw
from tfprof.units import counted, format_bytes, format_percent
from tfprof.units import format_nanos as format_time
from tfprof.views.memory import AllocatorMemory, Memory, MemoryBreakdown

WIDTH = 80

_DOC = (
    "Memory that ops allocated and have not freed, from 0 at the start of the step.\n"
    "Earlier allocations, such as variables, are only in the allocator's own count.\n"
    "Memory counts towards the op that allocated it until it is freed.\n"
)

_DOC_OF_ALL = (
    "All memory in use during the step, with what was allocated before it.\n"
    "Memory counts towards the op that allocated it until it is freed.\n"
)

BREAKDOWNS = {"purpose": "purpose", "scope": "scope", "op": "op kind", "code": "line of code"}


def report(memory: Memory, *, width: int = WIDTH, pen: Pen = UNICODE) -> str:
    """An explanation of the numbers, then the report of each allocator."""
    parts = ["".join(_allocator(one, width, pen)) for one in memory.allocators]
    doc = _DOC_OF_ALL if any(one.by_purpose for one in memory.allocators) else _DOC
    return "\n".join([f"\nDoc:\n{doc}", *parts])


def title(one: AllocatorMemory) -> str:
    """The allocator and its device."""
    allocator, device = one.allocator or "unknown allocator", one.device or "unknown device"
    return f"{printable(allocator)} on {printable(device)}"


def facts(one: AllocatorMemory) -> list[str]:
    """The peak, the step and the rest, in sentences."""
    left = f"Left at the end: {format_bytes(one.left_bytes)}."
    return [_peak(one), _steps(one), *filter(None, [_levels(one)]), left]


def _allocator(one: AllocatorMemory, width: int, pen: Pen) -> Iterator[str]:
    peak, steps, *others = facts(one)
    yield f"{title(one)}\n{peak}\n{steps}\n"
    yield from (f"{line}\n" for line in draw(one.curve, width, pen))
    yield "\n"
    yield from (f"{line}\n" for line in others)
    for kind, breakdown in one.breakdowns.items():
        yield f"\nHeld at the peak, by {BREAKDOWNS[kind]}:\n"
        yield from _rows(one, breakdown)


def _peak(one: AllocatorMemory) -> str:
    when = f"Peak: {format_bytes(one.peak_bytes)} at {format_time(one.peak_ns)}"
    if not one.reached_by:
        return f"{when}."
    op, taken = one.reached_by[0]
    return f"{when}, when {printable(op)} allocated {format_bytes(taken)}."


def _steps(one: AllocatorMemory) -> str:
    peaks = one.step_peaks
    if len(peaks) == 1:
        return f"Step: {one.step}."
    low, high = format_bytes(min(peaks.values())), format_bytes(max(peaks.values()))
    return f"Step: {one.step} (of {len(peaks)} steps, with peaks from {low} to {high})."


def _levels(one: AllocatorMemory) -> str:
    if not len(one.levels):
        return ""
    moment = one.levels.peak_ns
    most, known = format_bytes(one.levels.peak_bytes), format_bytes(one.curve.at(moment))
    return f"Allocator's own count: at most {most}, at {format_time(moment)} (curve: {known})."


def _rows(one: AllocatorMemory, breakdown: MemoryBreakdown) -> Iterator[str]:
    sizes, ops = breakdown.bytes.tolist(), breakdown.ops.tolist()
    for row, depth in enumerate(breakdown.depth.tolist()):
        indent = "  " * depth
        share = format_percent(sizes[row], one.peak_bytes)
        count = counted(ops[row], "op") if ops[row] else ""
        name = printable(breakdown.name[row])
        yield f"{format_bytes(sizes[row]):>11} {share:>8} {count:>10}{indent}{name}\n"
    if breakdown.hidden_rows:
        rest = breakdown.hidden_bytes
        share = format_percent(rest, one.peak_bytes)
        rows = counted(breakdown.hidden_rows, "row")
        yield f"{format_bytes(rest):>11} {share:>8} {'':>10}  elsewhere ({rows} not shown)\n"
