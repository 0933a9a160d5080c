"""Column types: one fact for many rows, stored in one numpy array or a few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from tfprof.kernels import rows as row_kernels
from tfprof.kernels.spans import Bools as Bools  # noqa: PLC0414 -- re-exported for users of columns
from tfprof.kernels.spans import Ints as Ints  # noqa: PLC0414 -- likewise

try:
    from tfprof.kernels import lines as line_kernels
    from tfprof.kernels import name_order, name_scopes, name_search, name_table
except ImportError:
    from tfprof.kernels import plain_lines as line_kernels  # type: ignore[no-redef]
    from tfprof.kernels import plain_names as name_order  # type: ignore[no-redef]
    from tfprof.kernels import plain_names as name_scopes  # type: ignore[no-redef]
    from tfprof.kernels import plain_names as name_search  # type: ignore[no-redef]
    from tfprof.kernels import plain_names as name_table  # type: ignore[no-redef]

Floats: TypeAlias = npt.NDArray[np.float64]

_PIECE = 65_536  # values of `in_pieces` that are in memory at a time


def ints(values: Sequence[int] | Ints) -> Ints:
    """A read-only column of integers; a view if `values` is already an int64 array.

    The caller's array stays writable, so the column can still change until the owner drops the
    array or freezes it (`ProfileColumns.freeze`).
    """
    column = np.asarray(values, np.int64)
    if column is values:
        if not column.flags.writeable:
            return column
        column = column.view()
    column.setflags(write=False)
    return column


class ScopeRows(NamedTuple):
    """The tree of scopes and texts in depth-first order, siblings in byte order."""

    first: Ints  # a text that equals or starts with this row's name
    end: Ints  # where the name ends in the data
    depth: Ints  # 1 at the top
    whole: Ints  # the text that equals the name, or -1 for a mere scope


class Strings(Sequence[str]):
    """A read-only column of text: row `i` is the UTF-8 in `data[starts[i]:ends[i]]`."""

    __slots__ = ("data", "ends", "starts")

    data: bytes
    starts: Ints
    ends: Ints

    def __init__(self, texts: Iterable[str] = ()) -> None:
        # Names of files and JSON can contain lone surrogates, which UTF-8 cannot express.
        encoded = [text.encode(errors="backslashreplace") for text in texts]
        offsets = offsets_of(ints([len(text) for text in encoded]))
        self.data = b"".join(encoded)
        self.starts, self.ends = ints(offsets[:-1]), ints(offsets[1:])

    @classmethod
    def of_spans(cls, data: bytes, starts: Ints, ends: Ints) -> Self:
        """The UTF-8 texts in `data` from `starts` to `ends`."""
        column = cls.__new__(cls)
        column.data, column.starts, column.ends = data, ints(starts), ints(ends)
        return column

    @classmethod
    def of_new_spans(cls, data: bytes, starts: Ints, ends: Ints) -> Self:
        """`of_spans` with arrays that nothing else holds: they are frozen, not wrapped."""
        column = cls.__new__(cls)
        starts.setflags(write=False)
        ends.setflags(write=False)
        column.data, column.starts, column.ends = data, starts, ends
        return column

    @classmethod
    def joined(cls, columns: Sequence[Strings]) -> Self:
        """The texts of all `columns`, one column after the other."""
        before = offsets_of(ints([len(column.data) for column in columns]))[:-1].tolist()
        return cls.of_spans(
            b"".join([column.data for column in columns]),
            joined([column.starts + shift for column, shift in zip(columns, before, strict=True)]),
            joined([column.ends + shift for column, shift in zip(columns, before, strict=True)]),
        )

    @classmethod
    def woven(cls, pieces: Sequence[Strings | bytes], rows: int) -> Self:
        """Each row its pieces one after the other; a piece of plain bytes is in every row."""
        return cls.of_new_spans(*line_kernels.woven(pieces, rows))

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        # Slices are deliberately not supported; use `take` to choose rows.
        return self.data[self.starts[row] : self.ends[row]].decode()

    def __iter__(self) -> Iterator[str]:
        data = self.data
        spans = zip(in_pieces(self.starts), in_pieces(self.ends), strict=True)
        return (data[start:end].decode() for start, end in spans)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strings) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def lengths(self) -> Ints:
        """The length of each text in bytes."""
        return self.ends - self.starts

    def take(self, rows: Ints) -> Strings:
        """The column with only `rows`, in that order."""
        return Strings.of_new_spans(self.data, self.starts[rows], self.ends[rows])

    def packed(self) -> Strings:
        """A copy that contains only its own texts, to free the file that `data` may hold."""
        return Strings.woven([self], len(self))

    def lines(self) -> Strings:
        """The same texts, contiguous in `data` and each followed by a newline."""
        return Strings.woven([self, b"\n"], len(self))

    def order(self, *, slash_first: bool = False) -> Ints:
        """The rows sorted by the bytes of their texts; with `slash_first`, `/` sorts lowest."""
        return name_order.order(self.data, self.starts, self.ends, slash_first=slash_first)

    def scope_rows(self) -> ScopeRows:
        """The tree defined by the slashes in the texts, which must be distinct."""
        rows = self.order(slash_first=True)
        return ScopeRows(*name_scopes.scope_rows(self.data, self.starts, self.ends, rows))

    def find(self, text: str) -> Ints:
        """The byte position of the first occurrence of `text` in each row, or -1."""
        return name_search.find_first(self.data, self.starts, self.ends, text.encode())

    def find_last(self, text: str) -> Ints:
        """The byte position of the last occurrence of `text` in each row, or -1."""
        return name_search.find_last(self.data, self.starts, self.ends, text.encode())

    def split(self, separator: str) -> tuple[Ints, Strings]:
        """Split each row at `separator`: the number of parts per row, and all parts in order."""
        found = name_search.split(self.data, self.starts, self.ends, separator.encode())
        return found[0], Strings.of_spans(self.data, found[1], found[2])

    def starts_with(self, text: str) -> Bools:
        """Which rows start with `text`."""
        return name_search.stands_at(self.data, self.starts, self.ends, self.starts, text.encode())

    def ends_with(self, text: str) -> Bools:
        """Which rows end with `text`."""
        encoded = text.encode()
        places = self.ends - len(encoded)
        return name_search.stands_at(self.data, self.starts, self.ends, places, encoded)

    def row_of(self, text: str) -> int:
        """The first row that equals `text`, or -1."""
        encoded = text.encode(errors="surrogatepass")
        rows = np.flatnonzero(self.lengths == len(encoded))
        starts, ends = self.starts[rows], self.ends[rows]
        equal = rows[name_search.stands_at(self.data, starts, ends, starts, encoded)]
        return int(equal[0]) if len(equal) else -1

    def alike(self, text: str, most: int = 64) -> Strings:
        """Up to `most` rows that start and end like `text`, in no particular order.

        Rows that end with all of `text` are preferred. Use this to preselect a few rows from many
        for a more expensive comparison.
        """
        if len(self) <= most:
            return self
        encoded = text.encode(errors="surrogatepass")
        lengths, at_end = self.lengths, self._shared(encoded, from_end=True)
        shared = self._shared(encoded, from_end=False) + at_end
        shared = np.minimum(shared, np.minimum(lengths, len(encoded)))
        likeness = 2 * shared / np.maximum(lengths + len(encoded), 1) + (at_end == len(encoded))
        least = np.partition(likeness, -most)[-most]
        better, equal = np.flatnonzero(likeness > least), np.flatnonzero(likeness == least)
        return self.take(np.concatenate((better, equal[: most - len(better)])))

    def _shared(self, text: bytes, *, from_end: bool) -> Ints:
        """The number of bytes that each row shares with the start, or the end, of `text`."""
        data, lengths = np.frombuffer(self.data, np.uint8), self.lengths
        shared = np.zeros(len(self), np.int64)
        rows = np.arange(len(self))
        for place, letter in enumerate(reversed(text) if from_end else text):
            rows = rows[lengths[rows] > place]
            at = self.ends[rows] - place - 1 if from_end else self.starts[rows] + place
            rows = rows[data[at] == letter]
            if not len(rows):
                break
            shared[rows] = place + 1
        return shared


def in_pieces(column: Ints) -> Iterator[int]:
    """The values of a column as plain integers, of which only a few are in memory at a time."""
    pieces = (column[first : first + _PIECE] for first in range(0, len(column), _PIECE))
    return chain.from_iterable(map(np.ndarray.tolist, pieces))


class NameTable:
    """Distinct texts, numbered in the order in which they were added."""

    __slots__ = ("_table",)

    def __init__(self) -> None:
        self._table = name_table.SpanTable()

    def __len__(self) -> int:
        return len(self._table)

    def add(self, texts: Iterable[str]) -> Ints:
        """The number of each text; new texts get the next numbers."""
        column = texts if isinstance(texts, Strings) else Strings(texts)
        return ints(self._table.add(column.data, column.starts, column.ends))

    def find(self, texts: Iterable[str]) -> Ints:
        """The number of each text, or -1 if it is unknown."""
        column = texts if isinstance(texts, Strings) else Strings(texts)
        return ints(self._table.find(column.data, column.starts, column.ends))

    def texts(self) -> Strings:
        """All texts, in the order of their numbers."""
        return Strings.of_spans(*self._table.spans())


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of text with few distinct values: one code per row, and the text of each code."""

    codes: Ints
    values: Strings

    @classmethod
    def of(cls, texts: Sequence[str]) -> Coded:
        """The column of `texts`, with codes in order of first use."""
        return cls.joined([cls(np.arange(len(texts)), Strings(texts))])

    @classmethod
    def joined(cls, columns: Sequence[Coded]) -> Coded:
        """One column with the rows of all `columns`; equal texts get equal codes."""
        table = NameTable()
        codes = [table.add(column.values)[column.codes] for column in columns]
        return cls(joined(codes), table.texts())

    def take(self, rows: Ints) -> Coded:
        """The column with only `rows`, in that order."""
        return Coded(self.codes[rows], self.values)

    def compact(self) -> Coded:
        """The same column without unused values."""
        is_used = np.bincount(self.codes, minlength=len(self.values)) > 0
        new_codes = np.cumsum(is_used) - 1
        return Coded(new_codes[self.codes], self.values.take(np.flatnonzero(is_used)))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Rows of different lengths: row `i` is `values[offsets[i]:offsets[i + 1]]`."""

    offsets: Ints
    values: Ints

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        flat = [value for row in rows for value in row]
        return cls(offsets_of(lengths), ints(flat))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> Ints:
        """The number of values in each row."""
        return np.diff(self.offsets)

    def count(self, rows: Ints) -> int:
        """The total number of values in these rows, which must be distinct."""
        if len(rows) == len(self):
            return len(self.values)
        return int((self.offsets[rows + 1] - self.offsets[rows]).sum())

    @property
    def owners(self) -> Ints:
        """The row that each value belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Ints) -> Ragged:
        """The column with only `rows`, in that order."""
        return Ragged(*row_kernels.take_ragged(self.offsets, self.values, rows))

    def where(self, flags: Bools) -> Ragged:
        """The rows with only their flagged values; `flags` has one entry per value."""
        counts = offsets_of(flags.astype(np.int64))
        return Ragged(counts[self.offsets], self.values[flags])

    @classmethod
    def joined(cls, columns: Sequence[Ragged]) -> Ragged:
        """The rows of all `columns`, one column after the other."""
        if len(columns) == 1:
            return columns[0]
        lengths = joined([column.lengths for column in columns])
        return cls(offsets_of(lengths), joined([column.values for column in columns]))

    def numbered(self) -> tuple[Ints, Ints]:
        """A number for each row, equal for equal rows, and the first row of each number."""
        places = self.offsets * self.values.itemsize
        spans = Strings.of_spans(self.values.tobytes(), places[:-1], places[1:])
        codes = NameTable().add(spans)
        firsts = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
        firsts[codes[::-1]] = np.arange(len(codes))[::-1]  # the first row is written last
        return codes, firsts

    def any(self, flags: Bools) -> Bools:
        """Whether each row has a flagged value; `flags` has one entry per value."""
        counts = np.concatenate(([0], np.cumsum(flags)))
        return counts[self.offsets[1:]] > counts[self.offsets[:-1]]

    def sums(self, column: Ints) -> Ints:
        """The sum of `column` over each row; `column` has one entry per value."""
        running = np.concatenate((np.zeros(1, np.int64), np.cumsum(column, dtype=np.int64)))
        return running[self.offsets[1:]] - running[self.offsets[:-1]]


Shape: TypeAlias = tuple[int, ...] | None  # None: the rank is unknown; -1: a dim is unknown


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """A column of tensor shapes with few distinct values: one code per row, and its shape."""

    codes: Ints
    values: tuple[Shape, ...]

    @classmethod
    def of(cls, shapes: Iterable[Shape]) -> Shapes:
        """The column of `shapes`."""
        numbers: dict[Shape, int] = {}
        codes = ints([numbers.setdefault(shape, len(numbers)) for shape in shapes])
        return cls(codes, tuple(numbers))

    @classmethod
    def of_dims(cls, dims: Ragged, is_known: Bools) -> Shapes:
        """The column of shapes with these dims; the rank is unknown unless `is_known`."""
        codes, firsts = dims.numbered()
        values = [tuple(dims[first].tolist()) for first in firsts.tolist()]
        return cls(ints(np.where(is_known, codes, len(values))), (*values, None))

    @classmethod
    def joined(cls, columns: Sequence[Shapes]) -> Shapes:
        """The shapes of all `columns`, one column after the other; equal ones get equal codes."""
        if len(columns) == 1:
            return columns[0]
        numbers: dict[Shape, int] = {}
        codes = []
        for column in columns:
            found = [numbers.setdefault(shape, len(numbers)) for shape in column.values]
            codes.append(ints(found)[column.codes])
        return cls(joined(codes), tuple(numbers))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Shape:
        return self.values[int(self.codes[row])]

    def take(self, rows: Ints) -> Shapes:
        """The column with only `rows`, in that order."""
        return Shapes(self.codes[rows], self.values)

    def are_known(self) -> Bools:
        """Whether each shape has a known rank."""
        return np.array([shape is not None for shape in self.values], np.bool_)[self.codes]

    def sizes(self) -> Ints:
        """The element count of each shape: 1 for a scalar, 0 if a dim or the rank is unknown."""
        return ints([_size(shape) for shape in self.values])[self.codes]


def _size(shape: Shape) -> int:
    size = 0 if shape is None else prod(max(dim, 0) for dim in shape)
    # Wraps around at 64 bits like the original: a damaged file can claim any size.
    return (size + 2**63) % 2**64 - 2**63


def joined(columns: Sequence[Ints]) -> Ints:
    """The rows of all `columns`, one column after the other."""
    if len(columns) == 1:
        return columns[0]
    return np.concatenate(columns) if columns else np.zeros(0, np.int64)


def rows_where(flags: Bools) -> Ints | slice:
    """The flagged rows as an index for columns; if all are flagged, indexing copies nothing."""
    return slice(None) if flags.all() else np.flatnonzero(flags)


def constant(value: int, count: int) -> Ints:
    """A column with the same value in every row, which takes the memory of a single row."""
    return np.broadcast_to(np.int64(value), (count,))


def distinct(column: Ints) -> Ints:
    """The distinct values of `column`, in ascending order."""
    # numpy's `unique` hashes unless asked for indices, which takes several times as long.
    ordered = np.sort(column)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def distinct_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The distinct rows of several columns in ascending order, and the place of each row there."""
    codes, firsts = numbered_rows(columns)
    found = np.stack([column[firsts] for column in columns], 1)
    order = np.lexsort(found.T[::-1])
    return found[order], places_of(order, len(order))[codes]


def numbered_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """A number for each row of several columns, equal for equal rows, and the first row of each."""
    # numpy's `unique` sorts all rows, and compares them value by value.
    rows = np.stack(columns, 1)
    return Ragged(offsets_of(np.full(len(rows), len(columns))), rows.ravel()).numbered()


def places_of(chosen: Ints, count: int) -> Ints:
    """For each row below `count`, its position in `chosen`, or -1."""
    places = np.full(count, -1, np.int64)
    places[chosen] = np.arange(len(chosen))
    return places


def offsets_of(lengths: Ints) -> Ints:
    """The start of each row, and the end of the last, for rows of these lengths."""
    offsets = np.empty(len(lengths) + 1, np.int64)
    offsets[0] = 0
    np.cumsum(lengths, out=offsets[1:])
    return offsets
