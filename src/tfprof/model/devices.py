"""The devices of a profile."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.columns import Bools, Ints, Strings


@dataclass(frozen=True, slots=True, eq=False)
class Devices:
    """A row a device.

    An op is placed on one device; its time there is cpu time, since it is dispatched from there.
    An accelerator lane holds the time that kernels took on the accelerator itself. A device that
    is neither is remembered, but adds no time.
    """

    name: Strings
    is_placement: Bools
    is_accelerator_lane: Bools
    host: Strings  # the device that dispatches to it

    def __len__(self) -> int:
        return len(self.name)

    def take(self, rows: Ints) -> Devices:
        """The devices of `rows` alone, in that order."""
        return Devices(
            self.name.take(rows),
            self.is_placement[rows],
            self.is_accelerator_lane[rows],
            self.host.take(rows),
        )
