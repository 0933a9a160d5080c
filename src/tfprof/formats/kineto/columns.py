"""The columns of a Kineto trace: what PyTorch's profiler recorded, before it is interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfprof.columns import Bools, Coded, Ints

# The value of a number that an event does not have.
MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """One row per event with a duration, in the order of the file.

    Numbers that an event does not have are `MISSING`, and texts empty. Times are those of the
    file, in nanoseconds; `Trace.base_ns` has to be added.
    """

    category: Coded  # `cpu_op`, `kernel`, …
    name: Coded
    thread: Ints  # a row of `Threads`
    start_ns: Ints
    duration_ns: Ints  # 0 for an event that would end before it starts
    correlation: Ints  # between a kernel and the call that launched it
    external_id: Ints  # between ops, calls and kernels; another counter than `correlation`
    record_id: Ints  # of the op, also in execution traces (`Record function id`)
    sequence: Ints  # between a forward op and its backward op
    forward_thread: Ints  # 0 for forward ops; of backward ops, the logical thread of the forward op
    python_id: Ints
    python_parent: Ints
    module_id: Ints
    device: Ints
    stream: Ints
    bytes: Ints  # of a copy
    input_dims: Coded  # JSON
    input_types: Coded  # JSON
    concrete_inputs: Coded  # JSON

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """One row per event of a collective operation, ops and kernels alike."""

    slice: Ints  # a row of `Slices`
    name: Coded  # `allreduce`, …
    dtype: Coded
    in_elements: Ints
    out_elements: Ints
    group: Coded  # the name of the process group
    group_size: Ints
    group_ranks: Coded

    def __len__(self) -> int:
        return len(self.slice)


@dataclass(frozen=True, slots=True, eq=False)
class LaunchConfigurations:
    """One row per kernel whose launch configuration is stated, as far as it is."""

    slice: Ints  # a row of `Slices`
    registers: Ints  # per thread
    shared_memory: Ints  # bytes per block
    occupancy: Ints  # achieved, in percent, as Kineto estimates it
    grid: Coded  # JSON
    block: Coded  # JSON

    def __len__(self) -> int:
        return len(self.slice)


@dataclass(frozen=True, slots=True, eq=False)
class MemoryEvents:
    """One row per allocation, or release if `bytes` is negative, in the order of the file."""

    thread: Ints
    time_ns: Ints
    bytes: Ints
    address: Ints
    device_type: Ints  # 0 for CPUs, 1 for CUDA
    device: Ints  # -1 for CPUs
    allocated: Ints  # in the whole allocator, afterwards
    reserved: Ints

    def __len__(self) -> int:
        return len(self.time_ns)


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """One row per end of an arrow from a forward op to its backward op (`fwdbwd`)."""

    id: Ints
    is_start: Bools
    thread: Ints
    time_ns: Ints

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, slots=True, eq=False)
class Threads:
    """One row per thread or stream that has events."""

    process: Coded  # `pid`, as text
    thread: Coded  # `tid`, as text
    name: Coded  # empty if not stated
    process_name: Coded
    process_labels: Coded  # such as `CPU` and `GPU 0`

    def __len__(self) -> int:
        return len(self.process)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A trace, with the values beside its events as `header`."""

    slices: Slices
    collectives: Collectives
    configurations: LaunchConfigurations
    memory: MemoryEvents
    flows: Flows
    threads: Threads
    header: Mapping[str, Any]
    base_ns: int  # 0 in older traces, whose times are absolute
    events: int  # all events in the file
    damaged_events: int  # events that could not be read
    clamped_events: int  # events whose duration was negative or impossible
    is_complete: bool  # the last event is the one that ends a recording
    unplaced_events: int = 0  # events whose start is unknown
    zero_bytes: int = 0  # in the text, which has none if it is intact
    repeated_events: int = 0  # events that the file has twice, and which were left out
    impossible_activities: int = 0  # kernels, copies and fills whose times cannot be true
    impossible_ns: int = 0  # how long these took, which was left out
