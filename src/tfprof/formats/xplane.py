"""XSpace (`*.xplane.pb`): the recording of a profiler, decoded into columns.

A file has planes (a host, a device), a plane has lines (a thread, a stream), a line has events.
Each plane stores names once; events and stats refer to them by id. Decoding needs no schema, and
texts stay in the bytes of the file until they are used.
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
    """Named columns of numbers, all of the same length."""

    columns: dict[str, Ints]

    def __getitem__(self, column: str) -> Ints:
        return self.columns[column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True, slots=True, eq=False)
class SpaceColumns:
    """The tables of a file; `owner` is a row of the parent table.

    Names and texts are pairs of columns, `…_start` and `…_end`, with positions in `data`.

    plane: name. line: owner (plane), name, timestamp_ns. event: owner (line), id, offset_ps,
    duration_ps. event_name and stat_name: owner (plane), id, name. stat: owner (event), id, an
    integer as `unsigned`, `signed` or `ref` (the id of the stat_name with the value), and text.
    plane_stat: like stat, with planes as owners.
    """

    data: bytes
    tables: dict[str, Table]

    def __getitem__(self, table: str) -> Table:
        return self.tables[table]

    def texts(self, table: str, column: str, rows: Ints | None = None) -> list[str]:
        """The texts of a column, or of some of its rows, with invalid UTF-8 replaced."""
        starts, ends = (self[table][f"{column}_{side}"] for side in ("start", "end"))
        if rows is not None:
            starts, ends = starts[rows], ends[rows]
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self.data[start:end].decode("utf-8", "replace") for start, end in spans]


def decode(records: Records) -> SpaceColumns:
    """All planes of a file, in file order."""
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
    """The same columns, decoded in Python, which reports where a file is damaged."""
    found = _Found(records)
    for start, end in records.spans(1):
        found.walk("plane", _PLANE, -1, start, end)
    return SpaceColumns(records.data, found.tables())


class _Found:
    """Collects the rows of all tables, following the plan of the scan."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._rows: dict[str, list[dict[str, int]]] = {table: [] for table in _TABLES}

    def walk(self, table: str, fields: Fields, owner: int, start: int, end: int) -> None:
        """Add a row to `table`, and the rows nested in it."""
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
    """For each pair of owner and id, the last row of `table` with both, or -1."""
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
