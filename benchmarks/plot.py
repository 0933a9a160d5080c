"""Draws time and memory against the size of the model, tfprof beside the original."""

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
    """Write the plot to `path`, in the format its ending names; the same rows, the same bytes."""
    # Letters stay letters, and the names of parts do not depend on chance.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tfprof", "font.size": 10}):
        figure = Figure(figsize=(10, 4.8), layout="constrained")
        time, memory = figure.subplots(1, 2)
        _panel(time, rows, _COLOURS, lambda measure: measure.seconds)
        time.set(title="time", ylabel="seconds")
        _panel(memory, rows, _IN_MEMORY, lambda measure: measure.peak_mb)
        memory.set(title="most memory at any time", ylabel="MB, TensorFlow's import not counted")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=6, frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(
    axes: Axes, rows: Sequence[Row], works: Sequence[str], value: Callable[[Measure], float]
) -> None:
    axes.set(xscale="log", yscale="log", xlabel="ops of the model")
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    for work in works:
        measured = sorted((row for row in rows if row.work == work), key=lambda row: row.ops)
        for profiler, style in _STYLES.items():
            points = [
                (row.ops, value(measure))
                for row in measured
                if (measure := row.ours if profiler == "tfprof" else row.original)
            ]
            if points:
                sizes, values = zip(*points, strict=True)
                axes.plot(sizes, values, style, color=_COLOURS[work], marker="o", ms=4)


def _legend() -> list[Line2D]:
    works = [Line2D([], [], color=colour, label=work) for work, colour in _COLOURS.items()]
    return works + [
        Line2D([], [], color="#444444", linestyle=style, label=profiler)
        for profiler, style in _STYLES.items()
    ]
