"""Which recordings are repeated runs of a program, and which are parts of one run.

Recordings of the same host and rank that have a step in common are of different runs. Those without
a common step are of one run, which was recorded now and then. The ranks of a run take its steps
together, so a step of all ranks is one step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Floats, Ints, ints
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns


class RunSteps(NamedTuple):
    """The steps of the runs of a program, ordered by run."""

    rows: Ints  # of `Steps`
    place: Ints  # which step of a run each of these rows belongs to
    run: Ints  # of each step

    @classmethod
    def of(cls, profile: ProfileColumns, rows: Ints) -> RunSteps:
        """The steps of runs that consist of these rows of `Steps`."""
        runs = runs_of_recordings(profile)[profile.steps.recording[rows]]
        keys = np.stack((runs, profile.steps.number[rows]))
        found, place = np.unique(keys, axis=1, return_inverse=True)
        return cls(rows, ints(place.ravel()), ints(found[0]))

    def of_step(self, step: int) -> Ints:
        """The rows of `Steps` that belong to a step, one for each rank that has it."""
        return ints(self.rows[self.place == step])

    def spread(self, most: int) -> RunSteps:
        """At most this many of the steps, from the first to the last."""
        if len(self.run) <= most:
            return self
        kept = np.linspace(0, len(self.run) - 1, most).round().astype(np.int64)
        rows = np.isin(self.place, kept)
        return RunSteps(self.rows[rows], np.searchsorted(kept, self.place[rows]), self.run[kept])

    def means(self, column: Ints) -> Floats:
        """For each step, the average over its rows of a column that has a number per row."""
        counts = np.bincount(self.place, minlength=len(self.run))
        sums = np.bincount(self.place, weights=column, minlength=len(self.run))
        return sums / np.maximum(counts, 1)


def runs_in(profile: ProfileColumns) -> int:
    """How many runs of a program were recorded."""
    return int(runs_of_recordings(profile).max(initial=-1)) + 1


@remembered
def runs_of_recordings(profile: ProfileColumns) -> Ints:
    """For each recording, which run of the program it is a part of."""
    recordings, steps = profile.recordings, profile.steps
    seen: dict[tuple[str, int], list[set[int]]] = {}  # the steps of the runs of each worker
    found = []
    for row, worker in enumerate(zip(recordings.host, recordings.rank.tolist(), strict=True)):
        numbers = set(steps.number[steps.recording == row].tolist())
        runs = seen.setdefault(worker, [])
        run = next((place for place, known in enumerate(runs) if not known & numbers), len(runs))
        if run == len(runs):
            runs.append(set())
        runs[run] |= numbers
        found.append(run)
    return ints(found)
