"""XSpace (`*.xplane.pb`): what a profiler recorded, event by event into columns.

A file has planes (a host, a device), a plane has lines (a thread, a stream), a line has events.
Names are kept once a plane; events and facts about them refer to these by number. No schema is
needed for it: texts stay where they are in the file's bytes until somebody wants them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.formats.records import Records
from tfprof.formats.scan_plan import Bytes, Fields, Inside, Number, Plan, Rows
from tfprof.formats.scanned import Scanned, scanned_or_parsed
from tfprof.formats.wire import SPAN, VARINT, signed

XSPACE = "tensorflow.profiler.XSpace"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of numbers by name, equally long."""

    columns: dict[str, Ints]

    def __getitem__(self, column: str) -> Ints:
        return self.columns[column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True, slots=True, eq=False)
class SpaceColumns:
    """The tables of a file; `owner` is a row of the table above, `…_start` and `…_end` are bytes.

    plane: name. line: owner (plane), name, timestamp_ns. event: owner (line), id, offset_ps,
    duration_ps. event_name and stat_name: owner (plane), id, name. stat: owner (event), id, a
    whole number as `unsigned`, `signed` or `ref` (the id of a stat_name whose name is meant), a
    text. plane_stat: the same of planes.
    """

    data: bytes
    tables: dict[str, Table]

    def __getitem__(self, table: str) -> Table:
        return self.tables[table]

    def texts(self, table: str, column: str, rows: Ints | None = None) -> list[str]:
        """The texts of a column, or of some rows of it, readable whatever their bytes are."""
        starts, ends = (self[table][f"{column}_{side}"] for side in ("start", "end"))
        if rows is not None:
            starts, ends = starts[rows], ends[rows]
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self.data[start:end].decode("utf-8", "replace") for start, end in spans]


def decode(records: Records) -> SpaceColumns:
    """All planes of a file, in its order."""
    return scanned_or_parsed(records, _scanned, _parsed)


_STAT: Fields = {
    1: Number("id"),
    3: Number("unsigned"),
    4: Number("signed"),
    5: Bytes("text"),
    7: Number("ref"),
}
_EVENT: Fields = {
    1: Number("id"),
    2: Number("offset_ps"),
    3: Number("duration_ps"),
    4: Rows("stat", _STAT, has_owner=True),
}
_LINE: Fields = {
    2: Bytes("name"),
    3: Number("timestamp_ns"),
    4: Rows("event", _EVENT, has_owner=True),
}
_NAMED: Fields = {1: Number("id"), 2: Inside({2: Bytes("name")}, mark="is_named")}
_PLANE: Fields = {
    2: Bytes("name"),
    3: Rows("line", _LINE, has_owner=True),
    4: Rows("event_name", _NAMED, has_owner=True),
    5: Rows("stat_name", _NAMED, has_owner=True),
    6: Rows("plane_stat", _STAT, has_owner=True),
}
_PLAN = Plan({1: Rows("plane", _PLANE)})

_STAT_COLUMNS = ("owner", "id", "unsigned", "signed", "ref", "text_start", "text_end")
_NAME_COLUMNS = ("owner", "id", "name_start", "name_end")
_TABLES: dict[str, tuple[str, ...]] = {
    "plane": ("name_start", "name_end"),
    "line": ("owner", "name_start", "name_end", "timestamp_ns"),
    "event": ("owner", "id", "offset_ps", "duration_ps"),
    "event_name": _NAME_COLUMNS,
    "stat_name": _NAME_COLUMNS,
    "stat": _STAT_COLUMNS,
    "plane_stat": _STAT_COLUMNS,
}


def _scanned(data: bytes) -> SpaceColumns | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    return SpaceColumns(
        data,
        {
            table: Table({column: found[f"{table}.{column}"] for column in columns})
            for table, columns in _TABLES.items()
        },
    )


def _parsed(records: Records) -> SpaceColumns:
    """The same by a walk in Python, which says where a file is damaged."""
    found = _Found(records)
    for start, end in records.spans(1):
        found.walk("plane", _PLANE, -1, start, end)
    return SpaceColumns(records.data, found.tables())


class _Found:
    """Rows in the making, told from the plan that a scan follows."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._rows: dict[str, list[dict[str, int]]] = {table: [] for table in _TABLES}

    def walk(self, table: str, fields: Fields, owner: int, start: int, end: int) -> None:
        """Add a row of `table`, and the rows within it."""
        row = {"owner": owner}
        place = len(self._rows[table])
        self._rows[table].append(row)
        self._fill(row, fields, place, start, end)

    def _fill(self, row: dict[str, int], fields: Fields, place: int, start: int, end: int) -> None:
        for number, kind, value, last in self._records.fields(start, end):
            match fields.get(number):
                case Number(column) if kind == VARINT:
                    row[column] = signed(value)
                case Bytes(column) if kind == SPAN:
                    row[f"{column}_start"], row[f"{column}_end"] = value, last
                case Inside(inner) if kind == SPAN:
                    self._fill(row, inner, place, value, last)
                case Rows(table, inner) if kind == SPAN:
                    self.walk(table, inner, place, value, last)

    def tables(self) -> dict[str, Table]:
        return {
            table: Table(
                {column: ints([row.get(column, 0) for row in rows]) for column in _TABLES[table]}
            )
            for table, rows in self._rows.items()
        }


def lookup(table: Table, owner: Ints, id_: Ints) -> Ints:
    """For each owner and id the last row of `table` that has both, -1 where none has."""
    known, codes = np.unique(np.concatenate((table["id"], id_)), return_inverse=True)
    width = max(len(known), 1)
    keys = table["owner"] * width + codes[: len(table)]
    wanted = owner * width + codes[len(table) :]
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted, side="right") - 1
    found = np.full(len(wanted), -1)
    hit = np.flatnonzero(place >= 0)
    rows = order[place[hit]]
    is_same = keys[rows] == wanted[hit]
    found[hit[is_same]] = rows[is_same]
    return found
