"""The events of an XSpace with their names, times and facts, independent of the framework.

Times are picoseconds since `Space.base_ns`. A vocabulary interprets the events, such as `tf_events`
for TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Strings, ints
from tfprof.errors import InputError
from tfprof.formats.xplane import SpaceColumns, lookup
from tfprof.sums import magnitude

PS_PER_NANO = 1000

# The sum of two numbers below this fits into 64 bits. As picoseconds it is 53 days.
LARGE = 2**62
# Times below this (11 days) count from the start of the recording, others from 1970.
_RELATIVE_NS = 10**15


class Space:
    """The events of one file, one row each."""

    def __init__(self, path: str, columns: SpaceColumns) -> None:
        self.path = path
        self._columns = columns
        self.planes = columns.texts("plane", "name")
        self.lines = columns.texts("line", "name")
        self.plane_of_line = columns["line"]["owner"]
        self.line = columns["event"]["owner"]
        self.plane = self.plane_of_line[self.line]
        self.names = columns.texts("event_name", "name")
        # An event without a name refers to the last one, the empty text.
        self.name = lookup(columns["event_name"], self.plane, columns["event"]["id"])
        self.names.append("")
        self._stat_names = [*columns.texts("stat_name", "name"), ""]
        self.base_ns, self.start_ps = self._times()
        self.duration_ps = np.maximum(columns["event"]["duration_ps"], 0)
        self._require_measurable()

    def _times(self) -> tuple[int, Ints]:
        """The base in nanoseconds, and the start of each event in picoseconds after it."""
        stamps = self._columns["line"]["timestamp_ns"]
        used = stamps[np.unique(self.line)]
        first, last = (int(used.min()), int(used.max())) if len(used) else (0, 0)
        if last - first >= LARGE // PS_PER_NANO:
            raise InputError(self.path, "is damaged: its timelines are more than 50 days apart.")
        base = first + (self.profile_start_ns if first < _RELATIVE_NS else 0)
        if abs(base) > LARGE:
            raise InputError(self.path, "is damaged: its timelines start more than 146 years ago.")
        offset = self._columns["event"]["offset_ps"]
        # The end of an event must fit into 64 bits, too.
        if (last - first) * PS_PER_NANO + magnitude(offset) > LARGE:
            raise InputError(self.path, "is damaged: its events are more than 50 days apart.")
        return base, (stamps - first)[self.line] * PS_PER_NANO + offset

    def time_ns(self, ps: Ints) -> Ints:
        """Times in nanoseconds."""
        return self.base_ns + ps // PS_PER_NANO

    @cached_property
    def profile_start_ns(self) -> int:
        """When the recording began, in nanoseconds since 1970, or 0 if unknown."""
        stats = self._columns["plane_stat"]
        keys = lookup(self._columns["stat_name"], stats["owner"], stats["id"]).tolist()
        for row, key in enumerate(keys):
            if self._stat_names[key] == "profile_start_time":
                value = int(stats["unsigned"][row] or stats["signed"][row])
                return value if 0 < value < LARGE else 0
        return 0

    def plane_facts(self, plane: str) -> dict[str, int | str]:
        """The facts that concern a whole plane, by name."""
        stats, found = self._columns["plane_stat"], dict[str, int | str]()
        keys = lookup(self._columns["stat_name"], stats["owner"], stats["id"])
        meant = lookup(self._columns["stat_name"], stats["owner"], stats["ref"])
        texts = self._columns.texts("plane_stat", "text")
        for row, owner in enumerate(stats["owner"].tolist()):
            if self.planes[owner] == plane:
                number = int(stats["unsigned"][row] or stats["signed"][row])
                text = texts[row] or self._stat_names[int(meant[row])]
                found[self._stat_names[int(keys[row])]] = text or number
        return found

    def _require_measurable(self) -> None:
        if float(self.duration_ps.sum(dtype=np.float64)) > LARGE:
            raise InputError(self.path, "is damaged: its events add up to more than 50 days.")

    @cached_property
    def _stat_keys(self) -> Ints:
        """The code of each fact's name."""
        stats = self._columns["stat"]
        rows = lookup(self._columns["stat_name"], self.plane[stats["owner"]], stats["id"])
        return self._distinct_stat_names[1][rows]

    @cached_property
    def _distinct_stat_names(self) -> tuple[dict[str, int], Ints]:
        codes: dict[str, int] = {}
        of_row = ints([codes.setdefault(name, len(codes)) for name in self._stat_names])
        return codes, of_row

    def facts(self, key: str) -> Ints:
        """The rows of the facts called `key`."""
        code = self._distinct_stat_names[0].get(key, -1)
        return np.flatnonzero(self._stat_keys == code)

    def numbers(self, key: str) -> tuple[Ints, Ints]:
        """The events with the fact `key`, and its number for each."""
        rows, stats = self.facts(key), self._columns["stat"]
        value = np.where(stats["unsigned"] != 0, stats["unsigned"], stats["signed"])
        return stats["owner"][rows], value[rows]

    def texts(self, key: str) -> tuple[Ints, Coded]:
        """The events with the fact `key`, and its text for each."""
        rows, stats = self.facts(key), self._columns["stat"]
        event = stats["owner"][rows]
        is_stated = stats["text_end"][rows] > stats["text_start"][rows]
        meant = lookup(self._columns["stat_name"], self.plane[event], stats["ref"][rows])
        # Texts that are stored once and referred to by many events are decoded once.
        known, of_known = np.unique(meant[~is_stated], return_inverse=True)
        texts = [self._stat_names[row] for row in known.tolist()]
        codes = np.empty(len(rows), np.int64)
        codes[~is_stated] = of_known
        codes[is_stated] = len(texts) + np.arange(int(is_stated.sum()))
        texts += self._columns.texts("stat", "text", rows[is_stated])
        return event, Coded(codes, Strings(texts))

    def number_of(self, key: str, events: Ints) -> Ints:
        """The number of the fact `key` for each of `events`, 0 if missing."""
        values = np.zeros(len(self.name), np.int64)
        owner, value = self.numbers(key)
        values[owner] = value
        return values[events]

    def on_planes(self, planes: list[bool]) -> Bools:
        return np.array([*planes, False])[self.plane]

    def named(self, names: set[str]) -> Bools:
        """Which events have one of these names."""
        return np.array([name in names for name in self.names])[self.name]

    def having(self, key: str) -> Bools:
        """Which events have the fact `key`."""
        flags = np.zeros(len(self.name), np.bool_)
        flags[self._columns["stat"]["owner"][self.facts(key)]] = True
        return flags


def in_nanos(duration_ps: Ints) -> Ints:
    """Durations in nanoseconds, rounded to the nearest."""
    return (duration_ps + PS_PER_NANO // 2) // PS_PER_NANO


def own_durations(line: Ints, start: Ints, duration: Ints) -> Ints:
    """The duration of each event without other events inside it on the same line."""
    own = duration.copy()
    order = np.lexsort((-duration, start, line))
    for rows in split_by(line, order):
        ends = np.maximum.accumulate(start[rows] + duration[rows])
        # On most threads ops do not overlap, so there is nothing to subtract.
        if len(rows) > 1 and bool((start[rows[1:]] < ends[:-1]).any()):
            _subtract_inner(rows, start, duration, own)
    return np.maximum(own, 0)


def split_by(column: Ints, order: Ints) -> Iterator[Ints]:
    """The rows of each distinct value in `column`; `order` sorts the rows by value."""
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(column[order])) + 1)


def _subtract_inner(rows: Ints, start: Ints, duration: Ints, own: Ints) -> None:
    open_rows: list[tuple[int, int]] = []  # the ends and rows of enclosing events
    for row, begin, length in zip(
        rows.tolist(), start[rows].tolist(), duration[rows].tolist(), strict=True
    ):
        while open_rows and open_rows[-1][0] <= begin:
            open_rows.pop()
        if open_rows:
            end, outer = open_rows[-1]
            own[outer] -= min(length, end - begin)
        open_rows.append((begin + length, row))
