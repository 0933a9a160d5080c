"""What a scan found, in the terms of columns."""

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
    """The columns of a plan, as `node.size`, and the file that its spans point to."""

    plan: Plan
    data: bytes
    columns: dict[str, Ints]

    @classmethod
    def of(cls, plan: Plan, data: bytes) -> Self | None:
        """What a scan of `data` finds, or None where protobuf should read it."""
        columns = scan(plan, data)
        return None if columns is None else cls(plan, data, columns)

    def __getitem__(self, column: str) -> Ints:
        return self.columns[column]

    def spans(self, name: str) -> tuple[Ints, Ints]:
        """Where the texts of `node.name` begin and end."""
        return self[f"{name}_start"], self[f"{name}_end"]

    def strings(self, name: str) -> Strings:
        """The texts of `node.name`."""
        return Strings.of_spans(self.data, *self.spans(name))

    def pieces(self, name: str) -> list[bytes]:
        """The bytes of `node.name`."""
        return self._cut(*self.spans(name))

    def distinct_bytes(self, name: str) -> list[bytes]:
        """What the codes of a column stand for, from code 1 on."""
        return self._cut(*self._distinct(name))

    def _cut(self, starts: Ints, ends: Ints) -> list[bytes]:
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self.data[start:end] for start, end in spans]

    def _distinct(self, name: str) -> tuple[Ints, Ints]:
        rows = self["text.set"] == self.plan.sets[name]
        return self["text.start"][rows], self["text.end"][rows]

    def coded(self, name: str) -> Coded:
        """The texts that the codes of a column stand for, empty ones where there is none."""
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
        """1 where the message is there that has this mark, or else 0."""
        column, bit = self.plan.marks[name]
        found: Ints = np.sign(self[column] & bit)
        return found


def scanned_or_parsed(
    records: Records,
    scanned: Callable[[bytes], Columns | None],
    parsed: Callable[[Records], Columns],
) -> Columns:
    """The columns of a file: by a scan where that is compiled and knows the file, else protobuf."""
    found = scanned(records.data) if is_compiled() else None
    return parsed(records) if found is None else found
