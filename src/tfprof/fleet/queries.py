"""Sums over the runs in a store, computed by DuckDB from its Parquet files."""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import repeat
from pathlib import PurePosixPath
from typing import Any, TypeVar

import numpy as np

from tfprof import sums
from tfprof.columns import Coded, Floats, Ints, ints
from tfprof.errors import InputError, TfprofError
from tfprof.fleet import layout
from tfprof.fleet.extras import needed
from tfprof.fleet.places import Place, is_url, system_of
from tfprof.fleet.row_index import StoreIndex
from tfprof.fleet.tables import INNER, SQL_TYPES, TABLES
from tfprof.measures.run_sums import KEPT, PARTS
from tfprof.model.executions import Purpose
from tfprof.model.memory_curves import MemoryCurve
from tfprof.model.step_sums import (
    Collectives,
    DeviceTimes,
    DeviceWindows,
    DeviceWork,
    ExposedTimes,
    StepTotals,
)
from tfprof.model.stored_runs import SqlTables

_Table = TypeVar("_Table", DeviceWindows, DeviceWork)

_LARGE = 2.0**53
# Columns that are named like folders are those of the file.
_NO_HIVE = "], hive_partitioning = false)"
_NOTHING = np.zeros(0, np.int64)
_NO_EXTENSIONS = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
_MOST_KEPT = 4  # sums over different steps

# A query uses at most this much memory; DuckDB writes the rest to disk.
MEMORY = "512 MB"


class Database:
    """The tables of a store as tables of an in-memory database that reads its Parquet files."""

    def __init__(self, place: Place, tables: Mapping[str, Mapping[str, int]]) -> None:
        """`tables` has the files of each table, with their checksums."""
        with needed("duckdb", "A store"):
            import duckdb  # noqa: PLC0415 -- only needed for stores
        self._lock = threading.Lock()
        self._place, self._tables = place, tables
        self._checked: set[str] = set()
        self.scratch = tempfile.mkdtemp(prefix="tfprof-")  # for temporary files
        weakref.finalize(self, shutil.rmtree, self.scratch, ignore_errors=True)
        self._connection = duckdb.connect(config={"memory_limit": MEMORY, **_NO_EXTENSIONS})
        self._connect()

    def _connect(self) -> None:
        """Prepare the connection, which can read no files but those of the store."""
        folders = [self.address, self.scratch]
        if is_url(self.address):
            system, path = system_of(self.address)
            self._connection.register_filesystem(system)
            folders.append(system.unstrip_protocol(path))
        allowed = ", ".join(_quoted(f"{folder.rstrip('/')}/") for folder in folders)
        for statement in (
            f"CREATE SCHEMA {INNER}",
            f"SET search_path = 'main,{INNER}'",
            f"SET temp_directory = {_quoted(self.scratch)}",
            f"SET allowed_directories = [{allowed}]",
            "SET python_enable_replacements = false",
            "SET enable_external_access = false",
            "SET lock_configuration = true",
        ):
            self._connection.execute(statement)

    @property
    def address(self) -> str:
        """The path or URL of the store."""
        return self._place.address

    def cursor(self) -> Any:
        """Another connection, on which only the tables for users have names without a schema."""
        return self._connection.cursor()

    def rows(self, query: str, **columns: Any) -> dict[str, Any]:
        """The columns of an answer as arrays; `columns` is a table named `given`."""
        with self._lock:
            try:
                if columns:
                    self._connection.register("given", dict(columns))
                found = dict(self._connection.execute(query).fetchnumpy())
            except Exception as error:
                raise self.damaged(error) from error
            finally:
                if columns:
                    self._connection.unregister("given")
        if any(map(np.ma.is_masked, found.values())):
            raise self.damaged("a value is missing")
        return found

    def damaged(self, error: object) -> InputError:
        """The error for a store whose files DuckDB cannot read, or which contradict the index."""
        reason = str(error).partition("\n")[0]
        return InputError(self.address, f"cannot be read: {reason}; collect the files again.")

    def add(self, table: str, replaced: str = "", **columns: Any) -> None:
        """Add a table with these columns, some of which are replaced by SQL expressions."""
        chosen = f"* REPLACE ({replaced})" if replaced else "*"
        name = table if "." in table else f"{INNER}.{table}"
        self.rows(f"CREATE TABLE {name} AS SELECT {chosen} FROM given", **columns)

    def files(self, table: str) -> str:
        """A table in SQL: all its files, or no rows."""
        fields = TABLES[table].fields.items()
        kinds = {name: SQL_TYPES[field.kind] for name, field in fields}
        if not self.has(table):
            columns = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in kinds.items())
            return f"(SELECT {columns} WHERE false)"
        added = {name: field.missing for name, field in fields if field.missing is not None}
        columns = ", ".join(
            f'{_value(name, added.get(name))}::{kind} AS "{name}"' for name, kind in kinds.items()
        )
        self._check(table)
        names = [_quoted(self._place.at(name)) for name in self._tables[table]]
        stored = f"read_parquet([{', '.join(names)}{_NO_HIVE}"
        if not added:
            return f"(SELECT {columns} FROM {stored})"
        # Files that were written before a column was added do not have it.
        stored = stored.removesuffix(")") + ", union_by_name = true)"
        nothing = ", ".join(f'NULL::{kinds[name]} AS "{name}"' for name in added)
        whole = f"SELECT * FROM {stored} UNION ALL BY NAME SELECT {nothing} WHERE false"
        return f"(SELECT {columns} FROM ({whole}))"

    def _check(self, table: str) -> None:
        """Refuse files that were changed, which DuckDB does not notice.

        Files at URLs are not checked: DuckDB fetches only the parts that it needs.
        """
        if table in self._checked or is_url(self.address):
            return
        for name, checksum in self._tables[table].items():
            if zlib.crc32(self._place.read_bytes(name)) != checksum:
                raise InputError(
                    self._place.at(name),
                    "is damaged: its checksum differs; remove the store and collect again.",
                )
        self._checked.add(table)

    def read(self, table: str, id_: str) -> dict[str, Any]:
        """A table of one partition, read as a whole."""
        for name in self._tables.get(table, ()):
            if PurePosixPath(name).stem == id_:
                return layout.read_table(self._place, name, TABLES[table].fields)
        return {}

    def has(self, table: str) -> bool:
        return bool(self._tables.get(table))


def _value(column: str, default: int | None) -> str:
    return f'"{column}"' if default is None else f'coalesce("{column}", {default})'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True, eq=False)
class StoredTrace:
    """The memory of an allocator in a step; `MemoryTrace` describes it."""

    allocator: str
    device: int
    step: int
    untimed: int
    first_ns: int
    peak_bytes: int
    reported_bytes: int
    _part: int
    _trace: int
    _read: Callable[[str, int], dict[str, Any]]
    _damaged: Callable[[object], InputError]

    @property
    def curve(self) -> MemoryCurve:
        found = self._points(is_reported=False)
        if not len(found.bytes):
            raise self._damaged("the memory of an allocator has no levels")
        return found

    @property
    def levels(self) -> MemoryCurve:
        return self._points(is_reported=True)

    def held_at_peak(self, op_count: int) -> Ints:
        return self._of_ops("held", op_count)

    def purposes_at_peak(self) -> Ints:
        return np.zeros(len(Purpose), np.int64)  # not stored

    def taken_at_peak(self, op_count: int) -> Ints:
        return self._of_ops("taken", op_count)

    def _points(self, *, is_reported: bool) -> MemoryCurve:
        found = self._rows("levels")
        rows = np.flatnonzero(found["is_reported"] == is_reported)
        return MemoryCurve(*(ints(found[name][rows]) for name in ("time_ns", "bytes")))

    def _of_ops(self, column: str, op_count: int) -> Ints:
        found, result = self._rows("held"), np.zeros(op_count, np.int64)
        if found:
            result[found["op"]] = found[column]
        return result

    def _rows(self, table: str) -> dict[str, Any]:
        found = self._read(table, self._part)
        rows = np.flatnonzero(found.get("trace", _NOTHING) == self._trace)
        return {name: column[rows] for name, column in found.items()}


class StoreRuns:
    """The runs of a store; `StoredRuns` describes the methods."""

    def __init__(
        self,
        database: Database,
        index: StoreIndex,
        tables: SqlTables,
        *,
        group_of: Ints,
        process_of: Ints,
    ) -> None:
        """`group_of` has the first op of each group of `averaged_together`.

        `process_of` has the first recording of the process of each recording, as in `processes`.
        """
        self._database, self._index, self.tables = database, index, tables
        self._group_of = group_of
        self._process_of_step = process_of[index.recording_of_step]
        self._known: dict[bytes | None, dict[str, Ints]] = {}
        database.add(
            "parts", part=index.part, model=index.model, process=process_of[index.recording]
        )
        database.add("places", part=index.step_part, step=index.step, row=index.step_row)
        database.add(
            "device_rows", part=index.device_part, device=index.device, row=index.device_row
        )
        if not index.is_one_model:
            database.add("op_rows", model=index.op_model, op=index.op, row=index.op_row)
        self._has_groups = not np.array_equal(group_of, np.arange(len(group_of)))
        if self._has_groups:
            database.add("op_groups", op=np.arange(len(group_of)), first=group_of)

    def totals(self, number: str, steps: Ints | None) -> Ints:
        found = self._sums(steps)
        return ints(np.sum([found[part] for part in PARTS.get(number, (number,))], axis=0))

    def seen(self, steps: Ints | None) -> Ints:
        return self._sums(steps)["seen"]

    def step_counts(self, steps: Ints) -> Ints:
        op, joined = self._op("s")
        first = op
        if self._has_groups:
            first, joined = "o.first", f"{joined} JOIN op_groups o ON o.op = {op}"
        found = self._database.rows(
            f"""
            WITH ran AS (
                SELECT DISTINCT {first} AS op, p.process AS process
                FROM {self._database.files("seen")} s JOIN parts p USING (part) {joined}
            )
            SELECT op, sum(g.steps)::BIGINT AS steps
            FROM ran JOIN given g USING (process) GROUP BY op
            """,
            process=(processes := np.unique(self._process_of_step[steps])),
            steps=np.bincount(self._process_of_step[steps])[processes],
        )
        counts = np.zeros(self._index.ops, np.int64)
        counts[self._ops(found["op"])] = found["steps"]
        return np.maximum(counts, 1)[self._group_of]

    def averages_seen(self, number: str, steps: Ints | None) -> Ints:
        count = np.maximum(self.seen(steps), 1).astype(np.uint64)
        # As for runs in memory, see `averages.over_steps_seen`.
        return (self.totals(number, steps).astype(np.int64).view(np.uint64) // count).view(np.int64)

    def by_step(self, number: str, weight: Floats) -> Floats:
        op, joined = self._op("t")
        parts = "JOIN parts p ON p.part = t.part" if joined else ""
        found = self._database.rows(
            f"""
            SELECT s.row AS row, sum(t.{number} * g.weight) AS total
            FROM {self._database.files("records")} t
            JOIN places s ON s.part = t.part AND s.step = t.step {parts} {joined}
            JOIN given g ON g.op = {op} GROUP BY s.row ORDER BY s.row
            """,
            op=(ops := np.flatnonzero(weight)),
            weight=weight[ops],
        )
        result = np.zeros(len(self._index.recording_of_step))
        result[found["row"]] = found["total"]
        return result

    def most_runs(self) -> int:
        return max(int(self._extremes["most_runs"]), 1)

    def is_doubtful(self, number: str, factor: int = 1) -> bool:
        parts = PARTS.get(number, (number,))
        total = sum(float(self._extremes[f"{part}_size"]) for part in parts)
        least = min(int(self._extremes[f"{part}_least"]) for part in parts)
        return least < 0 or total * factor > _LARGE

    def require_summable(self, number: str) -> None:
        for part in PARTS.get(number, (number,)):
            if float(self._extremes[f"{part}_size"]) > sums.LARGEST:
                raise TfprofError(
                    f"`{number.replace('nanos', 'micros')}` of all ops exceeds 64 bits: a file "
                    "that was collected is damaged."
                )

    @cached_property
    def step_totals(self) -> StepTotals:
        names = [part.name for part in fields(StepTotals)][1:]
        found = self._in_steps("steps", ", ".join(names), "WHERE t.is_timed")
        return StepTotals(ints(found["row"]), *(ints(found[name]) for name in names))

    @cached_property
    def device_times(self) -> DeviceTimes:
        found = self._in_steps("device_times", "device, busy_ns", more_order=", device")
        if not np.isin(found["row"], self.step_totals.step).all():
            raise self._database.damaged("a device was busy in no step")
        return DeviceTimes(
            ints(found["row"]), Coded.of(found["device"].tolist()), ints(found["busy_ns"])
        )

    @cached_property
    def device_windows(self) -> DeviceWindows:
        return self._of_devices("device_windows", DeviceWindows, ", device, t.window")

    @cached_property
    def device_work(self) -> DeviceWork:
        return self._of_devices("device_work", DeviceWork, ", device")

    @cached_property
    def exposed_times(self) -> ExposedTimes:
        found = self._in_steps("exposed_times", "start_ns, end_ns", more_order=", start_ns")
        return ExposedTimes(*(ints(found[name]) for name in ("row", "start_ns", "end_ns")))

    def _of_devices(self, table: str, kind: type[_Table], order: str) -> _Table:
        """A table of steps and devices."""
        names = [part.name for part in fields(kind) if part.name not in ("step", "device")]
        chosen = ", ".join(f't."{name}" AS "{name}"' for name in names)
        found = self._in_steps(table, f"device, {chosen}", more_order=order)
        if not np.isin(found["row"], self.step_totals.step).all():
            raise self._database.damaged("an accelerator ran something in no step")
        columns = {name: ints(found[name]) for name in names}
        device = Coded.of(found["device"].tolist())
        return kind(step=ints(found["row"]), device=device, **columns)

    @cached_property
    def collectives(self) -> Collectives:
        op, joined = self._op("t")
        found = self._in_steps(
            "collectives",
            f'{op} AS op, t."order" AS number, start_ns, end_ns, t.kind AS kind, '
            't."group" AS "group", t.ranks AS ranks, t.bytes AS bytes',
            f"JOIN parts p ON p.part = t.part {joined}",
            ', op, "group", number',
        )
        self._ops(found["op"])
        return Collectives(
            step=ints(found["row"]),
            op=ints(found["op"]),
            order=ints(found["number"]),
            start_ns=ints(found["start_ns"]),
            end_ns=ints(found["end_ns"]),
            kind=Coded.of(found["kind"].tolist()),
            group=Coded.of(found["group"].tolist()),
            ranks=ints(found["ranks"]),
            bytes=ints(found["bytes"]),
        )

    @cached_property
    def step_starts(self) -> Ints:
        """When the first op of each step started; the largest number if unknown."""
        found = self._in_steps("steps", "first_start_ns")
        starts = np.full(len(self._index.recording_of_step), np.iinfo(np.int64).max)
        known = np.flatnonzero(found["first_start_ns"] >= 0)
        starts[found["row"][known]] = found["first_start_ns"][known]
        return ints(starts)

    @cached_property
    def memory_traces(self) -> Sequence[StoredTrace]:
        found = self._in_steps(
            "allocators",
            "t.part AS part, t.trace AS trace, coalesce(d.row, -1) AS device, t.allocator "
            "AS allocator, t.untimed AS untimed, t.first_ns AS first_ns, "
            "t.peak_bytes AS peak_bytes, t.reported_bytes AS reported_bytes",
            "LEFT JOIN device_rows d ON d.part = t.part AND d.device = t.device",
        )
        names = ("allocator", "device", "row", "untimed", "first_ns", "peak_bytes")
        more = ("reported_bytes", "part", "trace")
        columns = [found[name].tolist() for name in (*names, *more)]
        methods = repeat(self._read_partition), repeat(self._database.damaged)
        traces = list(map(StoredTrace, *columns, *methods))
        return sorted(traces, key=lambda one: (one.allocator.encode(), one.device, one.step))

    def _read_partition(self, table: str, part: int) -> dict[str, Any]:
        """The rows of a table of one partition, with the ops of the store."""
        found = self._database.read(table, self._index.ids[part])
        if "op" in found:
            model = int(self._index.model[np.searchsorted(self._index.part, part)])
            rows = self._index.op_row[self._index.op_model == model]
            found["op"] = rows[self._ops(found["op"], len(rows))]
        return found

    def _ops(self, rows: Ints, count: int | None = None) -> Ints:
        """The rows of ops, all of which exist."""
        most = self._index.ops if count is None else count
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < most:
            raise self._database.damaged("a run belongs to no op")
        return rows

    def _in_steps(self, table: str, columns: str, more: str = "", more_order: str = "") -> Any:
        """The rows of a table with the rows of their steps, sorted by them."""
        return self._database.rows(
            f"SELECT s.row AS row, {columns} FROM {self._database.files(table)} t "
            f"JOIN places s ON s.part = t.part AND s.step = t.step {more} "
            f"ORDER BY s.row{more_order}"
        )

    def _op(self, table: str) -> tuple[str, str]:
        """The row of an op of a partition in SQL, and the join that it needs."""
        if self._index.is_one_model:
            return f"{table}.op", ""
        return "m.row", f"JOIN op_rows m ON m.model = p.model AND m.op = {table}.op"

    def _sums(self, steps: Ints | None) -> dict[str, Ints]:
        """The sums of all numbers over the chosen steps, by op."""
        key = None if steps is None else steps.tobytes()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = self._known[key] = self._summed(steps)
        return found

    def _summed(self, steps: Ints | None) -> dict[str, Ints]:
        names = ("seen", *KEPT)
        result = {name: np.zeros(self._index.ops, np.int64) for name in names}
        op, joined = self._op("r")
        numbers = ", ".join(f"sum(r.{name})::BIGINT AS {name}" for name in KEPT)
        chosen, given = "", {}
        if steps is not None:
            chosen = (
                "JOIN places s ON s.part = r.part AND s.step = r.step JOIN given g ON g.row = s.row"
            )
            given = {"row": steps}
        parts = "JOIN parts p ON p.part = r.part" if joined else ""
        found = self._database.rows(
            f"SELECT {op} AS op, count(*) AS seen, {numbers} "
            f"FROM {self._database.files('records')} r {chosen} {parts} {joined} GROUP BY 1",
            **given,
        )
        ops = self._ops(found["op"])
        for name in names:
            result[name][ops] = found[name]
        return {name: ints(column) for name, column in result.items()}

    @cached_property
    def _extremes(self) -> dict[str, Any]:
        """The least of each number, and the sum of their sizes, over all records."""
        if not self._database.has("records"):
            nothing = {f"{name}_{what}": 0 for name in KEPT for what in ("least", "size")}
            return nothing | {"most_runs": 0}
        numbers = ", ".join(
            f"min({name}) AS {name}_least, sum(abs({name}::DOUBLE)) AS {name}_size" for name in KEPT
        )
        found = self._database.rows(
            f"SELECT max(runs) AS most_runs, {numbers} FROM {self._database.files('records')}"
        )
        return {name: column[0] for name, column in found.items()}
