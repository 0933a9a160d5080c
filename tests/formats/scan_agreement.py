"""Compares the columns of a scan with those of protobuf's own reader."""

from dataclasses import fields, is_dataclass

import numpy as np

from tfprof.columns import Coded, Shapes, Strings
from tfprof.formats import graph_def, op_log, profile_proto, run_metadata
from tfprof.formats.recognise import MessageKind
from tfprof.formats.records import Records

FORMATS = {
    MessageKind.GRAPH: graph_def,
    MessageKind.RUN_META: run_metadata,
    MessageKind.OP_LOG: op_log,
    MessageKind.PROFILE: profile_proto,
}


def scanned(kind, data):
    """The columns of a scan; None if it leaves the file to protobuf."""
    return FORMATS[kind]._scanned(data)


def parsed(kind, data):
    """The columns of protobuf's reader; raises `InputError` if it refuses the file."""
    return FORMATS[kind]._parsed(Records("file", data))


def plain(columns):
    """Columns as lists that can be compared; the codes of texts may differ."""
    if isinstance(columns, Coded):
        return columns.values.take(columns.codes)
    if isinstance(columns, Shapes):
        return [columns[row] for row in range(len(columns))]
    if is_dataclass(columns):
        return {field.name: plain(getattr(columns, field.name)) for field in fields(columns)}
    if isinstance(columns, np.ndarray):
        return [str(columns.dtype), columns.tolist()]
    if isinstance(columns, dict):
        return {name: plain(column) for name, column in columns.items()}
    return list(columns) if isinstance(columns, Strings) else columns


def is_scanned_alike(kind, data):
    """Whether a scan reads this file; if so, its columns must equal protobuf's."""
    found = scanned(kind, data)
    if found is None:
        return False
    assert plain(found) == plain(parsed(kind, data))
    return True
