"""What a scan and protobuf's own reader find in the same bytes, in a form to compare."""

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
    """What a scan finds, None where it leaves the file to protobuf."""
    return FORMATS[kind]._scanned(data)


def parsed(kind, data):
    """What protobuf's reader finds; `InputError` where it refuses the file."""
    return FORMATS[kind]._parsed(Records("file", data))


def plain(columns):
    """Columns as lists, to compare; which code a text has is no matter."""
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
    """Whether a scan reads this; what it reads must be what protobuf reads."""
    found = scanned(kind, data)
    if found is None:
        return False
    assert plain(found) == plain(parsed(kind, data))
    return True
