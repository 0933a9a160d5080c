"""Profiles saved by tfprof: the tables of the file are the columns of a profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from tfprof import sums
from tfprof.columns import Coded, Ints, NameTable, Ragged, Strings, offsets_of
from tfprof.errors import InputError
from tfprof.formats.profile_file import LARGEST_FILE, Facts, SavedProfile, decode
from tfprof.metrics import Need
from tfprof.model.attributes import AttributeTable
from tfprof.model.builder import ProfileBuilder
from tfprof.model.clock import limits_of
from tfprof.model.code import CodeTree
from tfprof.model.devices import Devices
from tfprof.model.executions import (
    AllocatorEvents,
    AllocatorUses,
    Copies,
    Executions,
    MemoryUse,
    Messages,
    OtherKernels,
    OutputMemory,
    Placements,
    Records,
    Waits,
)
from tfprof.model.kernel_runs import KernelRuns
from tfprof.model.layers import Layers
from tfprof.model.merging import add_profile
from tfprof.model.notes import of_names
from tfprof.model.ops import (
    UNKNOWN_REPEATS,
    Inputs,
    Ops,
    Origin,
    Origins,
    OutputShapes,
    TypeSets,
)
from tfprof.model.profile import REMEDIES, ProfileColumns
from tfprof.model.recordings import Recordings, Steps
from tfprof.model.stated import StatedFacts
from tfprof.model.tensors import Tensors
from tfprof.sources.saved_attributes import DECODERS, SavedAttributes
from tfprof.sources.source import FileSummary, InputFile, summary

Columns = TypeVar("Columns")


class Loaded(NamedTuple):
    """A saved profile, and the notes on the files from which it was made."""

    profile: ProfileColumns
    notes: tuple[str, ...]


def read(file: InputFile) -> Loaded:
    """The profile in the file."""
    return loaded(file.path, file.content.read(LARGEST_FILE)[0])


def add(found: Loaded, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the whole saved profile."""
    add_profile(builder, found.profile)
    builder.notes += found.notes
    builder.remedies |= found.profile.remedies
    return summarised(found, file)


def summarised(found: Loaded, file: InputFile) -> FileSummary:
    """A summary of the saved profile."""
    profile = found.profile
    return summary(
        file,
        profile.devices.name,
        ops=len(profile.ops),
        recordings=len(profile.recordings),
        steps=len(profile.steps),
        runs=sums.total(profile.records.runs),
        tensors=len(profile.tensors),
    )


def loaded(path: str, data: bytes) -> Loaded:
    """The profile in the bytes of a file; errors refer to it as `path`."""
    saved = decode(path, data)
    if (trouble := next(_contradictions(saved), None)) is not None:
        raise InputError(path, f"is damaged: {trouble}; save it again or fetch it again.")
    _require_decoders(saved, path)
    facts = saved.facts
    profile = ProfileColumns(
        ops=_ops(saved, path),
        recordings=_table(saved, "recordings", Recordings),
        steps=_table(saved, "steps", Steps),
        records=_records(saved),
        executions=_table(saved, "executions", Executions),
        memory=_table(saved, "memory", MemoryUse),
        output_memory=_table(saved, "output_memory", OutputMemory),
        allocator_uses=_table(saved, "allocator_uses", AllocatorUses),
        allocator_events=_table(saved, "allocator_events", AllocatorEvents),
        copies=_table(saved, "copies", Copies),
        waits=_table(saved, "waits", Waits),
        messages=_table(saved, "messages", Messages),
        other_kernels=_table(saved, "other_kernels", OtherKernels),
        kernel_runs=_table(saved, "kernel_runs", KernelRuns),
        placements=_table(saved, "placements", Placements),
        devices=_table(saved, "devices", Devices),
        code=_table(saved, "code", CodeTree),
        layers=_table(saved, "layers", Layers),
        tensors=_tensors(saved),
        has_code=facts.has_code,
        lacks_accelerator_time=facts.lacks_accelerator_time,
        lacks_host_allocations=facts.lacks_host_allocations,
        counts_float_ops=facts.counts_float_ops,
        remedies={need: facts.remedies.get(need, REMEDIES[need]) for need in Need},
    )
    return Loaded(profile.freeze(), _notes(facts))


def _notes(facts: Facts) -> tuple[str, ...]:
    """The notes of a manifest; files of earlier versions do not state their subjects."""
    subjects = facts.subjects or [""] * len(facts.notes)
    return tuple(map(of_names, facts.notes, subjects))


def _require_decoders(saved: SavedProfile, path: str) -> None:
    """Refuse attributes that cannot be decoded: without them, numbers would be wrong."""
    for encoding in filter(None, saved.texts("origins", "encoding")):
        if encoding not in DECODERS:
            raise InputError(
                path,
                f"has attributes encoded as {encoding!r}, which this tfprof cannot decode: "
                "upgrade tfprof.",
            )


def _table(saved: SavedProfile, name: str, columns: type[Columns]) -> Columns:
    """A table of the model whose columns are the same in the file."""
    parts: tuple[Field[Any], ...] = fields(cast("Any", columns))  # always a dataclass
    return columns(*(saved.tables[name][part.name] for part in parts))


def _grouped(saved: SavedProfile, table: str, owner: str, owners: str) -> Ints:
    """The offsets in `table` of the rows that belong to each row of the table `owners`."""
    counts = np.bincount(saved.numbers(table, owner), minlength=saved.rows(owners))
    return offsets_of(counts)


def _ops(saved: SavedProfile, path: str) -> Ops:
    def rows_of(table: str) -> Ints:
        return _grouped(saved, table, "op", "ops")

    def shapes_of(table: str) -> OutputShapes:
        return OutputShapes(rows_of(table), saved.shapes(table, "shape"))

    types = saved.words("types", "type")
    source, slot = saved.numbers("inputs", "source"), saved.numbers("inputs", "slot")
    return Ops(
        name=saved.texts("ops", "name"),
        defined=saved.numbers("ops", "defined"),
        kind=saved.words("ops", "kind"),
        types=TypeSets(Ragged(rows_of("types"), types.codes), types.values),
        inputs=Inputs(rows_of("inputs"), source, slot),
        shape=saved.shapes("ops", "shape"),
        outputs=shapes_of("outputs"),
        seen_outputs=shapes_of("seen_outputs"),
        stated_inputs=shapes_of("stated_inputs"),
        logged_float_ops=saved.numbers("ops", "logged_float_ops"),
        code=saved.numbers("ops", "code"),
        layer=saved.numbers("ops", "layer"),
        part_of=saved.numbers("ops", "part_of"),
        signature=saved.numbers("ops", "signature"),
        repeats=_repeats(saved),
        is_covered=saved.flags("ops", "is_covered"),
        origins=_origins(saved, rows_of("attributes"), path),
    )


def _repeats(saved: SavedProfile) -> Ints:
    """How often each op runs; in older files, 0 means that this is unknown."""
    repeats = saved.numbers("ops", "repeats")
    if saved.facts.has_zero_repeats:
        return repeats
    return np.where(repeats == 0, UNKNOWN_REPEATS, repeats)


def _origins(saved: SavedProfile, offsets: Ints, path: str) -> Origins:
    """The inputs that defined ops; the position of an op is its row."""
    names, values = saved.words("attributes", "name"), saved.numbers("attributes", "value")
    encoded = saved.blobs("attribute_values", "encoded").spans
    facts = StatedFacts(
        saved.numbers("ops", "phase"),
        saved.numbers("ops", "forward_of"),
        saved.texts("ops", "name"),
    )
    flags = saved.flags("origins", "is_defined").tolist()
    origins = [
        Origin(
            SavedAttributes(path, AttributeTable(offsets, names, values, encoded, encoding))
            if encoding
            else None,
            facts,
            is_defined,
        )
        for is_defined, encoding in zip(flags, saved.texts("origins", "encoding"), strict=True)
    ]
    positions = np.arange(saved.rows("ops"))
    return Origins(tuple(origins), saved.numbers("ops", "origin"), positions)


def _records(saved: SavedProfile) -> Records:
    offsets = _grouped(saved, "record_devices", "record", "records")
    return Records(
        op=saved.numbers("records", "op"),
        step=saved.numbers("records", "step"),
        runs=saved.numbers("records", "runs"),
        first_start_ns=saved.numbers("records", "first_start_ns"),
        last_end_ns=saved.numbers("records", "last_end_ns"),
        devices=Ragged(offsets, saved.numbers("record_devices", "device")),
    )


def _tensors(saved: SavedProfile) -> Tensors:
    """The tensors of the checkpoint, without their values."""
    return Tensors.described(
        saved.texts("tensors", "name"),
        saved.texts("tensors", "dtype"),
        saved.shapes("tensors", "shape"),
    )


def _contradictions(saved: SavedProfile) -> Iterator[str]:
    """The inconsistencies in the tables, except for references to missing rows."""
    names, callers = saved.texts("ops", "name"), saved.numbers("code", "caller")
    part_of = saved.numbers("ops", "part_of")
    placed = saved.numbers("placements", "device")
    checks = {
        "a time is impossible": all(
            limits.holds(saved.numbers(table, column))
            for table, columns in saved.tables.items()
            for column in columns
            if (limits := limits_of(column)) is not None
        ),
        "two recordings have the same label": _are_distinct(saved.texts("recordings", "label")),
        "steps are out of order": _ascends(saved, "steps", "recording", "number"),
        "records are out of order": _ascends(saved, "records", "op", "step"),
        "a call comes before its caller": bool((callers < np.arange(len(callers))).all()),
        "two layers have the same name": _are_distinct(saved.texts("layers", "name")),
        "an op comes before the one that it is part of": bool(
            (part_of < np.arange(len(part_of))).all()
        ),
        "layers are out of order": _table(saved, "layers", Layers).is_depth_first(),
        "ops have no definition order": _are_all(np.sort(saved.numbers("ops", "defined"))),
        "types are out of order": _types_ascend(saved, saved.words("types", "type")),
        "placements are out of order": _pairs_ascend(
            saved.numbers("placements", "op"), saved.numbers("devices", "recording")[placed]
        ),
        "a record includes allocations of another op": _uses_match(saved),
        "a record includes transfers of another step": _copies_match(saved),
        "ops are out of order": _are_all(names.order()) and _are_distinct(names),
        "tensors are out of order": _are_all(saved.texts("tensors", "name").order()),
    }
    return (trouble for trouble, holds in checks.items() if not holds)


def _are_all(rows: Ints) -> bool:
    """Whether `rows` counts from 0 without gaps."""
    return np.array_equal(rows, np.arange(len(rows)))


def _uses_match(saved: SavedProfile) -> bool:
    """Whether the allocations of each record are those of its own op and step."""
    record = saved.numbers("allocator_uses", "record")
    counted = np.flatnonzero(record >= 0)
    return all(
        np.array_equal(
            saved.numbers("allocator_uses", key)[counted],
            saved.numbers("records", key)[record[counted]],
        )
        for key in ("op", "step")
    )


def _copies_match(saved: SavedProfile) -> bool:
    """Whether each transfer is in the step of its record."""
    record, step = saved.numbers("copies", "record"), saved.numbers("copies", "step")
    known = np.flatnonzero(record >= 0)
    return np.array_equal(saved.numbers("records", "step")[record[known]], step[known])


def _are_distinct(texts: Strings) -> bool:
    table = NameTable()
    table.add(texts)
    return len(table) == len(texts)


def _ascends(saved: SavedProfile, table: str, first: str, second: str) -> bool:
    return _pairs_ascend(saved.numbers(table, first), saved.numbers(table, second))


def _pairs_ascend(first: Ints, second: Ints) -> bool:
    """Whether each pair is larger than the one before it."""
    later, equal = first[1:] > first[:-1], first[1:] == first[:-1]
    return bool((later | (equal & (second[1:] > second[:-1]))).all())


def _types_ascend(saved: SavedProfile, types: Coded) -> bool:
    names = list(types.values)
    return sorted(set(names)) == names and _pairs_ascend(saved.numbers("types", "op"), types.codes)
