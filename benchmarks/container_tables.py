"""The tables that `containers.py` writes: those of a saved profile."""

from __future__ import annotations

import json
from typing import TypeAlias

import numpy as np

from tfprof.columns import Coded, Shapes, Strings, offsets_of
from tfprof.formats.parquet import Table
from tfprof.formats.profile_tables import TABLES, Kind
from tfprof.model.profile import ProfileColumns
from tfprof.outputs import profile_file

Tables: TypeAlias = dict[str, Table]

# The kind of each column, by table.
KINDS: dict[str, dict[str, Kind]] = {
    name: {
        **({table.key: Kind.NUMBER} if table.key else {}),
        **{key: field.kind for key, field in table.fields.items()},
    }
    for name, table in TABLES.items()
}


def tables_of(profile: ProfileColumns) -> Tables:
    """The tables as they are saved: with the number of each row, and with shapes as text."""
    return {
        name: {key: _column(found, key) for key in KINDS[name]}
        for name, found in profile_file.tables(profile).items()
    }


def _column(table: profile_file.Table, key: str) -> np.ndarray | Coded:
    if key not in table:
        return np.arange(len(next(iter(table.values()))))
    column = table[key]
    if isinstance(column, Shapes):
        return Coded(column.codes, Strings(map(json.dumps, column.values)))
    return column


def narrowed(values: np.ndarray) -> np.ndarray:
    """The same numbers in the narrowest type that holds them all."""
    if values.dtype == np.bool_:
        return values
    least, most = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.result_type(np.min_scalar_type(least), np.min_scalar_type(most)))


def numbers(values: np.ndarray) -> np.ndarray:
    """The numbers as tfprof has them: 64-bit integers."""
    return values.astype(np.int64, copy=False)


def text_spans(data: bytes, lengths: np.ndarray) -> Strings:
    """The texts in `data`, one after the other."""
    offsets = offsets_of(numbers(lengths))
    return Strings.of_spans(data, offsets[:-1], offsets[1:])
