"""Memory over time as HTML, for notebooks: a curve and tables of what held the memory."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.model.memory_curves import MemoryCurve
from tfprof.outputs import chart, memory_text
from tfprof.outputs.html_table import (
    Amount,
    Cell,
    Column,
    Name,
    document,
    heading,
    nested_names,
    paragraph,
    table,
)
from tfprof.units import format_bytes
from tfprof.views.memory import AllocatorMemory, Memory, MemoryBreakdown

_CHART_COLUMNS = 400
_CHART_HEIGHT = 100


def of_memory(memory: Memory) -> str:
    """A part for each allocator, highest peak first."""
    parts = [part for one in memory.allocators for part in _allocator(one)]
    return document(*parts, notes=memory.notes)


def _allocator(one: AllocatorMemory) -> Iterator[str]:
    yield heading(memory_text.title(one))
    yield _curve(one.curve)
    for line in memory_text.facts(one):
        yield paragraph(line, is_quiet=False)
    for kind, breakdown in one.breakdowns.items():
        yield _breakdown(one, breakdown, memory_text.BREAKDOWNS[kind])


def _curve(curve: MemoryCurve) -> str:
    """The curve as an area, each column with the highest value of its interval."""
    highest, _ = chart.column_peaks(curve, _CHART_COLUMNS)
    most = max(int(highest.max()), 1)
    tops = [round(_CHART_HEIGHT * (1 - max(value, 0) / most), 1) for value in highest.tolist()]
    steps = "".join(f"V{top}H{column + 1}" for column, top in enumerate(tops))
    size = f"0 0 {_CHART_COLUMNS} {_CHART_HEIGHT}"
    return (
        f'<svg viewBox="{size}" preserveAspectRatio="none" role="img" '
        'aria-label="memory over time">'
        f'<path d="M0 {_CHART_HEIGHT}{steps}V{_CHART_HEIGHT}Z" fill="rgba(66,133,244,.45)"/>'
        f'<path d="M0 {_CHART_HEIGHT}H{_CHART_COLUMNS}" stroke="currentColor"/></svg>'
    )


def _breakdown(one: AllocatorMemory, breakdown: MemoryBreakdown, by: str) -> str:
    columns = [
        Column(f"held at the peak, by {by}"),
        Column("bytes", is_number=True),
        Column("ops", is_number=True),
    ]
    sizes, ops = breakdown.bytes.tolist(), breakdown.ops.tolist()
    whole = max(one.peak_bytes, 1)
    names, depths = list(breakdown.name), breakdown.depth.tolist()
    rows: list[list[Cell]] = [
        [Name(short, name), Amount(format_bytes(size), size / whole), Amount(f"{count:,}")]
        for short, name, size, count in zip(
            nested_names(names, depths), names, sizes, ops, strict=True
        )
    ]
    if breakdown.hidden_rows:
        rest = breakdown.hidden_bytes
        name = Name(f"elsewhere ({breakdown.hidden_rows:,} rows not shown: max_rows=-1)")
        rows.append([name, Amount(format_bytes(rest), rest / whole), ""])
        depths.append(min(depths, default=1))
    return table(columns, rows, depths)
