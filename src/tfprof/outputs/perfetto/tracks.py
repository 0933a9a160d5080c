"""The tracks of a trace, numbered in order of first use."""

from __future__ import annotations

from typing import NamedTuple

from tfprof.outputs.perfetto import packets


class Group(NamedTuple):
    """The set of tracks that a step is drawn on.

    Each recording has its own tracks. So do steps of a recording that overlap in time: on a shared
    track, a run of one step would look like part of a run of the other.
    """

    recording: str  # empty if there is only one
    overlap: int  # 0 unless steps overlap

    def title(self, name: str) -> str:
        """The title of the track `name` of this group."""
        # The viewer shows only the last part of a name that looks like a path.
        named = name.removeprefix("/")
        within = f"{self.recording}: {named}" if self.recording else named
        return f"{within} ({self.overlap + 1})" if self.overlap else within


class Tracks:
    """The processes of devices, with tracks for their lanes and counters."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._new: list[bytes] = []
        self._ends: dict[str, list[int]] = {}

    def group(self, recording: str, start: int, end: int) -> Group:
        """The first group of a recording that is free at `start`; reserves it until `end`."""
        ends = self._ends.setdefault(recording, [])
        free = [place for place, busy_until in enumerate(ends) if busy_until <= start]
        if not free:
            free = [len(ends)]
            ends.append(0)
        ends[free[0]] = end
        return Group(recording, free[0])

    def steps(self, group: Group) -> int:
        """The track that shows the steps."""
        number, is_new = self._number("steps", group)
        if is_new:
            self._new.append(packets.track(number, 0, group.title("Steps"), group.overlap))
        return number

    def lane(self, device: str, group: Group, lane: int) -> int:
        """The track of a lane of a device."""
        parent = self._process(device, group)
        number, is_new = self._number("lane", device, group, lane)
        if is_new:
            self._new.append(packets.track(number, parent, f"lane {lane}", lane))
        return number

    def memory(self, device: str, group: Group) -> tuple[int, int]:
        """The tracks of the bytes in use on a device and of the ops that hold most of them."""
        parent = self._process(device, group)
        usage, is_new = self._number("memory", device, group)
        holders, _ = self._number("holders", device, group)
        if is_new:
            self._new.append(packets.counter(usage, parent, "Allocator Bytes in Use"))
            self._new.append(packets.track(holders, parent, "Top Allocations", 0))
        return usage, holders

    def new(self) -> bytes:
        """The packets that describe the tracks added since the last call."""
        described = b"".join(self._new)
        self._new.clear()
        return described

    def _process(self, name: str, group: Group) -> int:
        number, is_new = self._number("process", name, group)
        if is_new:
            self._new.append(packets.process(number, group.title(name)))
        return number

    def _number(self, *key: object) -> tuple[int, bool]:
        is_new = key not in self._numbers
        return self._numbers.setdefault(key, len(self._numbers) + 1), is_new
