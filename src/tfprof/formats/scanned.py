"""The result of a scan as typed columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Shapes, Strings
from tfprof.formats.records import Records
from tfprof.formats.scan import is_compiled, scan
from tfprof.formats.scan_plan import Plan

Columns = TypeVar("Columns")


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """The columns of a plan, named like `node.size`, and the bytes that their spans refer to."""

    plan: Plan
    data: bytes
    columns: dict[str, Ints]

    @classmethod
    def of(cls, plan: Plan, data: bytes) -> Self | None:
        """The result of scanning `data`, or None if protobuf has to parse it."""
        columns = scan(plan, data)
        return None if columns is None else cls(plan, data, columns)

    def __getitem__(self, column: str) -> Ints:
        return self.columns[column]

    def spans(self, name: str) -> tuple[Ints, Ints]:
        """The starts and ends of the texts in a column such as `node.name`."""
        return self[f"{name}_start"], self[f"{name}_end"]

    def strings(self, name: str) -> Strings:
        """The texts in a column such as `node.name`."""
        return Strings.of_spans(self.data, *self.spans(name))

    def pieces(self, name: str) -> list[bytes]:
        """The bytes in a column such as `node.name`."""
        return self._cut(*self.spans(name))

    def distinct_bytes(self, name: str) -> list[bytes]:
        """The bytes for each code of a column, starting with code 1."""
        return self._cut(*self._distinct(name))

    def _cut(self, starts: Ints, ends: Ints) -> list[bytes]:
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self.data[start:end] for start, end in spans]

    def _distinct(self, name: str) -> tuple[Ints, Ints]:
        rows = self["text.set"] == self.plan.sets[name]
        return self["text.start"][rows], self["text.end"][rows]

    def coded(self, name: str) -> Coded:
        """The texts for the codes of a column; missing texts are empty."""
        codes = self[name] - 1
        starts, ends = self._distinct(name)
        if len(codes) and codes.min() < 0:
            if not (starts == ends).any():
                starts, ends = np.append(starts, 0), np.append(ends, 0)
            codes[codes < 0] = np.flatnonzero(starts == ends)[0]
        return Coded(codes, Strings.of_spans(self.data, starts, ends))

    def shapes(self, table: str, dims: str) -> Shapes:
        """The shapes of a table's rows."""
        rows = Ragged(self[f"{table}.{dims}"], self[f"{dims}.value"])
        return Shapes.of_dims(rows, self[f"{table}.shape"] == 1)

    def marks(self, name: str) -> Ints:
        """1 for each row that contains the marked message, else 0."""
        column, bit = self.plan.marks[name]
        found: Ints = np.sign(self[column] & bit)
        return found


def scanned_or_parsed(
    records: Records,
    scanned: Callable[[bytes], Columns | None],
    parsed: Callable[[Records], Columns],
) -> Columns:
    """The columns of a file, scanned if the compiled scan can read it, else parsed by protobuf."""
    found = scanned(records.data) if is_compiled() else None
    return parsed(records) if found is None else found
