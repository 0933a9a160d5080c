"""Finds the record of an op in a step, by keys that sort as records do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Ints
from tfprof.kernels.rows import grouped

# A dense table by op and step is faster than a search unless it is many times larger.
_MOST_CELLS_A_ROW = 8


@dataclass(frozen=True, slots=True, eq=False)
class RecordFinder:
    """Finds the record of an op in a step."""

    keys: Ints  # of the records, ascending
    step_row: Ints  # by step id
    record: Ints | None  # by key, if a dense table is small enough

    @classmethod
    def of(cls, keys: Ints, step_row: Ints, op_count: int) -> RecordFinder:
        size = op_count * len(step_row)
        if size > _MOST_CELLS_A_ROW * len(keys):
            return cls(keys, step_row, None)
        table = np.zeros(size, np.int64)
        table[keys] = np.arange(len(keys))
        return cls(keys, step_row, table)

    def __call__(self, op: Ints, step: Ints) -> Ints:
        keys = record_keys(op, step, self.step_row)
        return np.searchsorted(self.keys, keys) if self.record is None else self.record[keys]


def record_keys(op: Ints, step: Ints, step_row: Ints) -> Ints:
    """A key per op and step that sorts by op, then step; `step` has ids."""
    if len(step_row) <= 1:
        return op
    return op * len(step_row) + step_row[step]


def in_order(keys: Ints, limit: int) -> Ints:
    """The rows sorted by key; keys are below `limit`."""
    is_dense = limit <= _MOST_CELLS_A_ROW * len(keys)
    return grouped(keys, limit) if is_dense else np.argsort(keys, kind="stable")
