"""The columns of the table of kernels, as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfprof.columns import Shape
from tfprof.units import format_bytes, format_nanos, format_percent, format_shape
from tfprof.views.kernels import KernelTime


def shapes_text(shapes: Sequence[Shape]) -> str:
    """The shapes of inputs in one cell: `8x256 256x64`."""
    return " ".join("?" if shape is None else format_shape(shape) or "1" for shape in shapes)


class Column(NamedTuple):
    """A column of the table."""

    heading: str
    text: Callable[[KernelTime], str]
    rank: int  # columns with higher numbers are omitted first
    most: int = 0  # the widest on a terminal, where longer texts are cut; 0 if they are short
    is_number: bool = True


def _listed(name: str, text: Callable[[Any], str] = str) -> Callable[[KernelTime], str]:
    """The first value of a list, and how many more there are."""

    def cell(one: KernelTime) -> str:
        values = getattr(one, name)
        more = f" +{len(values) - 1}" if len(values) > 1 else ""
        return f"{text(values[0])}{more}" if values else ""

    return cell


def _percent(one: KernelTime) -> str:
    return "" if one.occupancy is None else f"{one.occupancy:.0f}%"


COLUMNS = (
    Column("launches", lambda one: f"{one.launches:,}", 1),
    Column("total", lambda one: format_nanos(one.total_ns), 0),
    Column("share", lambda one: format_percent(one.share, 1.0), 0),
    Column("mean", lambda one: format_nanos(one.mean_ns), 2),
    Column("min", lambda one: format_nanos(one.min_ns), 8),
    Column("max", lambda one: format_nanos(one.max_ns), 7),
    Column("occ.", _percent, 5),
    Column("regs", _listed("registers"), 9),
    Column("shared", _listed("shared_memory", format_bytes), 10),
    Column("grid", _listed("grids", format_shape), 6, 18),
    Column("block", _listed("blocks", format_shape), 6, 16),
    Column("op", _listed("ops"), 4, 30, is_number=False),
    Column("stream", _listed("streams"), 12, 20, is_number=False),
    Column("input shapes", _listed("shapes", shapes_text), 11, 36, is_number=False),
    Column("module", _listed("modules"), 13, 40, is_number=False),
)
