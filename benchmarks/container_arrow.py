"""Tables in the formats that Arrow's libraries write: Arrow IPC, Parquet and DuckDB databases.

The packages are imported late, because any of them may be missing. arro3 and DuckDB get their
tables from pyarrow.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from container_tables import KINDS, Tables, narrowed, numbers, text_spans

from tfprof.columns import Coded, Strings
from tfprof.formats.parquet import Blobs, Column, Table
from tfprof.formats.profile_tables import Kind

_CODED = (Kind.WORD, Kind.SHAPE)
_LARGEST_DICTIONARY = 1 << 30

# --- tables of pyarrow --------------------------------------------------------------------------


def _arrow_table(table: Table) -> Any:
    import pyarrow as pa

    return pa.table({key: _array(column) for key, column in table.items()})


def _array(column: Column) -> Any:
    import pyarrow as pa

    if isinstance(column, Coded):
        return pa.DictionaryArray.from_arrays(narrowed(column.codes), _array(column.values))
    if isinstance(column, np.ndarray):
        return pa.array(column)
    kind = pa.binary() if isinstance(column, Blobs) else pa.string()
    buffers = [None, *map(pa.py_buffer, _offsets_and_bytes(column))]
    return pa.Array.from_buffers(kind, len(column), buffers)


def _offsets_and_bytes(column: Strings | Blobs) -> tuple[np.ndarray, bytes]:
    texts = (column.spans if isinstance(column, Blobs) else column).packed()
    return np.append(texts.starts, len(texts.data)).astype(np.int32), texts.data


def _own_table(table: Any, kinds: Mapping[str, Kind]) -> Table:
    table = table.unify_dictionaries()
    return {key: _own_column(table.column(key), kind) for key, kind in kinds.items()}


def _own_column(chunked: Any, kind: Kind) -> Column:
    import pyarrow as pa

    if kind in _CODED and not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    column = chunked.combine_chunks()
    if kind is Kind.FLAG:
        return column.to_numpy(zero_copy_only=False)
    if kind is Kind.NUMBER:
        return numbers(column.to_numpy())
    if kind in _CODED:
        return Coded(numbers(column.indices.to_numpy()), _spans(column.dictionary))
    return Blobs(_spans(column)) if kind is Kind.BYTES else _spans(column)


def _spans(column: Any) -> Strings:
    import pyarrow as pa

    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64)[column.offset :][: len(column) + 1]
    content = data.to_pybytes()[places[0] : places[-1]] if data else b""
    return text_spans(content, np.diff(places))


# --- Arrow files by pyarrow ---------------------------------------------------------------------


def encode_pyarrow(table: Table, codec: str | None) -> memoryview:
    from pyarrow import ipc

    narrow = {
        key: narrowed(column) if isinstance(column, np.ndarray) else column
        for key, column in table.items()
    }
    out, found = io.BytesIO(), _arrow_table(narrow)
    options = ipc.IpcWriteOptions(compression=codec)
    with ipc.new_file(out, found.schema, options=options) as writer:
        writer.write_table(found)
    return out.getbuffer()


def decode_pyarrow(data: bytes, kinds: Mapping[str, Kind]) -> Table:
    from pyarrow import ipc

    table = ipc.open_file(data).read_all()
    table.validate(full=True)  # or else damaged offsets lead out of the file
    return _own_table(table, kinds)


# --- Parquet by pyarrow and by arro3 ------------------------------------------------------------


def encode_parquet(table: Table, codec: str) -> memoryview:
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(
        _arrow_table(table),
        out,
        compression=codec,
        use_dictionary=[key for key, column in table.items() if isinstance(column, Coded)],
        column_encoding=dict.fromkeys(_integers(table), "DELTA_BINARY_PACKED"),
        dictionary_pagesize_limit=_LARGEST_DICTIONARY,
        write_statistics=False,
    )
    return out.getbuffer()


def decode_parquet(data: bytes, kinds: Mapping[str, Kind]) -> Table:
    import pyarrow as pa
    from pyarrow import parquet

    return _own_table(parquet.read_table(pa.BufferReader(data)), kinds)


def encode_arro3(table: Table) -> memoryview:
    import arro3.io

    out = io.BytesIO()
    arro3.io.write_parquet(
        _arrow_table(table),
        out,
        compression="zstd(1)",
        column_dictionary_enabled=dict.fromkeys(_integers(table), False),
        column_encoding=dict.fromkeys(_integers(table), "delta_binary_packed"),
        dictionary_page_size_limit=_LARGEST_DICTIONARY,
        writer_version="parquet_2_0",
    )
    return out.getbuffer()


def decode_arro3(data: bytes, kinds: Mapping[str, Kind]) -> Table:
    import arro3.io
    import pyarrow as pa

    return _own_table(pa.table(arro3.io.read_parquet(data, batch_size=1 << 20)), kinds)


def _integers(table: Table) -> list[str]:
    arrays = {key: column for key, column in table.items() if isinstance(column, np.ndarray)}
    return [key for key, array in arrays.items() if array.dtype != np.bool_]


# --- Arrow streams by nanoarrow -----------------------------------------------------------------


def encode_nanoarrow(table: Table) -> bytes:
    """Streams, one for the table and one for the values of each coded column.

    nanoarrow writes neither files nor dictionaries.
    """
    coded = {key: column for key, column in table.items() if isinstance(column, Coded)}
    values = [_stream({key: column.values}) for key, column in coded.items()]
    codes = {key: column.codes for key, column in coded.items()}
    return b"".join([_stream(table | codes), *values])


def _stream(table: Table) -> memoryview:
    import nanoarrow as na
    from nanoarrow.ipc import StreamWriter

    arrays = {key: _nanoarrow_array(column) for key, column in table.items()}
    batch = na.c_array_from_buffers(
        na.struct({key: na.Schema(array.schema) for key, array in arrays.items()}),
        len(next(iter(table.values()))),
        [None],
        children=list(arrays.values()),
    )
    out = io.BytesIO()
    with StreamWriter.from_writable(out) as writer:
        writer.write_stream(batch)
    return out.getbuffer()


def _nanoarrow_array(column: Column) -> Any:
    import nanoarrow as na

    if isinstance(column, np.ndarray):
        values = narrowed(column.view(np.uint8) if column.dtype == np.bool_ else column)
        kind = na.Schema(getattr(na.Type, values.dtype.name.upper()))
        return na.c_array_from_buffers(kind, len(values), [None, values])
    kind = na.binary() if isinstance(column, Blobs) else na.string()
    return na.c_array_from_buffers(kind, len(column), [None, *_offsets_and_bytes(column)])


def decode_nanoarrow(data: bytes, kinds: Mapping[str, Kind]) -> Table:
    import nanoarrow as na

    rest, parts = io.BytesIO(data), []
    while rest.tell() < len(data):
        found = na.ArrayStream.from_readable(rest).read_all()
        fields = enumerate(found.schema.fields)
        parts.append({field.name: found.child(place) for place, field in fields})
    table, values = parts[0], {key: array for part in parts[1:] for key, array in part.items()}
    return {key: _of_nanoarrow(table[key], kind, values.get(key)) for key, kind in kinds.items()}


def _of_nanoarrow(array: Any, kind: Kind, values: Any) -> Column:
    if kind in (Kind.TEXT, Kind.BYTES):
        texts = _nanoarrow_texts(array)
        return Blobs(texts) if kind is Kind.BYTES else texts
    found = np.asarray(array.buffers[1])[: len(array)] if len(array) else np.zeros(0, np.int64)
    if kind in _CODED:
        return Coded(numbers(found), _nanoarrow_texts(values))
    return found.astype(np.bool_) if kind is Kind.FLAG else numbers(found)


def _nanoarrow_texts(array: Any) -> Strings:
    if not len(array):  # may lack its one offset
        return Strings()
    _, offsets, data = array.buffers
    lengths = np.diff(np.asarray(offsets)[: len(array) + 1])
    return text_spans(bytes(memoryview(data)), lengths)


# --- DuckDB -------------------------------------------------------------------------------------


def write_duckdb(tables: Tables, path: Path) -> None:
    import duckdb

    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as database:
        for name, table in tables.items():
            database.register("found", _arrow_table(table))
            database.execute(f"create table {name} as from found")


def read_duckdb(path: Path) -> Tables:
    import duckdb

    with duckdb.connect(str(path), read_only=True) as database:
        return {
            name: _own_table(database.table(name).to_arrow_table(), kinds)
            for name, kinds in KINDS.items()
        }
