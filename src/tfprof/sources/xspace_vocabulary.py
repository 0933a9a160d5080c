"""What a vocabulary finds in an XSpace: the part that depends on who recorded it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tfprof.columns import Bools, Ints
from tfprof.model.ops import Conventions


@dataclass(frozen=True, slots=True, eq=False)
class OpRuns:
    """One row per run of an op on a thread, or of one of its kernels on a stream."""

    event: Ints
    name: Ints  # of `names`
    gpu: Ints  # the GPU whose stream it is on, -1 on a thread
    own_ps: Ints
    names: list[str]
    kinds: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """One row per copy to or from a GPU."""

    event: Ints
    gpu: Ints
    name: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryEvents:
    """One row per allocation or, with negative bytes, release; ordered by time."""

    event: Ints
    allocator: list[str]
    bytes: Ints
    in_use: Ints  # in the whole allocator afterwards
    address: Ints


class Vocabulary(Protocol):
    """The events of a space as one framework names them."""

    @property
    def framework(self) -> str:
        """The framework that recorded the space."""

    @property
    def conventions(self) -> Conventions:
        """What the names of its ops imply."""

    def runs(self) -> OpRuns:
        """Every run of an op."""

    def steps(self) -> tuple[Ints, Ints]:
        """When each step began, ascending, and its number; empty if steps are not marked."""

    def memory(self) -> MemoryEvents:
        """Allocations and releases."""

    def transfers(self) -> Transfers:
        """Copies to and from accelerators."""

    def on_streams(self) -> Bools:
        """Which events ran on an accelerator and are not transfers."""
