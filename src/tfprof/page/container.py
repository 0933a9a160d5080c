"""Packs the data of a report: a JSON header, followed by typed columns.

The layout is: the length of the header (4 bytes, little endian), the header, padding to a multiple
of 8, then the columns, each at a multiple of 8. In the header, columns are

- `{"$column": [type, offset, count]}`: integers as they are, or with a fourth entry, the type of
  the numbers, the steps from each number to the next (`_steps`), if these compress better;
- `{"$texts": {"shared": …, "length": …, "data": …}}`: for each text, how many bytes it has in
  common with the start of the text before it, and how many follow in `data`;
- `{"$spans": {"of": number, "row": …, "length": …, "more": texts}}`: see `Spans`.

`static/container.js` unpacks it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Ints, Strings

_ALIGNMENT = 8
# The types of columns of integers, smallest first; wider numbers are doubles, as in JavaScript.
_TYPES = tuple(
    (name, np.iinfo(f"<{name}").min, np.iinfo(f"<{name}").max)
    for name in ("u1", "i1", "u2", "i2", "u4", "i4")
)
_DOUBLE = "f8"
_MOST_SHARED = 255  # bytes of a text that can be in common with the text before it
_WORD = 8  # bytes of texts that are compared at once
_FEW = 64  # rows of a column for which it does not matter how it is packed
_SAMPLE = 1 << 14  # rows that decide how a column is packed
_LARGEST_STEP = 2**50  # so that steps are exact as doubles


class Spans(NamedTuple):
    """Texts that are texts of a column that is packed before, or start like them.

    Row `i` is the first `length[i]` bytes of the text `row[i]`, or all of it if the length is 0.
    Rows that continue after those of `of` are those of `more`.
    """

    of: Strings
    row: Ints
    length: Ints
    more: Strings


def pack(value: Mapping[str, Any]) -> bytes:
    """The packed value: dicts, lists, texts and numbers, numpy arrays, `Strings` and `Spans`."""
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
        self._offsets: dict[bytes, int] = {}
        self._texts: list[Strings] = []

    def described(self, value: Any) -> Any:
        """The value with its columns replaced by where they are."""
        match value:
            case dict():
                return {key: self.described(one) for key, one in value.items()}
            case Strings() | Spans():
                return self._described_texts(value)
            case list() | tuple():
                return [self.described(one) for one in value]
            case np.ndarray():
                return {"$column": self._add(value)}
            case np.integer():
                return int(value)
            case _:
                return value

    def _described_texts(self, value: Strings | Spans) -> dict[str, Any]:
        if isinstance(value, Spans):
            number = next(n for n, one in enumerate(self._texts) if one is value.of)
            return {"$spans": self.described(value._asdict() | {"of": number})}
        self._texts.append(value)
        return {"$texts": self.described(_texts(value))}

    def _add(self, column: np.ndarray[Any, Any]) -> list[str | int]:
        type_ = _type_of(column)
        steps = _shorter_steps(column)
        if steps is not None:
            return [*self._placed(steps, _type_of(steps)), type_]
        return self._placed(column, type_)

    def _placed(self, column: np.ndarray[Any, Any], type_: str) -> list[str | int]:
        data = _encoded(column, type_)
        # Some columns are equal, such as the time of ops and their time on CPUs.
        offset = self._offsets.setdefault(data, self._size)
        if offset == self._size:
            padding = _padding(len(data))
            self.pieces += [data, padding]
            self._size += len(data) + len(padding)
        return [type_, offset, len(column)]


def _encoded(column: np.ndarray[Any, Any], type_: str) -> bytes:
    return column.astype(f"<{type_}").tobytes()


def _type_of(column: np.ndarray[Any, Any]) -> str:
    """The smallest type that has all values of a column."""
    if column.dtype == np.bool_:
        return "u1"
    if column.dtype.kind == "f":
        return _DOUBLE
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    fitting = (name for name, least, most in _TYPES if least <= low and high <= most)
    return next(fitting, _DOUBLE)


def _shorter_steps(column: np.ndarray[Any, Any]) -> Ints | None:
    """The steps of a column, if they compress better than the numbers themselves."""
    if column.dtype.kind not in "iu" or len(column) < _FEW:
        return None
    if int(column.min()) < -1 or int(column.max()) > _LARGEST_STEP:
        return None
    middle = max(len(column) - _SAMPLE, 0) // 2
    sample = column[middle : middle + _SAMPLE].astype(np.int64)
    is_shorter = _compressed_size(_steps(sample)) < _compressed_size(sample)
    return _steps(column.astype(np.int64)) if is_shorter else None


def _compressed_size(column: Ints) -> int:
    return len(zlib.compress(_encoded(column, _type_of(column)), 1))


def _steps(column: Ints) -> Ints:
    """A column of numbers from -1 up, as steps.

    0 stands for -1. Otherwise it is 1 more than twice the step from the number before, without
    those that are -1; a step down is twice its size.
    """
    is_number = column >= 0
    numbers = column[is_number]
    steps = np.diff(numbers, prepend=0)
    coded = np.zeros(len(column), np.int64)
    coded[is_number] = np.where(steps >= 0, 2 * steps + 1, -2 * steps)
    return coded


def _texts(column: Strings) -> dict[str, Any]:
    shared = shared_starts(column)
    rest = Strings.of_spans(column.data, column.starts + shared, column.ends).packed()
    return {
        "shared": shared,
        "length": rest.lengths,
        "data": np.frombuffer(rest.data, np.uint8),
    }


def shared_starts(column: Strings) -> Ints:
    """How many bytes each text has in common with the start of the text before it, at most 255."""
    column = column.packed()
    words = _words(column.data)
    starts, lengths = column.starts, column.lengths
    most = np.minimum(np.minimum(lengths, np.append(0, lengths[:-1])), _MOST_SHARED)
    shared = np.zeros(len(column), np.int64)
    # The texts that equal the one before them so far.
    left = np.flatnonzero(most)
    for place in range(0, _MOST_SHARED, _WORD):
        differs = words[starts[left] + place] ^ words[starts[left - 1] + place]
        same = _zero_bytes(differs)
        shared[left] += same
        left = left[(same == _WORD) & (most[left] > place + _WORD)]
        if not len(left):
            break
    found: Ints = np.minimum(shared, most)
    return found


def _words(data: bytes) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The eight bytes from each position on."""
    return np.ndarray(len(data) + 1, "<u8", data + bytes(_WORD), strides=(1,))


def _zero_bytes(words: np.ndarray[Any, np.dtype[np.uint64]]) -> Ints:
    """How many bytes at the start of each word are 0."""
    is_set = words.astype("<u8").view(np.uint8).reshape(-1, _WORD) != 0
    return np.where(words == 0, _WORD, is_set.argmax(axis=1))
