"""The comparison of hosts as an HTML table, for notebooks; bars compare their own times."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.outputs.html_table import Amount, Cell, Column, Name, document, paragraph, table
from tfprof.units import format_bytes
from tfprof.units import format_whole_micros as _time
from tfprof.views.ranks import RankTime, RankTimes

_TIMES = ("median", "mean", "compute", "communication", "input_wait", "transfers", "idle")


def of_ranks(times: RankTimes, findings: Sequence[str]) -> str:
    """A row per host, what stands out, and how many hosts are left out."""
    columns = [
        Column("recording"),
        Column("steps", is_number=True),
        *(Column(name.replace("_", " "), is_number=True) for name in _TIMES),
        *(Column(name, is_number=True) for name in ("own", "deviation", "memory peak")),
        Column("remark"),
    ]
    longest = max((one.own_ns for one in times.ranks), default=0)
    slow = {one.recording for one in times.slow}
    rows = [_row(one, longest, is_slow=one.recording in slow) for one in times.shown]
    left = len(times.ranks) - len(rows)
    return document(
        table(columns, rows),
        paragraph(f"{left:,} more: to_dataframe() has all.") if left > 0 else "",
        *(paragraph(line, is_quiet=False) for line in findings),
        *(paragraph(f"Inconclusive: {reason}") for reason in times.inconclusive),
        notes=times.notes,
    )


def _row(one: RankTime, longest: int, *, is_slow: bool) -> list[Cell]:
    away = "" if one.deviation is None else f"{100 * one.deviation:+.1f}%"
    peak = "" if one.peak_bytes is None else format_bytes(one.peak_bytes)
    return [
        Name(one.recording),
        Amount(f"{one.steps:,}"),
        *(Amount(_time(getattr(one, f"{name}_ns"))) for name in _TIMES),
        Amount(_time(one.own_ns), one.own_ns / longest if longest else None, has_percent=False),
        Amount(away),
        Amount(peak),
        "slow" if is_slow else "",
    ]
