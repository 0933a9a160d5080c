"""Plots time and memory of tfprof and the original against the size of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from measure import Row
from phases import Measure

_COLOURS = {
    "command: scope": "#0072b2",
    "load": "#d55e00",
    "first scope view": "#009e73",
    "further scope view": "#cc79a7",
}
_IN_MEMORY = ("load", "first scope view")
_STYLES = {"tfprof": "-", "original": "--"}


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the plot to `path`; its suffix is the format. The same rows give the same bytes."""
    # Text stays text, and the ids of elements are not random.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tfprof", "font.size": 10}):
        figure = Figure(figsize=(10, 4.8), layout="constrained")
        time, memory = figure.subplots(1, 2)
        _panel(time, rows, _COLOURS, lambda measure: measure.seconds)
        time.set(title="time", ylabel="seconds")
        _panel(memory, rows, _IN_MEMORY, lambda measure: measure.peak_mb)
        memory.set(title="peak memory", ylabel="MB, without importing TensorFlow")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=6, frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(
    axes: Axes, rows: Sequence[Row], tasks: Sequence[str], value: Callable[[Measure], float]
) -> None:
    axes.set(xscale="log", yscale="log", xlabel="ops in the model")
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    for task in tasks:
        measured = sorted((row for row in rows if row.task == task), key=lambda row: row.ops)
        for profiler, style in _STYLES.items():
            points = [
                (row.ops, value(measure))
                for row in measured
                if (measure := row.ours if profiler == "tfprof" else row.original)
            ]
            if points:
                sizes, values = zip(*points, strict=True)
                axes.plot(sizes, values, style, color=_COLOURS[task], marker="o", ms=4)


def _legend() -> list[Line2D]:
    tasks = [Line2D([], [], color=colour, label=task) for task, colour in _COLOURS.items()]
    return tasks + [
        Line2D([], [], color="#444444", linestyle=style, label=profiler)
        for profiler, style in _STYLES.items()
    ]
