"""The devices of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Strings, ints


class Role(IntEnum):
    """The kind of work that a device does."""

    HOST = 0
    ACCELERATOR = 1
    COPY_ENGINE = 2
    NETWORK = 3


class Device(NamedTuple):
    """A device, or a lane of one, as a source describes it."""

    name: str
    role: Role
    is_placement: bool  # ops can be placed on it
    is_accelerator_lane: bool  # its times are those of kernels on the accelerator itself
    host: str  # the device that dispatches to it
    model: str = ""  # such as `NVIDIA H200`; empty if unknown


@dataclass(frozen=True, slots=True, eq=False)
class Devices:
    """One row per device of a recording.

    An op is placed on one device. Its time there is CPU time: the time to dispatch it. The times
    on an accelerator lane are those of kernels on the accelerator itself. Other devices are kept
    but add no time. Devices of different recordings may have the same name.
    """

    recording: Ints
    name: Strings
    role: Ints
    is_placement: Bools
    is_accelerator_lane: Bools
    host: Strings
    model: Strings

    @classmethod
    def of(cls, recordings: Sequence[int], rows: Sequence[Device]) -> Devices:
        """The columns of `rows`, each of which belongs to the recording at the same position."""
        return cls(
            recording=ints(recordings),
            name=Strings(row.name for row in rows),
            role=ints([row.role for row in rows]),
            is_placement=np.array([row.is_placement for row in rows], np.bool_),
            is_accelerator_lane=np.array([row.is_accelerator_lane for row in rows], np.bool_),
            host=Strings(row.host for row in rows),
            model=Strings(row.model for row in rows),
        )

    def __len__(self) -> int:
        return len(self.name)

    def take(self, rows: Ints) -> Devices:
        """The table with only `rows`, in that order."""
        return Devices(
            self.recording[rows],
            self.name.take(rows),
            self.role[rows],
            self.is_placement[rows],
            self.is_accelerator_lane[rows],
            self.host.take(rows),
            self.model.take(rows),
        )
