"""Reads a store as a profile whose runs stay on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, cast

import numpy as np

from tfprof.columns import ints
from tfprof.errors import InputError, OptionError
from tfprof.fleet import layout
from tfprof.fleet.places import Place
from tfprof.fleet.queries import Database, StoreIndex, StoreRuns
from tfprof.fleet.sql import StoreTables
from tfprof.model.builder import ProfileBuilder
from tfprof.model.notes import Note
from tfprof.model.profile import ProfileColumns
from tfprof.model.stored_runs import NotLoaded
from tfprof.sources.profile_file import Loaded, loaded
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.units import counted

# The tables of single runs, which a store does not load.
_TABLES = (
    *("records", "executions", "memory", "output_memory", "allocator_uses", "allocator_events"),
    *("copies", "waits"),
)


def is_store(address: str) -> bool:
    """Whether there is a store at a URL; raises `InputError` if not, as nothing else is read."""
    if not Place.of(address).exists(layout.MARK):
        raise InputError(
            address,
            "is not a store, and other files are not read from URLs: collect them with `tfprof "
            "collect`, or fetch the file.",
        )
    return True


def read(file: InputFile) -> Loaded:
    """The profile of a store."""
    place = Place.of(file.path)
    _require_version(place, layout.MARK)
    if not place.exists(layout.INDEX):
        raise InputError(file.path, f"is a store without an index: {layout.CONTINUE}.")
    index = _require_version(place, layout.INDEX)
    path = index["files"]["model.tfprof"]
    model = loaded(place.at(path), place.read_bytes(path))
    columns = model.profile
    database = Database(place, _files(index))
    found = _index(place, index, columns)
    troubles = {one["source"]: one["trouble"] for one in index["partitions"].values()}
    runs = StoreRuns(database, found, StoreTables(database, found, columns, troubles))
    absent: Any = dict.fromkeys(_TABLES, NotLoaded(_missing(index)))
    profile = replace(columns, **absent, stored_runs=runs)
    return Loaded(profile, (*model.notes, *_unindexed(place, index)))


def summarised(found: Loaded, file: InputFile) -> FileSummary:
    """A summary of the store."""
    profile = found.profile
    runs = cast("StoreRuns", profile.stored_runs)
    return summary(
        file,
        profile.devices.name,
        ops=len(profile.ops),
        recordings=len(profile.recordings),
        steps=len(profile.steps),
        runs=int(runs.totals("runs", None).sum()),
    )


def add(_found: Loaded, _builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Refuse other files beside a store."""
    raise OptionError(
        f"{file.path} is a store, which cannot be read together with other files: collect them "
        "too, with `tfprof collect`."
    )


def _require_version(place: Place, name: str) -> dict[str, Any]:
    """The content of a JSON file of the store, of a version that can be read."""
    path = place.at(name)
    try:
        found = json.loads(place.read_bytes(name))
        version = found["version"] if found["format"] == layout.FORMAT else None
    except (ValueError, LookupError, TypeError, RecursionError):
        version = None
    if type(version) is not int:
        raise InputError(path, "is damaged: collect the files again into another folder.")
    if version > layout.VERSION:
        raise InputError(
            path,
            f"has version {version} of the format, and this tfprof reads versions up to "
            f"{layout.VERSION}: upgrade tfprof.",
        )
    return cast("dict[str, Any]", found)


def _files(index: Mapping[str, Any]) -> dict[str, list[str]]:
    """The files of each table."""
    found: dict[str, list[str]] = {}
    for partition in index["partitions"].values():
        for table, name in partition["tables"].items():
            found.setdefault(table, []).append(name)
    return found


def _missing(index: Mapping[str, Any]) -> str:
    sources = [one["source"] for one in index["partitions"].values() if not one["trouble"]]
    example = f", such as {sources[0]}" if sources else ""
    return (
        "a store has sums over the runs of each op, and this question is about single runs: ask "
        f"one of the collected files{example}."
    )


def _index(place: Place, index: Mapping[str, Any], columns: ProfileColumns) -> StoreIndex:
    steps, ops, devices = (
        layout.read_table(place, index["files"][f"{name}.parquet"])
        for name in ("steps", "ops", "devices")
    )
    recording_of_step = columns.steps.recording
    part, first = np.unique(steps["part"], return_index=True)
    models = {digest: place for place, digest in enumerate(index["models"])}
    model_of = {
        layout.number_of(id_): models[one["model"]]
        for id_, one in index["partitions"].items()
        if one["model"] is not None
    }
    return StoreIndex(
        ops=len(columns.ops),
        recording_of_step=recording_of_step,
        part=ints(part),
        model=ints([model_of[one] for one in part.tolist()]),
        recording=ints(recording_of_step[steps["row"][first]]),
        step_part=steps["part"],
        step=steps["step"],
        step_row=steps["row"],
        op_model=ops["model"],
        op=ops["op"],
        op_row=ops["row"],
        device_part=devices["part"],
        device=devices["device"],
        device_row=devices["row"],
        ids={layout.number_of(id_): id_ for id_ in index["partitions"]},
    )


def _unindexed(place: Place, index: Mapping[str, Any]) -> list[str]:
    """Notes on partitions that are not in the index, and on files that could not be read."""
    names = {PurePosixPath(name).stem for name in place.list(layout.PARTITIONS)}
    known = set(index["partitions"])
    if known - names:
        raise InputError(place.address, f"lacks files of its partitions: {layout.CONTINUE}.")
    if added := len(names - known):
        files = counted(added, "collected file is", "collected files are")
        return [Note(f"{files} not included yet: {layout.CONTINUE}.")]
    return []
