"""Memory over time, allocator by allocator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from tfprof.columns import Bools, Ints, ints
from tfprof.model.clock import NANOS_PER_MICRO


@dataclass(frozen=True, slots=True, eq=False)
class MemoryCurve:
    """The bytes in use from each point in time on; times ascend."""

    time_ns: Ints
    bytes: Ints

    @classmethod
    def of_changes(cls, time_ns: Ints, changes: Ints) -> Self:
        """The running sum of `changes`, given in any order.

        Changes at the same time count as one, since their order is unknown.
        """
        order = np.argsort(time_ns, kind="stable")
        time_ns, level = time_ns[order], np.cumsum(changes[order])
        last = _is_last(time_ns)
        return cls(ints(time_ns[last]), ints(level[last]))

    @classmethod
    def of_levels(cls, time_ns: Ints, levels: Ints) -> Self:
        """The highest level reported at each time; the levels may be in any order."""
        order = np.lexsort((levels, time_ns))
        time_ns, levels = time_ns[order], levels[order]
        last = _is_last(time_ns)
        return cls(ints(time_ns[last]), ints(levels[last]))

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def micros(self) -> npt.NDArray[np.float64]:
        """The times in microseconds."""
        return self.time_ns / NANOS_PER_MICRO

    @property
    def peak(self) -> int:
        """The index of the highest point, the first one if there are several."""
        return int(np.argmax(self.bytes))

    @property
    def peak_bytes(self) -> int:
        return int(self.bytes[self.peak])

    @property
    def peak_ns(self) -> int:
        return int(self.time_ns[self.peak])

    def thinned(self, most: int) -> Self:
        """The curve with at most `most` points, which include the peak.

        Of each of equally long intervals, the first, last, highest and lowest points are kept.
        """
        if len(self) <= most:
            return self
        intervals = most // 4
        first, last = int(self.time_ns[0]), int(self.time_ns[-1])
        # Not a product with the number of intervals, which may exceed 64 bits.
        place = (self.time_ns - first) // ((last - first) // intervals + 1)
        edges = np.flatnonzero(np.diff(place, prepend=-1))
        # Stable sorts, so that of several highest points the first one is kept: the peak.
        highest, lowest = (np.lexsort((key, place))[edges] for key in (~self.bytes, self.bytes))
        ends = np.append(edges[1:], len(self)) - 1
        kept = np.unique(np.concatenate((edges, ends, highest, lowest)))
        return type(self)(self.time_ns[kept], self.bytes[kept])

    def at(self, time_ns: int) -> int:
        """The bytes in use at a time; 0 before the first point."""
        point = int(np.searchsorted(self.time_ns, time_ns, side="right")) - 1
        return int(self.bytes[point]) if point >= 0 else 0


def _is_last(time_ns: Ints) -> Bools:
    """For each of the ascending times, whether it is the last of a group of equal times."""
    flags = np.ones(len(time_ns), np.bool_)
    flags[:-1] = time_ns[1:] != time_ns[:-1]
    return flags


class MemoryTrace(Protocol):
    """How the ops on one device used one allocator in one step."""

    @property
    def allocator(self) -> str:
        """Its name, empty if unknown."""

    @property
    def device(self) -> int:
        """The device, -1 if unknown."""

    @property
    def step(self) -> int:
        """The row of the step."""

    @property
    def untimed(self) -> int:
        """How many allocations without a time count from the earliest time."""

    @property
    def first_ns(self) -> int:
        """When the first allocation was recorded."""

    @property
    def peak_bytes(self) -> int:
        """The most bytes held at one time."""

    @property
    def reported_bytes(self) -> int:
        """The most bytes in use that the allocator itself reported; 0 if it did not."""

    @property
    def curve(self) -> MemoryCurve:
        """The bytes that ops held over time."""

    @property
    def levels(self) -> MemoryCurve:
        """The bytes in use as the allocator itself reported them."""

    def held_at_peak(self, op_count: int) -> Ints:
        """The bytes that each op holds at the peak."""

    def purposes_at_peak(self) -> Ints:
        """The bytes that are held at the peak for each `Purpose`; all 0 if unknown."""

    def taken_at_peak(self, op_count: int) -> Ints:
        """The net bytes that each op allocated at the time of the peak."""
