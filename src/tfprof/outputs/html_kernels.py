"""The table of kernels as an HTML table, for notebooks; bars show the share of kernel time."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.outputs import kernel_columns
from tfprof.outputs.html_table import Amount, Cell, Column, Name, document, paragraph, table
from tfprof.units import format_nanos
from tfprof.views.kernels import KernelTime, KernelTimes

_MAX_ROWS = 200


def of_kernels(times: KernelTimes, summary: Sequence[str]) -> str:
    """A row per kernel, the summary in lines, and how many rows are left out."""
    rest = [one for one in kernel_columns.COLUMNS if one.heading not in {"total", "share"}]
    columns = [
        Column("kernel"),
        Column("total", is_number=True),
        *(Column(one.heading, is_number=one.is_number) for one in rest),
    ]
    shown = times.shown[:_MAX_ROWS]
    left = len(times.kernels) - len(shown)
    return document(
        table(columns, [_row(one, rest) for one in shown]),
        paragraph(f"{left:,} more: to_dataframe() has all.") if left > 0 else "",
        *(paragraph(line, is_quiet=False) for line in summary),
        notes=times.notes,
    )


def _row(one: KernelTime, rest: Sequence[kernel_columns.Column]) -> list[Cell]:
    return [
        Name(one.short_name, one.name),
        Amount(format_nanos(one.total_ns), one.share),
        *(Amount(column.text(one)) if column.is_number else column.text(one) for column in rest),
    ]
