"""Columns: one numpy array, or a few that belong together, for many rows of one fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def ints(values: Sequence[int] | Ints) -> Ints:
    """A read-only column of whole numbers."""
    column = np.asarray(values, dtype=np.int64)
    column.setflags(write=False)
    return column


class Strings(Sequence[str]):
    """A read-only column of text; how it is held is its own affair, so index, iterate and take."""

    __slots__ = ("_known", "_spans")

    def __init__(
        self, texts: Iterable[str] = (), *, spans: tuple[bytes, Ints, Ints] | None = None
    ) -> None:
        self._known = list(texts) if spans is None else None
        self._spans = spans

    @classmethod
    def of_spans(cls, data: bytes, starts: Ints, ends: Ints) -> Self:
        """The texts, in UTF-8, that stand in `data` from `starts` to `ends`."""
        return cls(spans=(data, starts, ends))

    @property
    def _texts(self) -> list[str]:
        """All texts; those of spans are decoded when they are first asked for."""
        if self._known is None:
            data, starts, ends = self._spans or (b"", ints([]), ints([]))
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            self._known = [data[start:end].decode() for start, end in spans]
            self._spans = None  # lets go of the file
        return self._known

    def __len__(self) -> int:
        return len(self._texts if self._spans is None else self._spans[1])

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        # Slices are left out on purpose: `take` is the one way to choose rows.
        return self._texts[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strings) and self._texts == other._texts

    def __hash__(self) -> int:
        return hash(tuple(self._texts))

    def take(self, rows: Ints) -> list[str]:
        """The texts of `rows`, in that order."""
        texts = self._texts
        return [texts[row] for row in rows.tolist()]


class NameTable:
    """Distinct texts, numbered in the order in which they became known."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, texts: Iterable[str]) -> Ints:
        """The number of each of `texts`; new ones count on."""
        numbers = self._numbers
        return ints([numbers.setdefault(text, len(numbers)) for text in texts])

    def find(self, texts: Iterable[str]) -> Ints:
        """The number of each of `texts`, -1 where it is unknown."""
        numbers = self._numbers
        return ints([numbers.get(text, -1) for text in texts])

    def texts(self) -> Strings:
        """All of them, in the order of their numbers."""
        return Strings(self._numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of text with few distinct values: a code a row, and what each code says."""

    codes: Ints
    values: Strings

    @classmethod
    def of(cls, texts: Sequence[str]) -> Coded:
        """The column of `texts`, its codes given in order of first use."""
        return cls.joined([cls(np.arange(len(texts)), Strings(texts))])

    @classmethod
    def joined(cls, columns: Sequence[Coded]) -> Coded:
        """One column of all rows of `columns`; equal texts get equal codes."""
        table = NameTable()
        codes = [table.add(column.values)[column.codes] for column in columns]
        return cls(joined(codes), table.texts())

    def take(self, rows: Ints) -> Coded:
        """The column of `rows` alone, in that order."""
        return Coded(self.codes[rows], self.values)

    def compact(self) -> Coded:
        """The same column, with only such values as a row has."""
        used, codes = np.unique(self.codes, return_inverse=True)
        return Coded(codes, Strings(self.values.take(used)))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Rows of different lengths: row `i` holds `values[offsets[i]:offsets[i + 1]]`."""

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
        """How many values each row has."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Ints:
        """The row that each value belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Ints) -> Ragged:
        """The column of `rows` alone, in that order."""
        lengths = self.lengths[rows]
        offsets = offsets_of(lengths)
        starts = self.offsets[:-1][rows]
        index = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Ragged(offsets, self.values[index])

    @classmethod
    def joined(cls, columns: Sequence[Ragged]) -> Ragged:
        """The rows of all `columns`, one column after the other."""
        lengths = joined([column.lengths for column in columns])
        return cls(offsets_of(lengths), joined([column.values for column in columns]))

    def any(self, flags: Bools) -> Bools:
        """For each row, whether any of its values has its flag set; `flags` is one a value."""
        counts = np.concatenate(([0], np.cumsum(flags)))
        return counts[self.offsets[1:]] > counts[self.offsets[:-1]]

    def sums(self, column: Ints) -> Ints:
        """For each row, the sum of `column` over its values; `column` is one a value."""
        running = np.concatenate((np.zeros(1, np.int64), np.cumsum(column, dtype=np.int64)))
        return running[self.offsets[1:]] - running[self.offsets[:-1]]


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """A column of tensor shapes; a shape of unknown rank has no dims, an unknown dim is -1."""

    dims: Ragged
    is_known: Bools

    @classmethod
    def of(cls, shapes: Sequence[tuple[int, ...] | None]) -> Shapes:
        """The column of `shapes`, None where even the rank is unknown."""
        known = np.fromiter((shape is not None for shape in shapes), np.bool_, len(shapes))
        return cls(Ragged.of([shape or () for shape in shapes]), known)

    def __len__(self) -> int:
        return len(self.dims)

    def __getitem__(self, row: int) -> tuple[int, ...] | None:
        return tuple(self.dims[row].tolist()) if self.is_known[row] else None

    def take(self, rows: Ints) -> Shapes:
        """The column of `rows` alone, in that order."""
        return Shapes(self.dims.take(rows), self.is_known[rows])

    @classmethod
    def joined(cls, columns: Sequence[Shapes]) -> Shapes:
        """The shapes of all `columns`, one column after the other."""
        known = [column.is_known for column in columns]
        flags = np.concatenate(known) if known else np.zeros(0, np.bool_)
        return cls(Ragged.joined([column.dims for column in columns]), flags)

    def sizes(self) -> Ints:
        """The element count of each shape: 1 for a scalar, 0 where a dim or the rank is unknown."""
        product = np.ones(len(self), np.int64)
        rank = self.dims.lengths
        for axis in range(int(rank.max(initial=0))):
            rows = np.flatnonzero(rank > axis)
            product[rows] *= np.maximum(self.dims.values[self.dims.offsets[rows] + axis], 0)
        product[~self.is_known] = 0
        return product


def joined(columns: Sequence[Ints]) -> Ints:
    """One column after the other."""
    return np.concatenate(columns) if columns else np.zeros(0, np.int64)


def distinct(column: Ints) -> Ints:
    """The different values of `column`, ascending."""
    # numpy's `unique` hashes where it is not asked for places, which takes several times as long.
    ordered = np.sort(column)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def offsets_of(lengths: Ints) -> Ints:
    """Where each row begins and the last one ends, for rows of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
