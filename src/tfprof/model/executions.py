"""What was recorded of running ops: per step, per run, and of memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A row for each op in each step that it was seen in, ordered by op, then step."""

    op: Ints
    step: Ints  # the step's number, not its place
    runs: Ints
    first_start: Ints  # 0 where no start was recorded
    last_end: Ints
    devices: Ragged

    def __len__(self) -> int:
        return len(self.op)

    def rows_of(self, record: Ints) -> Ragged:
        """The rows of each record, in a table whose rows, ordered by record, belong to `record`."""
        counts = np.bincount(record, minlength=len(self))
        return Ragged(offsets_of(counts), np.arange(len(record)))


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """A row for each time an op ran somewhere, ordered by record; times are in microseconds."""

    record: Ints
    device: Ints
    start: Ints
    duration: Ints

    def __len__(self) -> int:
        return len(self.record)


MEMORY_FACTS = (
    "micros",
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
    """A row for each run whose memory was recorded, ordered by record; bytes but for `micros`."""

    record: Ints
    micros: Ints  # when it was measured
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
    """A row for each output that a run left in memory: where and how large."""

    use: Ints  # the row of `MemoryUse`
    slot: Ints
    bytes: Ints
    address: Ints


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorUses:
    """A row for each allocator that a run used, in the order of recording.

    Unlike elsewhere, runs away from their op's own device are among them.
    """

    op: Ints
    step: Ints  # the step's number, not its place
    device: Ints  # where the run was, -1 where that is not known
    allocator: Coded  # its name, empty where that is not known
    micros: Ints  # when its level was read: at the end of the run
    level: Ints  # what was in use of the whole allocator then, 0 where that was not recorded
    record: Ints  # the record that counts its allocations, -1 where none does

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True, eq=False)
class AllocatorEvents:
    """A row for each time an allocator gave memory or, with negative bytes, got it back."""

    use: Ints  # the row of `AllocatorUses`: whose memory it is, also when it is given back
    micros: Ints
    bytes: Ints

    def __len__(self) -> int:
        return len(self.use)


@dataclass(frozen=True, slots=True, eq=False)
class Allocations:
    """A row for each allocation or release that a record counts, ordered by record.

    Those are the ones on accelerators, by runs on their op's own device.
    """

    record: Ints
    micros: Ints
    bytes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """A row for each recorded transfer of data between devices; a transfer is a run of no op."""

    step: Ints
    name: Coded  # what was copied, as far as the recording says
    device: Ints  # the device, or the lane of one, that recorded it
    start: Ints
    duration: Ints

    def __len__(self) -> int:
        return len(self.step)
