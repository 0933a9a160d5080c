"""The recordings of a profile and their steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Strings, ints

UNKNOWN_RANK = -1

# Instead of the number of a step: the steps after warm-up, or all steps.
USUAL_STEPS, ALL_STEPS = -1, -2


class Recording(NamedTuple):
    """What one process recorded: a host's trace, or the traced runs of a worker."""

    label: str
    host: str = ""  # empty if unknown
    rank: int = UNKNOWN_RANK
    framework: str = ""
    source: str = ""  # the source that read it
    file: str = ""  # the first file that belongs to it
    counts_whole_micros: bool = False  # times were recorded in microseconds, as in RunMetadata


@dataclass(frozen=True, slots=True, eq=False)
class Recordings:
    """One row per recording; labels are unique."""

    label: Strings
    host: Strings
    rank: Ints
    framework: Strings
    source: Strings
    file: Strings
    counts_whole_micros: Bools

    @classmethod
    def of(cls, rows: Sequence[Recording]) -> Recordings:
        return cls(
            label=Strings(row.label for row in rows),
            host=Strings(row.host for row in rows),
            rank=ints([row.rank for row in rows]),
            framework=Strings(row.framework for row in rows),
            source=Strings(row.source for row in rows),
            file=Strings(row.file for row in rows),
            counts_whole_micros=np.array([row.counts_whole_micros for row in rows], np.bool_),
        )

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, row: int) -> Recording:
        return Recording(
            self.label[row],
            self.host[row],
            int(self.rank[row]),
            self.framework[row],
            self.source[row],
            self.file[row],
            bool(self.counts_whole_micros[row]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """One row per recorded step, sorted by recording and number.

    Several recordings may have a step 5: the same step on different hosts.
    """

    recording: Ints
    number: Ints
    start_ns: Ints  # when the program began the step; `NO_TIME` if it was not recorded
    end_ns: Ints  # when the next step began, or the last one ended; `NO_TIME` if not recorded
    setup_ns: Ints  # in which the program compiled, loaded or tuned code, or reserved memory

    def __len__(self) -> int:
        return len(self.recording)

    def numbers(self) -> list[int]:
        """The distinct step numbers, ascending."""
        return sorted(set(self.number.tolist()))


class Chosen(NamedTuple):
    """The recorded steps that a question is about; by default all but those that warm up."""

    step: int = USUAL_STEPS
    recording: tuple[str, ...] = (".*",)  # regexes that match labels
    rank: tuple[int, ...] = ()  # empty: all

    @property
    def is_of_all_recordings(self) -> bool:
        return self.step < 0 and self.recording == (".*",) and not self.rank
