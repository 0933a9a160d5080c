"""The tables that users of a store can query: their columns, and the SQL that makes them.

`hosts`, `files`, `devices` and `ops` are made from the profile; the other tables are views of the
tables of all partitions, with the names of hosts, steps and ops of the whole store.
"""

from __future__ import annotations

from collections.abc import Mapping

from tfprof.fleet.tables import INNER
from tfprof.fleet.tables import TABLES as STORED
from tfprof.formats.profile_tables import Field, Kind, TableFormat


def _text(sentence: str) -> Field:
    return Field(sentence, Kind.TEXT)


def _flag(sentence: str) -> Field:
    return Field(sentence, Kind.FLAG)


_WHERE = {
    "host": _text("The host, or the label of the recording if the host is unknown."),
    "rank": Field("The rank; NULL if unknown."),
    "recording": _text("The label of the recording."),
}
_WHEN = _WHERE | {"step": Field("The number of the step.")}
_WHICH = {
    "op": Field("The op, as in `ops`."),
    "name": _text("The name of the op."),
}


def _copied(table: str, *names: str) -> dict[str, Field]:
    return {name: STORED[table].fields[name] for name in names}


def _nullable(fields: Mapping[str, Field]) -> dict[str, Field]:
    """The columns of steps, which are NULL where a partition has -1 or no times."""
    return {
        name: field._replace(sentence=field.sentence.replace("; -1 if", "; NULL if"))
        for name, field in fields.items()
    }


_RUN_NUMBERS = tuple(
    name for name in STORED["records"].fields if name not in ("part", "op", "step")
)
_MARKS = ("marked_start_ns", "marked_end_ns", "first_start_ns")
_STEP_NUMBERS = tuple(STORED["steps"].fields)[list(STORED["steps"].fields).index("start_ns") :]

SQL_TABLES: dict[str, TableFormat] = {
    "hosts": TableFormat(
        "One row per recording: the trace of a host, or the runs of a worker.",
        {
            **_WHERE,
            "framework": _text("The framework that was recorded."),
            "file": _text("The first file of the recording."),
            "steps": Field("How many steps it has."),
            "devices": Field("How many devices it has."),
        },
    ),
    "files": TableFormat(
        "One row per collected file.",
        {
            "file": _text("Its path or URL."),
            "trouble": _text("Why it could not be collected; NULL if it was."),
        },
    ),
    "devices": TableFormat(
        "One row per device of a recording.",
        {
            **_WHERE,
            "device": _text("The name of the device or lane."),
            "role": _text("`host`, `accelerator`, `copy_engine` or `network`."),
            "model": _text("Such as `NVIDIA H200`; NULL if unknown."),
        },
    ),
    "ops": TableFormat(
        "One row per op of the model.",
        {
            "op": Field("The number of the op."),
            "name": _text("Its name."),
            "kind": _text("Its kind, such as `MatMul`."),
            "phase": _text(
                "`forward`, `backward`, `optimizer`, `input`, `other` or `communication`."
            ),
            "layer": _text("The layer that it belongs to; NULL if none."),
            "code": _text("The line that created it, such as `model.py:12`; NULL if unknown."),
            "params": Field("The number of parameters, if it is a variable of the model."),
            "float_ops": Field("Float operations of one run; NULL if not counted."),
            "is_covered": _flag("Whether a recording contains a run of it."),
        },
    ),
    "steps": TableFormat(
        "One row per host and step. Times are nanoseconds, and NULL if none were recorded.",
        _WHEN | _nullable(_copied("steps", *_MARKS, *_STEP_NUMBERS)),
    ),
    "runs": TableFormat(
        "One row per host, step and op that was seen in it: the sum over its runs.",
        {**_WHEN, **_WHICH, **_copied("records", *_RUN_NUMBERS)},
    ),
    "device_times": TableFormat(
        STORED["device_times"].sentence, _WHEN | _copied("device_times", "device", "busy_ns")
    ),
    **{
        table: TableFormat(
            STORED[table].sentence, _WHEN | _copied(table, *list(STORED[table].fields)[2:])
        )
        for table in ("device_windows", "device_work", "exposed_times")
    },
    "collectives": TableFormat(
        STORED["collectives"].sentence,
        {
            **_WHEN,
            **_WHICH,
            "number": STORED["collectives"].fields["order"],
            **_copied("collectives", "start_ns", "end_ns", "kind", "ranks", "bytes"),
            "process_group": STORED["collectives"].fields["group"],  # `group` is a word of SQL
        },
    ),
    "transfers": TableFormat(
        STORED["transfers"].sentence,
        _WHEN | _copied("transfers", "name", "device", "count", "nanos"),
    ),
    "allocators": TableFormat(
        STORED["allocators"].sentence,
        {
            **_WHEN,
            "device": _text("The name of the device; NULL if unknown."),
            **_copied(
                "allocators", "allocator", "untimed", "first_ns", "peak_bytes", "reported_bytes"
            ),
        },
    ),
    "held": TableFormat(
        "One row per allocator, step and op that holds memory at the peak of the allocator.",
        {
            **_WHEN,
            "device": _text("The name of the device; NULL if unknown."),
            **_copied("allocators", "allocator"),
            **_WHICH,
            "held_bytes": STORED["held"].fields["held"],
            "taken_bytes": STORED["held"].fields["taken"],
        },
    ),
    "levels": TableFormat(
        "Memory over time: a few points per allocator and step, the peak among them.",
        {
            **_WHEN,
            "device": _text("The name of the device; NULL if unknown."),
            **_copied("allocators", "allocator"),
            **_copied("levels", "is_reported", "time_ns", "bytes"),
        },
    ),
    "executions": TableFormat(
        STORED["executions"].sentence,
        {**_WHEN, **_WHICH, **_copied("executions", "device", "start_ns", "duration_ns")},
    ),
}

# What a column of a view is, if it is not the column of the same name in the partition.
_IN_STEP = {name: f"s.{name}" for name in _WHEN}
_OF_OP = {"op": "o.row", "name": "o.name"}
_OF_TRACE = {"device": "d.device", "allocator": "a.allocator"}
_COLUMNS: dict[str, Mapping[str, str]] = {
    "runs": _OF_OP,
    "collectives": _OF_OP | {"number": 't."order"', "process_group": 't."group"'},
    "executions": _OF_OP,
    "allocators": {"device": "d.device"},
    "held": _OF_OP | _OF_TRACE | {"held_bytes": "t.held", "taken_bytes": "t.taken"},
    "levels": _OF_TRACE,
    "steps": {name: f"nullif(t.{name}, -1)" for name in _MARKS}
    | {name: f"CASE WHEN t.is_timed THEN t.{name} END" for name in _STEP_NUMBERS},
}

_STEP = f"JOIN {INNER}.recorded_steps s ON s.part = t.part AND s.row = t.step"
_OP = f"LEFT JOIN {INNER}.op_names o ON o.model = s.model AND o.op = t.op"
_TRACE = (
    f"JOIN {INNER}.allocators a ON a.part = t.part AND a.trace = t.trace "
    f"JOIN {INNER}.recorded_steps s ON s.part = t.part AND s.row = a.step"
)
_DEVICE = f"LEFT JOIN {INNER}.device_names d ON d.part = t.part AND d.row = {{}}.device"
_JOINS = {
    "steps": _STEP,
    "runs": f"{_STEP} {_OP}",
    "device_times": _STEP,
    "device_windows": _STEP,
    "device_work": _STEP,
    "exposed_times": _STEP,
    "collectives": f"{_STEP} {_OP}",
    "transfers": _STEP,
    "allocators": f"{_STEP} {_DEVICE.format('t')}",
    "held": f"{_TRACE} {_DEVICE.format('a')} {_OP}",
    "levels": f"{_TRACE} {_DEVICE.format('a')}",
    "executions": f"{_STEP} {_OP}",
}
_TABLES = {"runs": "records"}  # the tables of partitions that are called something else

# The tables of partitions that the views read.
VIEWED = tuple(_TABLES.get(name, name) for name in _JOINS)


def views() -> dict[str, str]:
    """The queries of the views, by name."""
    return {name: _view(name, joins) for name, joins in _JOINS.items()}


def _view(name: str, joins: str) -> str:
    found = _IN_STEP | dict(_COLUMNS.get(name, {}))
    fields = SQL_TABLES[name].fields
    sources = {one: found.get(one, f't."{one}"') for one in fields}
    columns = ", ".join(f'{source} AS "{one}"' for one, source in sources.items())
    return f"SELECT {columns} FROM {INNER}.{_TABLES.get(name, name)} t {joins}"
