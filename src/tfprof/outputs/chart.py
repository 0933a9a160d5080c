"""Draw a curve in characters, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints
from tfprof.model.memory_curves import MemoryCurve
from tfprof.units import format_bytes, format_nanos

_HEIGHT = 8
_MIN_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Pen:
    """The characters to draw with: cells from empty to full, and the axes."""

    cells: str
    side: str
    corner: str
    floor: str
    mark: str

    @property
    def characters(self) -> str:
        """All characters of the pen, to check whether a terminal can show them."""
        return self.cells + self.side + self.corner + self.floor + self.mark


UNICODE = Pen(" ▁▂▃▄▅▆▇█", "│", "└", "─", "┴")
ASCII = Pen(" .:#", "|", "+", "-", "^")


def pen_for(encoding: str) -> Pen:
    """The finest pen whose characters exist in `encoding`."""
    try:
        UNICODE.characters.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def draw(curve: MemoryCurve, width: int, pen: Pen) -> list[str]:
    """The lines of a chart from time 0 to the last point.

    Each column shows the highest value of its interval; values below zero are not drawn.
    """
    labels = [format_bytes(max(curve.peak_bytes, 0)), "0B"]
    margin = max(map(len, labels))
    columns = max(width, _MIN_WIDTH) - margin - 2
    highest, column_of = column_peaks(curve, columns)
    peak = int(column_of[curve.peak])
    floor = pen.floor * peak + pen.mark + pen.floor * (columns - peak - 1)
    tops = ["" if row else labels[0] for row in range(_HEIGHT)]
    return [
        *(f"{top:>{margin}} {pen.side}{bars}".rstrip() for top, bars in _rows(tops, highest, pen)),
        f"{labels[1]:>{margin}} {pen.corner}{floor}",
        " " * (margin + 2) + _times(curve, columns, peak),
    ]


def column_peaks(curve: MemoryCurve, columns: int) -> tuple[Ints, Ints]:
    """The highest value in each of `columns` equal intervals, and the column of each point."""
    edges = np.linspace(0, int(curve.time_ns[-1]), columns + 1).astype(np.int64)
    place = np.searchsorted(curve.time_ns, edges[:-1], side="right") - 1
    highest = np.where(place >= 0, curve.bytes[place], 0)
    column_of = np.searchsorted(edges[1:-1], curve.time_ns, side="right")
    np.maximum.at(highest, column_of, curve.bytes)
    return highest, column_of


def _rows(labels: Sequence[str], highest: Ints, pen: Pen) -> Iterator[tuple[str, str]]:
    """Each label, from the top, and the cells beside it; every positive value is visible."""
    cell = len(pen.cells) - 1
    most = max(int(highest.max()), 1)
    heights = np.ceil(np.maximum(highest, 0) / most * (len(labels) * cell)).astype(np.int64)
    for row, label in enumerate(labels):
        filled = np.clip(heights - (len(labels) - 1 - row) * cell, 0, cell)
        yield label, "".join(pen.cells[level] for level in filled.tolist())


def _times(curve: MemoryCurve, columns: int, peak: int) -> str:
    """The first and last time, and that of the peak below its mark if there is room."""
    first, last = format_nanos(0), format_nanos(int(curve.time_ns[-1]))
    text = format_nanos(curve.peak_ns)
    start = min(max(peak - len(text) // 2, 0), columns - len(text))
    end = columns - len(last)
    if start <= len(first) or start + len(text) >= end:
        return f"{first}{last:>{columns - len(first)}}"
    return f"{first:<{start}}{text:<{end - start}}{last}"
