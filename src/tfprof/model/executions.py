"""What was recorded while ops ran: per step, per run, and of memory.

All times are nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """One row per op and step in which it was seen, ordered by op, then step."""

    op: Ints
    step: Ints  # a row of `Steps`
    runs: Ints
    first_start_ns: Ints  # `NO_TIME` if no start was recorded
    last_end_ns: Ints  # 0 if no run has a start
    devices: Ragged

    def __len__(self) -> int:
        return len(self.op)

    def rows_of(self, record: Ints) -> Ragged:
        """The rows of each record, in a table whose rows, ordered by record, belong to `record`."""
        counts = np.bincount(record, minlength=len(self))
        return Ragged(offsets_of(counts), np.arange(len(record)))


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """One row per timed run of an op on a device, ordered by record."""

    record: Ints
    device: Ints
    start_ns: Ints
    duration_ns: Ints

    def __len__(self) -> int:
        return len(self.record)


MEMORY_FACTS = (
    "time_ns",
    "host_temp",
    "host_persistent",
    "accelerator_temp",
    "accelerator_persistent",
    "requested",
    "peak",
    "residual",
    "output",
    "in_use",
)


@dataclass(frozen=True, slots=True, eq=False)
class MemoryUse:
    """One row per run whose memory was recorded, ordered by record; all but the time are bytes."""

    record: Ints
    time_ns: Ints  # when it was measured
    host_temp: Ints
    host_persistent: Ints
    accelerator_temp: Ints
    accelerator_persistent: Ints
    requested: Ints
    peak: Ints
    residual: Ints
    output: Ints
    in_use: Ints  # of the whole accelerator allocator at that moment

    def __len__(self) -> int:
        return len(self.record)


@dataclass(frozen=True, slots=True, eq=False)
class OutputMemory:
    """One row per output that a run left in memory: its address and size."""

    use: Ints  # the row of `MemoryUse`
    slot: Ints
    bytes: Ints
    address: Ints


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorUses:
    """One row per run and allocator that it used, in the order of recording.

    Unlike in the other tables, runs away from their op's own device are included.
    """

    op: Ints
    step: Ints  # a row of `Steps`
    device: Ints  # where it ran, -1 if unknown
    allocator: Coded  # its name, empty if unknown
    time_ns: Ints  # when `level` was read: at the end of the run
    level: Ints  # bytes in use in the whole allocator at that time; 0 if not recorded
    record: Ints  # the record that counts its allocations, -1 for none

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorEvents:
    """One row per allocation or, with negative bytes, release."""

    use: Ints  # the row of `AllocatorUses` that owns the memory, for releases too
    time_ns: Ints  # 0 or less if it was not recorded
    bytes: Ints

    def __len__(self) -> int:
        return len(self.use)


@dataclass(frozen=True, slots=True, eq=False)
class Allocations:
    """One row per allocation or release that a record counts, ordered by record.

    These are allocations on accelerators by runs on their op's own device.
    """

    record: Ints
    time_ns: Ints
    bytes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """One row per recorded data transfer between devices; a transfer belongs to no op."""

    step: Ints  # a row of `Steps`
    name: Coded  # what was copied, as far as it was recorded
    device: Ints  # the device, or the lane of one, that recorded it
    start_ns: Ints
    duration_ns: Ints

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """One row per op and recording in which it is placed on a device, ordered by op.

    In one recording an op has one device: the first it was seen on.
    """

    op: Ints
    device: Ints
