"""The interface of vocabularies, which interpret the events of an XSpace for one framework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tfprof.columns import Bools, Coded, Ints
from tfprof.model.ops import Conventions


@dataclass(frozen=True, slots=True, eq=False)
class OpRuns:
    """One row per run of an op on a thread, or of a kernel on a stream."""

    event: Ints
    name: Ints  # a row of `names`
    gpu: Ints  # the GPU of its stream, -1 on a thread
    own_ps: Ints
    names: list[str]
    kinds: list[str]
    calls: Ints  # rows of `names`: ops with functions, whose ops are recorded on their own


@dataclass(frozen=True, slots=True, eq=False)
class StepMarks:
    """One row per step that the program marked, by start time; all times are picoseconds."""

    start_ps: Ints
    end_ps: Ints
    number: Ints

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """One row per copy to or from a GPU."""

    event: Ints
    gpu: Ints
    name: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Kernels:
    """One row per kernel on a stream."""

    event: Ints
    gpu: Ints
    name: Coded
    details: Coded  # as in `regs:16 static_shared:0 dynamic_shared:0 grid:8,1,1 block:64,1,1`


@dataclass(frozen=True, slots=True, eq=False)
class MemoryEvents:
    """One row per allocation, or release if `bytes` is negative, sorted by time."""

    event: Ints
    allocator: list[str]
    bytes: Ints
    in_use: Ints  # in the whole allocator afterwards
    address: Ints


class Vocabulary(Protocol):
    """Interprets the events of a space as named by one framework."""

    @property
    def framework(self) -> str:
        """The framework that recorded the space."""

    @property
    def conventions(self) -> Conventions:
        """The facts that follow from the names of its ops."""

    def runs(self) -> OpRuns:
        """Every run of an op."""

    def steps(self) -> StepMarks:
        """The steps; empty if none is marked."""

    def waits(self) -> Ints:
        """The events in which the program waited for the next element of its input pipeline."""

    def setup(self) -> tuple[Ints, Ints]:
        """When the program traced and compiled: starts and ends in picoseconds."""

    def memory(self) -> MemoryEvents:
        """Allocations and releases."""

    def transfers(self) -> Transfers:
        """Copies to and from accelerators."""

    def kernels(self) -> Kernels:
        """The kernels of ops and others."""

    def hardware(self, gpu: int) -> str:
        """What kind of GPU it is, such as `Nvidia, compute capability 9.0`; empty if unknown."""

    def on_streams(self) -> Bools:
        """Which events ran on an accelerator, except transfers."""
