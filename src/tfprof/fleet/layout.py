"""The files of a store.

| file | content |
|---|---|
| `tfprof-store.json` | marks the folder as a store; written first |
| `TABLE/host=H/rank=R/ID.parquet` | one table of one partition; `tables.py` lists the tables |
| `models/HASH.tfprof` | the ops of partitions, named by content: equal ones are stored once |
| `partitions/ID.json` | the manifest of a partition; written last: it makes the rest visible |
| `index/NAME-HASH` | the whole model, and the rows of partitions in it: ops, steps, devices |
| `index/index.json` | the partitions that the index includes, and its files; written after them |

A partition has what one file adds up to. Its id depends on the path of the file and its version, so
a file that changes becomes another partition. The files of the index are named by content, so that
a new index replaces the old one when `index.json` is written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from tfprof.columns import Coded, constant
from tfprof.errors import InputError
from tfprof.fleet.places import Place, hive_value
from tfprof.formats import parquet
from tfprof.formats.profile_tables import Field, Kind
from tfprof.formats.recognise import STORE_MARK

_DIGITS = re.compile(r"([0-9]+)")

FORMAT = "tfprof store"
VERSION = 2

# What to do about a store that is not complete.
CONTINUE = "run the same `tfprof collect` again, which continues where it stopped"

MARK = STORE_MARK
PARTITIONS = "partitions"
MODELS = "models"
INDEXES = "index"
INDEX = f"{INDEXES}/index.json"


def manifest_path(id_: str) -> str:
    """Where the manifest of a partition is."""
    return f"{PARTITIONS}/{id_}.json"


def model_path(digest: str) -> str:
    """Where the ops of partitions are."""
    return f"{MODELS}/{digest}.tfprof"


def index_path(name: str, data: bytes) -> str:
    """Where a file of the index is, such as `steps.parquet`."""
    path = PurePosixPath(name)
    return f"{INDEXES}/{path.stem}-{digest_of(data)}{path.suffix}"


def table_path(table: str, id_: str, keys: Mapping[str, Any]) -> str:
    """Where a table of a partition is; `keys` become folders, as Hive names them."""
    folders = "".join(f"{name}={hive_value(str(value))}/" for name, value in keys.items())
    return f"{table}/{folders}{id_}.parquet"


def digest_of(data: bytes) -> str:
    """A name for content: equal names mean equal content."""
    return hashlib.sha256(data).hexdigest()[:32]


def number_of(id_: str) -> int:
    """The number of a partition in its tables."""
    return int(id_[:15], 16)


def manifests(place: Place) -> dict[str, dict[str, Any]]:
    """The manifests of all partitions, by id; without a valid one a partition is not visible."""
    files = place.read_all(place.list(PARTITIONS))
    found = {PurePosixPath(name).stem: _manifest(data) for name, data in files.items()}
    return {id_: manifest for id_, manifest in found.items() if manifest is not None}


def _manifest(data: bytes) -> dict[str, Any] | None:
    """A manifest, if it has what removes and replaces its partition."""
    try:
        found = json.loads(data)
        texts = [found["source"], found["modified"], *found.get("tables", {}).values()]
        step = found["step"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    is_valid = all(isinstance(text, str) for text in texts) and isinstance(step, int | None)
    return found if is_valid else None


def read_table(place: Place, name: str, fields: Mapping[str, Field]) -> dict[str, Any]:
    """The columns of a table; raises `InputError` if the file is damaged or has others."""
    data = place.read_bytes(name)
    try:
        found = dict(parquet.read(data, parquet.Budget(len(data))))
    except parquet.ParquetError as error:
        raise InputError(place.at(name), f"is damaged: {error}; {CONTINUE}.") from None
    rows = len(next(iter(found.values()), ()))
    for column, field in fields.items():
        if field.missing is not None:
            found.setdefault(column, constant(field.missing, rows))
        if column not in found or not _is_valid(found[column], field):
            raise InputError(place.at(name), f"is damaged: `{column}` is wrong; {CONTINUE}.")
    return {column: found[column] for column in fields}


def _is_valid(column: Any, field: Field) -> bool:
    """Whether a column has the type of its field, and no number that is too small."""
    if field.kind is Kind.WORD:
        return isinstance(column, Coded)
    if not isinstance(column, np.ndarray):
        return False
    if column.dtype != (np.bool_ if field.kind is Kind.FLAG else np.int64):
        return False
    return field.least is None or int(column.min(initial=field.least)) >= field.least


def remove(place: Place, removed: Mapping[str, Mapping[str, Any]]) -> None:
    """Remove partitions, given their manifests by id."""
    for id_, manifest in removed.items():
        # First the manifest: without it, the rest is not part of the store.
        for name in (manifest_path(id_), *manifest.get("tables", {}).values()):
            place.remove(name)


def natural(text: str) -> tuple[tuple[str, int, str], ...]:
    """A key that sorts numbers in texts by their value: `host2` before `host10`."""
    parts = _DIGITS.split(text)
    return tuple(
        (before, int(digits or 0), digits)
        for before, digits in zip(parts[::2], [*parts[1::2], ""], strict=True)
    )
