"""Makes the partition of one file: what its runs add up to, as tables."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tfprof.api import load_inputs
from tfprof.columns import Coded, constant, ints
from tfprof.errors import InputError
from tfprof.fleet import layout, memory_tables
from tfprof.fleet.tables import TABLES
from tfprof.formats import parquet
from tfprof.measures.collectives import collectives
from tfprof.measures.device_windows import device_windows, device_work
from tfprof.measures.exposed import exposed_times
from tfprof.measures.run_sums import KEPT, of_records
from tfprof.measures.step_sums import device_times, step_starts, step_totals
from tfprof.model.builder import ProfileBuilder
from tfprof.model.notes import names_of
from tfprof.model.ops import TypeSets
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import StepTotals
from tfprof.model.tensors import Tensors
from tfprof.options import Inputs
from tfprof.outputs import profile_file

FORMAT = "tfprof partition"

# Microseconds that only RunMetadata counts run by run.
_CLASSIC = ("accelerator_micros", "cpu_micros")


@dataclass(frozen=True, slots=True)
class Task:
    """A file to collect."""

    source: str  # its absolute path or URL
    size: int
    modified: str  # identifies its version: a time, or a tag of the server
    step: int | None = None  # the number of its step, if the user gave one
    common: tuple[str, ...] = ()  # paths or URLs of files that belong to all partitions
    runs: bool = False  # keep single runs too

    @property
    def id(self) -> str:
        """The name of the partition: the same for the same version of the same file."""
        parts = (self.source, self.size, self.modified, self.step, self.common)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Made:
    """The files of a partition, by their paths in the store, and its manifest."""

    files: dict[str, bytes]
    manifest: dict[str, Any]


def made(task: Task, path: str, common: Sequence[str]) -> Made:
    """The partition of a task whose files are at `path` and `common`; equal for equal files."""
    inputs = Inputs() if task.step is None else Inputs(run_meta_path=((task.step, path),))
    profile = load_inputs([*common, *([path] if task.step is None else [])], inputs)
    columns = profile.columns
    if len(columns.recordings) > 1:
        raise InputError(task.source, "has several recordings; collect the files they came from.")
    model = profile_file.encoded(_definitions(columns))
    digest = layout.digest_of(model)
    keys = _keys(task, columns)
    found = _tables(columns, task)
    tables = {name: layout.table_path(name, task.id, keys) for name in found}
    files = {layout.model_path(digest): model}
    files |= {place: b"".join(parquet.write(found[name])) for name, place in tables.items()}
    manifest = {
        "format": FORMAT,
        "version": layout.VERSION,
        "source": task.source,
        "size": task.size,
        "modified": task.modified,
        "step": task.step,
        "model": digest,
        "tables": tables,
        "checksums": {name: zlib.crc32(files[place]) for name, place in tables.items()},
        "recording": _recording(columns),
        "devices": _devices(columns),
        "lacks_accelerator_time": columns.lacks_accelerator_time,
        "lacks_host_allocations": columns.lacks_host_allocations,
        "notes": [[note.replace(path, task.source), names_of(note)] for note in profile.file_notes],
        "remedies": {need.value: phrase for need, phrase in columns.remedies.items()},
        "runs": int(columns.records.runs.sum()),
    }
    return Made(files, manifest)


def _keys(task: Task, columns: ProfileColumns) -> dict[str, Any]:
    """The host, rank and step of a partition, as far as they are known."""
    keys: dict[str, Any] = {}
    if len(columns.recordings):
        first = columns.recordings[0]
        keys["host"] = first.host or first.label
        if first.rank >= 0:
            keys["rank"] = first.rank
    if task.step is not None:
        keys["step"] = task.step
    return keys


def _recording(columns: ProfileColumns) -> dict[str, Any] | None:
    """The recording, if the file has any run."""
    if not len(columns.recordings):
        return None
    found = columns.recordings[0]._asdict()
    del found["file"]
    return found


def _devices(columns: ProfileColumns) -> list[list[Any]]:
    """What `Device` has of each device."""
    devices = columns.devices
    return [
        list(row)
        for row in zip(
            devices.name,
            devices.role.tolist(),
            devices.is_placement.tolist(),
            devices.is_accelerator_lane.tolist(),
            devices.host,
            devices.model,
            strict=True,
        )
    ]


def _definitions(columns: ProfileColumns) -> ProfileColumns:
    """The profile without its runs, so that files with the same ops have the same definitions."""
    nothing = ProfileBuilder().build()
    kept = {
        name: getattr(columns, name) for name in ("code", "layers", "has_code", "counts_float_ops")
    }
    ops = replace(
        columns.ops,
        is_covered=np.zeros(len(columns.ops), np.bool_),
        types=_without_devices(columns),
    )
    return replace(nothing, ops=ops, tensors=Tensors.none(), **kept)


def _without_devices(columns: ProfileColumns) -> TypeSets:
    """The types of ops without the devices on which they were placed, which runs add."""
    types: TypeSets = columns.ops.types
    members, placed = types.members, columns.placements
    code_of = {name: code for code, name in enumerate(types.names)}
    device_code = ints([code_of.get(name, -1) for name in columns.devices.name])
    width = len(types.names) + 1
    owned = members.owners * width + members.values
    kept = ~np.isin(owned, placed.op * width + device_code[placed.device])
    pair = members.owners[kept], Coded(members.values[kept], types.names)
    return TypeSets.of_pairs([pair], len(columns.ops))


def _tables(columns: ProfileColumns, task: Task) -> dict[str, parquet.Table]:
    """The tables with rows, with their columns in the order of the format."""
    found = {
        "records": _records(columns),
        "seen": _seen(columns),
        "steps": _steps(columns),
        "device_times": _copied(device_times(columns)),
        "device_windows": _copied(device_windows(columns)),
        "device_work": _copied(device_work(columns)),
        "exposed_times": _copied(exposed_times(columns)),
        "collectives": _copied(collectives(columns)),
        "transfers": _transfers(columns),
        **memory_tables.of(columns),
    }
    if task.runs:
        found["executions"] = _executions(columns)
    part = layout.number_of(task.id)
    ordered = {name: _ordered(name, table, part) for name, table in found.items()}
    return {name: table for name, table in ordered.items() if len(table["part"])}


def _ordered(name: str, table: Mapping[str, Any], part: int) -> parquet.Table:
    rows = len(next(iter(table.values())))
    numbered = {"part": constant(part, rows), **table}
    return {column: numbered[column] for column in TABLES[name].fields}


def _copied(table: Any) -> dict[str, Any]:
    return {part.name: getattr(table, part.name) for part in fields(table)}


def _records(columns: ProfileColumns) -> dict[str, Any]:
    records = columns.records
    numbers = {name: of_records(columns, name) for name in KEPT}
    if not columns.counts_whole_micros:
        numbers |= dict.fromkeys(_CLASSIC, constant(0, len(records)))
    return {"op": records.op, "step": records.step, **numbers}


def _seen(columns: ProfileColumns) -> dict[str, Any]:
    op = np.unique(columns.records.op)
    home = np.full(len(columns.ops), -1)
    home[columns.placements.op] = columns.placements.device
    return {
        "op": ints(op),
        "device": home[op],
        "is_covered": columns.ops.is_covered[op],
        "kernel": _kernels(columns).take(op).compact(),
    }


def _kernels(columns: ProfileColumns) -> Coded:
    """The kind as which each op ran."""
    other = columns.other_kernels
    kinds = Coded.joined([columns.ops.kind, other.kind])
    codes = kinds.codes[: len(columns.ops)].copy()
    codes[other.op] = kinds.codes[len(columns.ops) :]
    return Coded(ints(codes), kinds.values)


def _steps(columns: ProfileColumns) -> dict[str, Any]:
    steps, totals = columns.steps, step_totals(columns)
    timed = np.zeros(len(steps), np.bool_)
    timed[totals.step] = True
    numbers = {}
    for part in fields(StepTotals):
        if part.name != "step":
            column = np.zeros(len(steps), np.int64)
            column[totals.step] = getattr(totals, part.name)
            numbers[part.name] = column
    first = step_starts(columns)
    return {
        "step": np.arange(len(steps)),
        "number": steps.number,
        "marked_start_ns": steps.start_ns,
        "marked_end_ns": steps.end_ns,
        "setup_ns": steps.setup_ns,
        "first_start_ns": np.where(first == np.iinfo(np.int64).max, -1, first),
        "is_timed": timed,
        **numbers,
    }


def _transfers(columns: ProfileColumns) -> dict[str, Any]:
    copies = columns.copies
    width = len(copies.name.values) or 1
    deep = len(columns.devices) or 1
    key = (copies.step * width + copies.name.codes) * deep + copies.device
    found, place = np.unique(key, return_inverse=True)
    nanos = np.zeros(len(found), np.int64)
    np.add.at(nanos, place, copies.duration_ns)
    rest, device = np.divmod(found, deep)
    step, name = np.divmod(rest, width)
    return {
        "step": ints(step),
        "name": Coded(ints(name), copies.name.values),
        "device": Coded(ints(device), columns.devices.name),
        "count": ints(np.bincount(place, minlength=len(found))),
        "nanos": ints(nanos),
    }


def _executions(columns: ProfileColumns) -> dict[str, Any]:
    runs, records = columns.executions, columns.records
    return {
        "op": records.op[runs.record],
        "step": records.step[runs.record],
        "device": Coded(runs.device, columns.devices.name),
        "start_ns": runs.start_ns,
        "duration_ns": runs.duration_ns,
    }
