"""Reads Perfetto traces for tests: slices, flows and counters, as a trace processor sees them."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from tfprof.formats.wire import FIXED64, SPAN, fields, signed


class Slice(NamedTuple):
    """A slice, or an instant if it has no duration."""

    process: str
    track: str
    name: str
    start: int  # in nanoseconds
    duration: int
    depth: int
    arguments: dict[str, object]


class Trace:
    """The content of a trace; field numbers are those of `perfetto_trace.proto`."""

    def __init__(self, data: bytes) -> None:
        self.slices: list[Slice] = []
        self._leaving: dict[int, int] = {}  # positions of slices, by the id of the flow
        self._arriving: dict[int, int] = {}
        self.counters: list[tuple[str, str, int, int]] = []
        self._tracks: dict[int, tuple[int, str]] = {}
        self._open: dict[int, list[int]] = {}
        self._texts: dict[int, dict[int, str]] = {}
        for number, packet in spans(data):
            assert number == 1
            self._packet(group(packet))
        assert not any(self._open.values()), "every slice ends"

    @property
    def arrows(self) -> list[tuple[Slice, Slice]]:
        """The slices at the start and end of each flow."""
        assert self._leaving.keys() == self._arriving.keys()
        return [
            (self.slices[place], self.slices[self._arriving[arrow]])
            for arrow, place in self._leaving.items()
        ]

    def on(self, track: str) -> list[Slice]:
        """The slices of a track."""
        return [found for found in self.slices if found.track == track]

    def _packet(self, packet: dict[int, list[Any]]) -> None:
        assert packet[10] == [1], "all packets are of one sequence"
        if packet.get(13) == [1]:
            self._texts = {}
        if 60 in packet:
            self._describe(group(packet[60][0]))
        if 12 in packet:
            self._learn(packet[12][0])
        if 11 in packet:
            self._event(packet[8][0], group(packet[11][0]))

    def _describe(self, track: dict[int, list[Any]]) -> None:
        name = group(track[3][0])[6][0] if 3 in track else track[2][0]
        self._tracks[track[1][0]] = (track.get(5, [0])[0], name.decode())

    def _learn(self, data: bytes) -> None:
        for field, entry in spans(data):
            found = group(entry)
            self._texts.setdefault(field, {})[found[1][0]] = found[2][0].decode()

    def _event(self, time: int, event: dict[int, list[Any]]) -> None:
        (kind,), (track,) = event[9], event[11]
        parent, track_name = self._tracks[track]
        process = self._tracks[parent][1] if parent else ""
        if kind == 4:
            self.counters.append((process, track_name, time, signed(event[30][0])))
        elif kind == 2:
            place = self._open[track].pop()
            self.slices[place] = self.slices[place]._replace(
                duration=time - self.slices[place].start
            )
        else:
            name = event[23][0].decode() if 23 in event else self._texts[2][event[10][0]]
            depth = len(self._open.setdefault(track, []))
            arguments = dict(self._argument(group(entry)) for entry in event.get(4, ()))
            for field, ends in ((47, self._leaving), (48, self._arriving)):
                for arrow in event.get(field, ()):
                    assert arrow not in ends, "an arrow has one end of each kind"
                    ends[arrow] = len(self.slices)
            if kind == 1:
                self._open[track].append(len(self.slices))
            self.slices.append(Slice(process, track_name, name, time, 0, depth, arguments))

    def _argument(self, argument: dict[int, list[Any]]) -> tuple[str, object]:
        name = argument[10][0].decode() if 10 in argument else self._texts[3][argument[1][0]]
        if 17 in argument:
            return name, self._texts[29][argument[17][0]]
        if 5 in argument:
            return name, struct.unpack("<d", argument[5][0].to_bytes(8, "little"))[0]
        return name, signed(argument[4][0])


def spans(data: bytes) -> list[tuple[int, bytes]]:
    """The messages inside a message."""
    found = list(fields(data))
    assert all(kind == SPAN for _, kind, _, _ in found)
    return [(number, data[start:end]) for number, _, start, end in found]


def group(data: bytes) -> dict[int, list[Any]]:
    """The fields of a message, by number."""
    found: dict[int, list[Any]] = {}
    for number, kind, start, end in fields(data):
        assert kind in (0, FIXED64, SPAN)
        found.setdefault(number, []).append(data[start:end] if kind == SPAN else start)
    return found
