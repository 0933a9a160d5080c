"""Packs the data of a report: a JSON header, followed by typed columns.

The layout is: the length of the header (4 bytes, little endian), the header, padding to a multiple
of 8, then the columns, each at a multiple of 8. In the header a column is
`{"$column": [type, offset, count]}` and a column of texts `{"$texts": {"offsets": …, "data": …}}`.
`static/container.js` unpacks it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfprof.columns import Strings, offsets_of

_ALIGNMENT = 8
# The types of columns of integers, smallest first; wider numbers are doubles, as in JavaScript.
_TYPES = tuple(
    (name, np.iinfo(f"<{name}").min, np.iinfo(f"<{name}").max)
    for name in ("u1", "i1", "u2", "i2", "u4", "i4")
)
_DOUBLE = "f8"


def pack(value: Mapping[str, Any]) -> bytes:
    """The packed value: dicts, lists, texts and numbers, numpy arrays and `Strings`."""
    columns = _Columns()
    # Keys and texts may contain characters that end a script element, but the result is encoded.
    header = json.dumps(columns.described(value), separators=(",", ":")).encode()
    start = len(header).to_bytes(4, "little") + header
    return b"".join([start, _padding(len(start)), *columns.pieces])


def _padding(size: int) -> bytes:
    return b"\0" * (-size % _ALIGNMENT)


class _Columns:
    """Collects the bytes of columns."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self._size = 0

    def described(self, value: Any) -> Any:
        """The value with its columns replaced by where they are."""
        match value:
            case dict():
                return {key: self.described(one) for key, one in value.items()}
            case list() | tuple():
                return [self.described(one) for one in value]
            case np.ndarray():
                return {"$column": self._add(value)}
            case Strings():
                return {"$texts": self.described(_texts(value))}
            case np.integer():
                return int(value)
            case _:
                return value

    def _add(self, column: np.ndarray[Any, Any]) -> list[str | int]:
        type_ = _type_of(column)
        data = column.astype(f"<{type_}").tobytes()
        offset = self._size
        padding = _padding(len(data))
        self.pieces += [data, padding]
        self._size += len(data) + len(padding)
        return [type_, offset, len(column)]


def _texts(column: Strings) -> dict[str, Any]:
    packed = column.packed()
    data = np.frombuffer(packed.data, np.uint8)
    return {"offsets": offsets_of(packed.lengths), "data": data}


def _type_of(column: np.ndarray[Any, Any]) -> str:
    """The smallest type that has all values of a column."""
    if column.dtype == np.bool_:
        return "u1"
    if column.dtype.kind == "f":
        return _DOUBLE
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    fitting = (name for name, least, most in _TYPES if least <= low and high <= most)
    return next(fitting, _DOUBLE)
