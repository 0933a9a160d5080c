"""Tables of recorded runs: per op and step, per run, and memory. All times are nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """One row per op and step in which the op was seen, sorted by op, then step."""

    op: Ints
    step: Ints  # a row of `Steps`
    runs: Ints
    first_start_ns: Ints  # `NO_TIME` if no start was recorded
    last_end_ns: Ints  # 0 if no run has a start
    devices: Ragged

    def __len__(self) -> int:
        return len(self.op)

    def rows_of(self, record: Ints) -> Ragged:
        """For each record, its rows in a table that is sorted by record; `record` is its column."""
        counts = np.bincount(record, minlength=len(self))
        return Ragged(offsets_of(counts), np.arange(len(record)))


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """One row per timed run of an op on a device, sorted by record."""

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
    """One row per run with recorded memory, sorted by record; all columns but time are bytes."""

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
    in_use: Ints  # in the whole accelerator allocator at that time

    def __len__(self) -> int:
        return len(self.record)


@dataclass(frozen=True, slots=True, eq=False)
class OutputMemory:
    """One row per output that a run left in memory, with its address and size."""

    use: Ints  # the row of `MemoryUse`
    slot: Ints
    bytes: Ints
    address: Ints


class Purpose(IntEnum):
    """What memory is for."""

    UNKNOWN = 0
    PARAMETERS = 1
    GRADIENTS = 2
    OPTIMIZER_STATE = 3
    ACTIVATIONS = 4
    TEMPORARY = 5  # released in the phase in which it was allocated
    INPUT = 6
    COMMUNICATION = 7
    EARLIER = 8  # allocated before the recording

    @property
    def title(self) -> str:
        """The name in a sentence."""
        if self is Purpose.EARLIER:
            return "allocated before the recording"
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorUses:
    """One row per run and allocator that it used, in the order of recording.

    Unlike the other tables, this one includes runs on devices where the op is not placed.
    """

    op: Ints
    step: Ints  # a row of `Steps`
    device: Ints  # -1 if unknown
    allocator: Coded  # its name, empty if unknown
    time_ns: Ints  # when `level` was measured: at the end of the run
    level: Ints  # bytes in use in the whole allocator at that time; 0 if not recorded
    record: Ints  # the record that includes its allocations, or -1
    purpose: Ints  # a `Purpose`

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorEvents:
    """One row per allocation, or release if `bytes` is negative."""

    use: Ints  # the row of `AllocatorUses` that owns the memory, for releases too
    time_ns: Ints  # 0 or less if it was not recorded
    bytes: Ints

    def __len__(self) -> int:
        return len(self.use)


@dataclass(frozen=True, slots=True, eq=False)
class Allocations:
    """One row per allocation or release that belongs to a record, sorted by record.

    These are the allocations on accelerators by runs on the device where the op is placed.
    """

    record: Ints
    time_ns: Ints
    bytes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """One row per recorded transfer of data between devices, or fill of their memory."""

    record: Ints  # of the op that launched it; -1 if unknown
    step: Ints  # a row of `Steps`
    name: Coded  # of the tensor or the kind of copy, depending on the recording
    device: Ints  # the device or lane that recorded it
    start_ns: Ints
    duration_ns: Ints

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """One row per time in which the program waited for the next element of its input pipeline."""

    step: Ints  # a row of `Steps`
    start_ns: Ints
    duration_ns: Ints

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """One row per run of a collective on an accelerator whose message was recorded."""

    op: Ints
    step: Ints  # a row of `Steps`
    start_ns: Ints  # of the run
    kind: Coded  # such as `allreduce`
    group: Coded  # the ranks that take part, and the name of their group; empty if unknown
    ranks: Ints  # how many take part; 0 if unknown
    bytes: Ints  # of the whole message; 0 if unknown

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True, eq=False)
class OtherKernels:
    """One row per op and recording in which it ran as another kind than its own.

    Rows are sorted by op, then recording. Kernels that replace several ops have kinds of their own.
    """

    op: Ints
    recording: Ints
    kind: Coded

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """One row per op and recording in which the op is placed on a device, sorted by op.

    In each recording an op has one device: the first on which it was seen.
    """

    op: Ints
    device: Ints
