"""Reads a store as a profile whose runs stay on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, cast

from tfprof.errors import InputError, OptionError
from tfprof.fleet import contents, layout
from tfprof.fleet.contents import Contents
from tfprof.fleet.places import Place
from tfprof.fleet.queries import Database, StoreRuns
from tfprof.fleet.row_index import read_index
from tfprof.fleet.sql import StoreTables
from tfprof.measures.averages import averaged_together, processes
from tfprof.model.builder import ProfileBuilder
from tfprof.model.notes import Note
from tfprof.model.stored_runs import NotLoaded
from tfprof.sources.profile_file import Loaded, loaded
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.units import counted

# The tables of single runs, which a store does not load.
_TABLES = (
    *("records", "executions", "memory", "output_memory", "allocator_uses", "allocator_events"),
    *("copies", "waits", "messages"),
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
    contents.read_versioned(place, layout.MARK)
    if not place.exists(layout.INDEX):
        raise InputError(file.path, f"is a store without an index: {layout.CONTINUE}.")
    content = contents.read(place)
    path = content.files["model.tfprof"]
    model = loaded(place.at(path), place.read_bytes(path))
    columns = model.profile
    index = read_index(place, content, columns)
    database = Database(place, content.tables())
    troubles = {one.source: one.trouble for one in content.partitions.values()}
    tables = StoreTables(database, index, columns, troubles)
    runs = StoreRuns(
        database,
        index,
        tables,
        group_of=averaged_together(columns),
        process_of=processes(columns),
    )
    absent: Any = dict.fromkeys(_TABLES, NotLoaded(_missing(content)))
    profile = replace(columns, **absent, stored_runs=runs)
    return Loaded(profile, (*model.notes, *_unindexed(place, content)))


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


def _missing(content: Contents) -> str:
    sources = [one.source for one in content.partitions.values() if not one.trouble]
    example = f", such as {sources[0]}" if sources else ""
    return (
        "a store has sums over the runs of each op, and this question is about single runs: ask "
        f"one of the collected files{example}."
    )


def _unindexed(place: Place, content: Contents) -> list[str]:
    """Notes on partitions that are not in the index, and on files that could not be read."""
    names = {PurePosixPath(name).stem for name in place.list(layout.PARTITIONS)}
    known = set(content.partitions)
    if known - names:
        raise InputError(place.address, f"lacks files of its partitions: {layout.CONTINUE}.")
    if added := len(names - known):
        files = counted(added, "collected file is", "collected files are")
        return [Note(f"{files} not included yet: {layout.CONTINUE}.")]
    return []
