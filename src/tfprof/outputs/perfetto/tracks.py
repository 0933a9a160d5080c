"""The tracks of a trace, numbered as they are first used."""

from __future__ import annotations

from tfprof.outputs.perfetto import packets


class Tracks:
    """Processes for devices, and below them lanes and counters.

    Steps that overlap in time stand on tracks of their own, so that what ran in one is not taken
    for a part of what ran in another: `crowd` tells these apart, and is 0 unless there are such.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._new: list[bytes] = []
        self._ends: list[int] = []

    def crowd(self, start: int, end: int) -> int:
        """The first crowd that has room for a step that lasts from `start` to `end`."""
        free = [crowd for crowd, busy_until in enumerate(self._ends) if busy_until <= start]
        if not free:
            free = [len(self._ends)]
            self._ends.append(0)
        self._ends[free[0]] = end
        return free[0]

    def steps(self, crowd: int) -> int:
        """The track of the steps themselves."""
        number, is_new = self._number("steps", crowd)
        if is_new:
            self._new.append(packets.track(number, 0, _named("Steps", crowd), crowd))
        return number

    def lane(self, device: str, crowd: int, lane: int) -> int:
        """The track of a lane of a device."""
        parent = self._process(device, crowd)
        number, is_new = self._number("lane", device, crowd, lane)
        if is_new:
            self._new.append(packets.track(number, parent, f"lane {lane}", lane))
        return number

    def memory(self, device: str, crowd: int) -> tuple[int, int]:
        """The track of the bytes in use on a device, and that of who holds most of them."""
        parent = self._process(device, crowd)
        usage, is_new = self._number("memory", device, crowd)
        holders, _ = self._number("holders", device, crowd)
        if is_new:
            self._new.append(packets.counter(usage, parent, "Allocator Bytes in Use"))
            self._new.append(packets.track(holders, parent, "Top Allocations", 0))
        return usage, holders

    def new(self) -> bytes:
        """What is to be told of the tracks that came up since this was last asked."""
        told = b"".join(self._new)
        self._new.clear()
        return told

    def _process(self, name: str, crowd: int) -> int:
        number, is_new = self._number("process", name, crowd)
        if is_new:
            self._new.append(packets.process(number, _named(name, crowd)))
        return number

    def _number(self, *key: object) -> tuple[int, bool]:
        is_new = key not in self._numbers
        return self._numbers.setdefault(key, len(self._numbers) + 1), is_new


def _named(name: str, crowd: int) -> str:
    name = name.removeprefix("/")  # of what looks like a path, only the last part would be shown
    return f"{name} ({crowd + 1})" if crowd else name
