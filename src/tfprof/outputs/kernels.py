"""The table of kernels as text, plain values and a data frame."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from tfprof.columns import Shape
from tfprof.errors import printable, shortened
from tfprof.outputs import schemas
from tfprof.outputs.alignment import aligned
from tfprof.outputs.frames import data_frame
from tfprof.outputs.kernel_columns import COLUMNS, Column, shapes_text
from tfprof.units import counted, format_nanos, format_percent, format_shape
from tfprof.views.kernels import KernelTime, KernelTimes

if TYPE_CHECKING:
    import pandas as pd

_DOC = (
    "Sums over the chosen steps, without copies and fills.\n"
    "share: of the time of all kernels, some of which may run at once.\n"
    "occ.: the achieved occupancy that the profiler estimates, weighted by time.\n"
    "+2: two more values; the one that took the most time is shown.\n"
)
_GAP = 2
_LEAST_NAME = 36  # columns for the names of kernels on a narrow terminal
_LISTS = ("registers", "shared_memory", "grids", "blocks", "streams", "ops", "modules", "shapes")


class KernelTable:
    """The kernels of accelerators, to print, iterate or convert.

    `times` also has the sums of all kernels in the chosen steps.
    """

    def __init__(self, times: KernelTimes) -> None:
        self.times = times

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing from the answer; empty if nothing is."""
        return self.times.notes

    @property
    def report(self) -> str:
        """The table as text, with whole names."""
        return self.draw()

    def draw(self, width: int | None = None) -> str:
        """The table as text; with a `width`, names are cut and columns omitted until it fits."""
        return "".join(f"{line}\n" for line in _lines(self.times, width))

    def to_dict(self) -> dict[str, Any]:
        """All rows as plain values; times are nanoseconds."""
        times = self.times
        options = asdict(times.options).items()
        return {
            "schema": schemas.name_of("kernels"),
            "options": {k: list(v) if isinstance(v, tuple) else v for k, v in options},
            "launches": times.launches,
            "total_ns": times.total_ns,
            "kernels": [_plain(one) for one in times.kernels],
            "hidden_kernels": times.hidden_kernels,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per row of the table; of several values, the one that took the most time."""
        names = [field.name for field in fields(KernelTime)]
        return data_frame([_first_values(one) for one in self], list(map(_singular, names)))

    def _repr_html_(self) -> str:
        from tfprof.outputs import html_kernels  # noqa: PLC0415 -- only notebooks need it

        return html_kernels.of_kernels(self.times, _summary(self.times))

    def __iter__(self) -> Iterator[KernelTime]:
        return iter(self.times.kernels)

    def __len__(self) -> int:
        return len(self.times.kernels)

    def __getitem__(self, name: str) -> KernelTime:
        """The first kernel of that name or short name."""
        for one in self:
            if name in (one.name, one.short_name):
                return one
        raise KeyError(f"no kernel {name!r} is shown.")

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        times = self.times
        return f"<tfprof kernels: {len(self):,} rows, {format_nanos(times.total_ns)}>"


def _plain(one: KernelTime) -> dict[str, Any]:
    """A row as plain values, with lists as in JSON."""
    found = asdict(one) | {name: list(getattr(one, name)) for name in _LISTS}
    found |= {name: [list(sides) for sides in getattr(one, name)] for name in ("grids", "blocks")}
    found["shapes"] = [[_sides(shape) for shape in shapes] for shapes in one.shapes]
    return found


def _sides(shape: Shape) -> list[int] | None:
    return None if shape is None else list(shape)


def _first_values(one: KernelTime) -> dict[str, Any]:
    """A row with a single value, or None, instead of each list."""
    found = asdict(one)
    texts: dict[str, Callable[[Any], Any]] = {
        "grids": format_shape,
        "blocks": format_shape,
        "shapes": shapes_text,
    }
    for name in _LISTS:
        values = found[name]
        found[name] = texts.get(name, _same)(values[0]) if values else None
    return {_singular(name): value for name, value in found.items()}


def _same(value: Any) -> Any:
    return value


def _singular(name: str) -> str:
    return name.removesuffix("s") if name in _LISTS and name != "registers" else name


def _lines(times: KernelTimes, width: int | None) -> Iterator[str]:
    yield from ("", "Doc:", _DOC)
    if times.kernels:
        yield from _table(times.shown, width)
        if left := len(times.kernels) - len(times.shown):
            yield f"… {left:,} more; -max_rows -1 shows all"
        yield ""
    yield from _summary(times)


def _table(shown: Sequence[KernelTime], width: int | None) -> Iterator[str]:
    names = [printable(one.short_name) for one in shown]
    columns = [
        (column, cells)
        for column in COLUMNS
        if any(cells := [printable(column.text(one)) for one in shown])
    ]
    if width is None:
        whole = Column("whole name", lambda one: one.name, 0, is_number=False)
        columns.append((whole, [printable(one.name) for one in shown]))
    else:
        columns, room = _fitting(columns, width)
        names = _cut(names, max(room, _LEAST_NAME))
    rows = [
        ["kernel", *(column.heading for column, _ in columns)],
        *([name, *cells] for name, *cells in zip(names, *(c for _, c in columns), strict=True)),
    ]
    left = {0, *(at for at, (column, _) in enumerate(columns, 1) if not column.is_number)}
    yield from aligned(rows, left=left)


def _cut(names: Sequence[str], width: int) -> list[str]:
    """The names without their middle if they are longer; what tells them apart is kept."""
    alike: dict[str, set[str]] = {}
    for name in names:
        alike.setdefault(shortened(name, width), set()).add(name)
    common = {cut: _shared(group) for cut, group in alike.items()}
    return [
        cut if len(alike[cut := shortened(name, width)]) == 1 else _cut_at(name, common[cut], width)
        for name in names
    ]


def _shared(names: Collection[str]) -> int:
    """How many characters all names start with."""
    letters = enumerate(zip(*names, strict=False))
    return next((at for at, found in letters if len(set(found)) > 1), min(map(len, names)))


def _cut_at(name: str, place: int, width: int) -> str:
    """A name of that width with its start and what begins at `place`."""
    room = width - width // 4 - 1
    rest = name[min(place, len(name) - room) :]
    return f"{name[: width // 4]}…{rest if len(rest) <= room else rest[: room - 1] + '…'}"


_Cells = tuple[Column, list[str]]


def _fitting(columns: Sequence[_Cells], width: int) -> tuple[list[_Cells], int]:
    """The most important columns that fit beside the names, and the room for these."""
    cut = [
        (column, [shortened(text, column.most) if column.most else text for text in cells])
        for column, cells in columns
    ]
    room, kept = width, set()
    for column, cells in sorted(cut, key=lambda one: one[0].rank):
        needed = max(map(len, [column.heading, *cells])) + _GAP
        if column.rank and room - needed < _LEAST_NAME:
            break
        kept.add(column.heading)
        room -= needed
    return [one for one in cut if one[0].heading in kept], room


def _summary(times: KernelTimes) -> list[str]:
    """What all kernels add up to, and which of them are not in the table."""
    if not times.launches:
        return ["No kernels."]
    launches = counted(times.launches, "launch", "launches")
    lines = [f"All kernels: {launches}, {format_nanos(times.total_ns)}."]
    if times.hidden_kernels:
        shown = sum(one.total_ns for one in times.kernels)
        part = format_percent(shown, times.total_ns)
        hidden = counted(times.hidden_kernels, "kernel")
        lines.append(f"Hidden by name: {hidden}; those that match took {part} of the time.")
    return lines
