"""The launches of kernels on accelerators, by what launched them and with which configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tfprof import sums
from tfprof.columns import Coded, Ints, Shapes, distinct_rows, joined
from tfprof.model.clock import LONGEST_NS

UNKNOWN = -1

# What the launches in a row have in common.
KEYS = ("op", "step", "device")
FACTS = ("registers", "shared_memory", "occupancy")
TIMES = ("total_duration_ns", "min_duration_ns", "max_duration_ns")


@dataclass(frozen=True, slots=True, eq=False)
class KernelRuns:
    """One row per kernel that an op launched on a lane in a step with a configuration.

    The rows are all kernels that were recorded, also those of unknown ops, but no copies or fills.
    What was not recorded about a configuration is `UNKNOWN`, or an unknown shape.
    """

    op: Ints  # that launched it; -1 if unknown
    step: Ints  # a row of `Steps`
    device: Ints  # the lane
    name: Coded  # the whole name of the kernel, as it was recorded
    grid: Shapes
    block: Shapes
    registers: Ints  # per thread
    shared_memory: Ints  # bytes per block
    occupancy: Ints  # achieved, in percent, as the profiler estimates it
    launches: Ints
    total_duration_ns: Ints
    min_duration_ns: Ints
    max_duration_ns: Ints

    def __len__(self) -> int:
        return len(self.op)

    def packed(self) -> KernelRuns:
        """The same rows, without other names in the same file."""
        name = self.name.compact()
        return replace(self, name=Coded(name.codes, name.values.packed()))

    @classmethod
    def joined(cls, parts: Sequence[KernelRuns], row_of: Ints, step_row: Ints) -> Self:
        """The rows of all parts, whose ops and steps are ids; the other arguments map these."""

        def column(name: str) -> Ints:
            return joined([getattr(part, name) for part in parts])

        numbers = (*FACTS, "device", "launches", *TIMES)
        return cls(
            **{name: column(name) for name in numbers},
            op=row_of[column("op")],
            step=step_row[column("step")],
            name=Coded.joined([part.name for part in parts]),
            grid=Shapes.joined([part.grid for part in parts]),
            block=Shapes.joined([part.block for part in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class KernelLaunches:
    """One row per launch of a kernel; the columns are those of `KernelRuns`."""

    op: Ints
    step: Ints
    device: Ints
    name: Coded
    grid: Shapes
    block: Shapes
    registers: Ints
    shared_memory: Ints
    occupancy: Ints
    duration_ns: Ints

    def gathered(self) -> KernelRuns:
        """The launches that have everything but their duration in common, together."""
        numbers = {name: getattr(self, name) for name in (*KEYS, *FACTS)}
        codes = {name: getattr(self, name).codes for name in ("name", "grid", "block")}
        rows, place = distinct_rows([*numbers.values(), *codes.values()])
        column = dict(zip((*numbers, *codes), rows.T.copy(), strict=True))
        low = np.full(len(rows), np.iinfo(np.int64).max)
        high = np.full(len(rows), np.iinfo(np.int64).min)
        np.minimum.at(low, place, self.duration_ns)
        np.maximum.at(high, place, self.duration_ns)
        return KernelRuns(
            **{name: column[name] for name in numbers},
            name=Coded(column["name"], self.name.values),
            grid=Shapes(column["grid"], self.grid.values),
            block=Shapes(column["block"], self.block.values),
            launches=np.bincount(place, minlength=len(rows)),
            total_duration_ns=np.minimum(
                sums.group_sums(place, self.duration_ns, len(rows)), LONGEST_NS
            ),
            min_duration_ns=low,
            max_duration_ns=high,
        )
