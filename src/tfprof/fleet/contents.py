"""What `index.json` of a store says, checked: a store may be damaged, or made to do harm."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tfprof.errors import InputError
from tfprof.fleet import layout
from tfprof.fleet.places import Place
from tfprof.fleet.tables import TABLES

_ID = re.compile(r"[0-9a-f]{16,64}")
_WILDCARD = re.compile(r"[*?\[\]]")  # DuckDB would look for other files

FILES = ("model.tfprof", "steps.parquet", "ops.parquet", "devices.parquet")


@dataclass(frozen=True, slots=True)
class Partition:
    """A collected file."""

    source: str
    trouble: str | None  # why it could not be read
    model: int  # the place of its ops in `Contents.models`, or -1
    tables: Mapping[str, str]  # the file of each table
    checksums: Mapping[str, int]  # of these files


@dataclass(frozen=True, slots=True)
class Contents:
    """The partitions of a store by id, and the files of its index."""

    models: int  # how many there are
    partitions: Mapping[str, Partition]
    files: Mapping[str, str]

    def tables(self) -> dict[str, dict[str, int]]:
        """The files of each table, with their checksums."""
        found: dict[str, dict[str, int]] = {}
        for partition in self.partitions.values():
            for table, name in partition.tables.items():
                found.setdefault(table, {})[name] = partition.checksums[table]
        return found


def read(place: Place) -> Contents:
    """The contents of a store; raises `InputError` if the file is damaged."""
    found = read_versioned(place, layout.INDEX)
    try:
        return _contents(found)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"is damaged ({error!r}): {layout.CONTINUE}."
        raise InputError(place.at(layout.INDEX), reason) from None


def read_versioned(place: Place, name: str) -> dict[str, Any]:
    """The content of a JSON file of the store, of a version that can be read."""
    path = place.at(name)
    try:
        found: dict[str, Any] = json.loads(place.read_bytes(name))
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
    if version < layout.VERSION:
        raise InputError(
            path,
            f"has version {version} of the format, which lacks the times of accelerators: collect "
            "the files again, with --overwrite.",
        )
    return found


def _contents(found: Mapping[str, Any]) -> Contents:
    models = {_text(digest): place for place, digest in enumerate(_list(found["models"]))}
    partitions = {
        _valid(id_, _ID): _partition(id_, one, models)
        for id_, one in _dict(found["partitions"]).items()
    }
    if len({layout.number_of(id_) for id_ in partitions}) < len(partitions):
        raise ValueError("two partitions have the same number")
    names = _dict(found["files"])
    files = {name: _inside(names[name], layout.INDEXES) for name in FILES}
    return Contents(len(models), partitions, files)


def _partition(id_: str, found: Any, models: Mapping[str, int]) -> Partition:
    model, trouble = _dict(found)["model"], found["trouble"]
    tables = {
        table: _inside(name, table)
        for table, name in _dict(found["tables"]).items()
        if table in TABLES  # a later version may have more
    }
    if any(PurePosixPath(name).stem != id_ for name in tables.values()):
        raise ValueError(f"a table of {id_} has another name")
    return Partition(
        source=_text(found["source"]),
        trouble=None if trouble is None else _text(trouble),
        model=-1 if model is None else models[_text(model)],
        tables=tables,
        checksums={table: _number(_dict(found["checksums"])[table]) for table in tables},
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return value


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is not an object")
    return value


def _valid(text: str, pattern: re.Pattern[str]) -> str:
    if not pattern.fullmatch(text):
        raise ValueError(f"{text!r} is not an id")
    return text


def _inside(value: Any, folder: str) -> str:
    """The name of a file in a folder of the store."""
    name = _text(value)
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or parts[0] != folder or ".." in parts or _WILDCARD.search(name):
        raise ValueError(f"{name!r} is not a file in {folder}")
    return name
