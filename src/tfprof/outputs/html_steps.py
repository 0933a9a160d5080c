"""The times of steps as an HTML table, for notebooks; bars compare steps with the longest one."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.outputs.html_table import Amount, Cell, Column, Name, document, paragraph, table
from tfprof.units import format_whole_micros as _time
from tfprof.views.steps import StepTime, StepTimes

_MAX_ROWS = 200
_TIMES = ("wall", "busy", "idle", "input_wait", "op_time")


def of_steps(times: StepTimes, summary: Sequence[str]) -> str:
    """A row per step, the summary in lines, and how many steps are left out."""
    devices = sorted({name for step in times.steps for name in step.devices})
    shown = devices if len(devices) > 1 else []
    columns = [
        Column("recording"),
        Column("step", is_number=True),
        *(Column(name.replace("_", " "), is_number=True) for name in _TIMES),
        *(Column(name, is_number=True) for name in ("ops", "kernels")),
        *(
            Column(f"busy [{place}]", is_number=True, title=name)
            for place, name in enumerate(shown, 1)
        ),
        Column("remark"),
    ]
    longest = max((step.wall_ns for step in times.steps), default=0)
    unusual = {(one.recording, step.step) for one in times.summaries for step in one.unusual}
    rows = [
        _row(step, longest, shown, is_unusual=(step.recording, step.step) in unusual)
        for step in times.steps[:_MAX_ROWS]
    ]
    left = len(times.steps) - len(rows)
    return document(
        table(columns, rows),
        paragraph(f"{left:,} more steps: to_dataframe() has all.") if left > 0 else "",
        *(paragraph(f"[{place}] {name}") for place, name in enumerate(shown, 1)),
        *(paragraph(line, is_quiet=False) for line in summary),
        notes=times.notes,
    )


def _row(step: StepTime, longest: int, devices: Sequence[str], *, is_unusual: bool) -> list[Cell]:
    walls = {name: getattr(step, f"{name}_ns") for name in _TIMES}
    return [
        Name(step.recording),
        Amount(str(step.step)),
        Amount(_time(step.wall_ns), step.wall_ns / longest if longest else None, has_percent=False),
        *(Amount(_time(nanos)) for name, nanos in walls.items() if name != "wall"),
        *(Amount(f"{number:,}") for number in (step.ops, step.kernels)),
        *(Amount(_time(step.devices.get(name, 0))) for name in devices),
        "warm-up" if step.is_warm_up else "unusual" if is_unusual else "",
    ]
