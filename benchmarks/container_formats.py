"""Containers for the tables of a profile: how each writes and reads them."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import container_arrow as arrow
import numpy as np
from container_tables import KINDS, Table, Tables, narrowed, numbers, text_spans

from tfprof.columns import Coded, Strings
from tfprof.formats import parquet
from tfprof.formats.parquet import Blobs, Column
from tfprof.formats.profile_tables import Kind


class Container(NamedTuple):
    """A way to keep tables in a file, the packages it needs (with modules), and who reads it."""

    write: Callable[[Tables, Path], None]
    read: Callable[[Path], Tables]
    packages: Mapping[str, str] = {}
    readers: str = "DuckDB; pandas with pyarrow"


def _zipped(
    encode: Callable[[Table], bytes | memoryview],
    decode: Callable[[bytes, Mapping[str, Kind]], Table],
    level: int = 0,
    **facts: Any,
) -> Container:
    """A zip archive with one member per table; `level` is the effort of deflate, 0 to store."""

    def write(tables: Tables, path: Path) -> None:
        kind = zipfile.ZIP_DEFLATED if level else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", kind, compresslevel=level or None) as archive:
            for name, table in tables.items():
                archive.writestr(name, encode(table))

    def read(path: Path) -> Tables:
        with zipfile.ZipFile(path) as archive:
            return {name: decode(archive.read(name), KINDS[name]) for name in archive.namelist()}

    return Container(write, read, **facts)


# --- tfprof's own Parquet writer ----------------------------------------------------------------


def _encode_own(table: Table) -> bytes:
    return b"".join(parquet.write(table))


def _decode_own(data: bytes, _: Mapping[str, Kind]) -> Table:
    return parquet.read(data)


# --- npz ----------------------------------------------------------------------------------------


def _encode_npz(table: Table) -> memoryview:
    out = io.BytesIO()
    parts = {
        f"{key}.{part}": narrowed(values)
        for key, column in table.items()
        for part, values in _parts(column).items()
    }
    np.savez(out, **parts)
    return out.getbuffer()


def _parts(column: Column) -> dict[str, np.ndarray]:
    if isinstance(column, Coded):
        return {"codes": column.codes, **_parts(column.values)}
    if isinstance(column, Blobs):
        return _parts(column.spans)
    if isinstance(column, Strings):
        texts = column.packed()
        return {"lengths": texts.lengths, "bytes": np.frombuffer(texts.data, np.uint8)}
    return {"values": column}


def _decode_npz(data: bytes, kinds: Mapping[str, Kind]) -> Table:
    with np.load(io.BytesIO(data)) as found:
        return {key: _whole(key, kind, found) for key, kind in kinds.items()}


def _whole(key: str, kind: Kind, found: Mapping[str, np.ndarray]) -> Column:
    """The column that `_parts` took apart."""
    if kind is Kind.FLAG:
        return found[f"{key}.values"]
    if kind is Kind.NUMBER:
        return numbers(found[f"{key}.values"])
    texts = text_spans(found[f"{key}.bytes"].tobytes(), found[f"{key}.lengths"])
    if kind in (Kind.WORD, Kind.SHAPE):
        return Coded(numbers(found[f"{key}.codes"]), texts)
    return Blobs(texts) if kind is Kind.BYTES else texts


# --- SQLite -------------------------------------------------------------------------------------


def _write_sqlite(tables: Tables, path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode = off")
        database.execute("pragma synchronous = off")
        for name, table in tables.items():
            quoted = ", ".join(f'"{column}"' for column in table)  # `group` is a word of SQL
            database.execute(f"create table {name} ({quoted})")
            rows = zip(*map(rows_of, table.values()), strict=True)
            places = ", ".join("?" * len(table))
            database.executemany(f"insert into {name} values ({places})", rows)  # noqa: S608
        database.commit()


def rows_of(column: Column) -> list[Any]:
    """The values of a column as Python has them."""
    if isinstance(column, Coded):
        return list(map(list(column.values).__getitem__, column.codes.tolist()))
    if isinstance(column, Blobs):
        return [column[row] for row in range(len(column))]
    return list(column) if isinstance(column, Strings) else column.tolist()


def _read_sqlite(path: Path) -> Tables:
    with closing(sqlite3.connect(path)) as database:
        return {name: _selected(database, name) for name in KINDS}


def _selected(database: sqlite3.Connection, name: str) -> Table:
    rows = database.execute(f"select * from {name} order by rowid")  # noqa: S608
    columns = list(zip(*rows, strict=True)) or [()] * len(KINDS[name])
    found = zip(KINDS[name].items(), columns, strict=True)
    return {key: _MADE[kind](values) for (key, kind), values in found}


def _blobs(values: tuple[bytes, ...]) -> Blobs:
    return Blobs(text_spans(b"".join(values), np.array(list(map(len, values)), np.int64)))


_MADE: dict[Kind, Callable[[Any], Column]] = {
    Kind.NUMBER: partial(np.array, dtype=np.int64),
    Kind.FLAG: partial(np.array, dtype=np.bool_),
    Kind.TEXT: Strings,
    Kind.WORD: Coded.of,
    Kind.SHAPE: Coded.of,
    Kind.BYTES: _blobs,
}


# --- the table of containers --------------------------------------------------------------------

_PYARROW = {"pyarrow": "pyarrow.parquet"}
_ARRO3 = {"arro3-core": "arro3.core", "arro3-io": "arro3.io"}
_WITH_PYARROW = "both with pyarrow"

OWN = "Parquet by tfprof"
CONTAINERS: dict[str, Container] = {
    OWN: _zipped(_encode_own, _decode_own),
    "npz, stored": _zipped(_encode_npz, _decode_npz, readers="numpy"),
    "npz, deflate": _zipped(_encode_npz, _decode_npz, 1, readers="numpy"),
    "Arrow by nanoarrow, deflate": _zipped(
        arrow.encode_nanoarrow,
        arrow.decode_nanoarrow,
        1,
        packages={"nanoarrow": "nanoarrow.ipc"},
        readers=_WITH_PYARROW,
    ),
    **{
        f"Arrow by pyarrow, {codec or 'stored'}": _zipped(
            partial(arrow.encode_pyarrow, codec=codec),
            arrow.decode_pyarrow,
            packages=_PYARROW,
            readers=_WITH_PYARROW,
        )
        for codec in (None, "zstd")
    },
    **{
        f"Parquet by pyarrow, {codec}": _zipped(
            partial(arrow.encode_parquet, codec=codec), arrow.decode_parquet, packages=_PYARROW
        )
        for codec in ("snappy", "zstd")
    },
    "Parquet by arro3, zstd": _zipped(arrow.encode_arro3, arrow.decode_arro3, packages=_ARRO3),
    "DuckDB": Container(
        arrow.write_duckdb,
        arrow.read_duckdb,
        {"duckdb": "duckdb", **_PYARROW},
        readers="DuckDB; pandas with duckdb",
    ),
    "SQLite": Container(_write_sqlite, _read_sqlite, readers="pandas; DuckDB with an extension"),
}
