"""The steps of all hosts side by side: what each host did in each step, in parts that add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Floats, Ints, ints
from tfprof.measures.step_sums import step_totals
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import StepTotals

# The parts of the wall time of a step, which add up to it.
PARTS = ("compute", "communication", "input_wait", "transfers", "idle")


@dataclass(frozen=True, slots=True, eq=False)
class HostSteps:
    """Rows of matrices are recordings, columns are step numbers; NaN if it was not recorded.

    `communication` is the time in which only collectives ran. `input_wait` is waiting for input
    while nothing else ran, and the time of ops that fetch it.
    """

    recording: Ints  # of each row
    number: Ints  # of each column
    step: Ints  # the row of `Steps` of each cell, -1 if it was not recorded
    wall_ns: Floats
    all_communication_ns: Floats  # also while other ops ran
    parts: dict[str, Floats]  # by name in `PARTS`

    @property
    def own_ns(self) -> Floats:
        """The time that the host takes for its own work: without waiting for other hosts."""
        return self.wall_ns - self.parts["communication"]


def host_steps(profile: ProfileColumns, steps: Ints) -> HostSteps:
    """The steps in these rows of `Steps`, as far as they have times."""
    totals = step_totals(profile)
    places = np.flatnonzero(np.isin(totals.step, steps))
    row = totals.step[places]
    recording, at = np.unique(profile.steps.recording[row], return_inverse=True)
    number, column = np.unique(profile.steps.number[row], return_inverse=True)

    def matrix(values: Ints) -> Floats:
        found = np.full((len(recording), len(number)), np.nan)
        found[at, column] = values[places]
        return found

    step = np.full((len(recording), len(number)), -1)
    step[at, column] = row
    return HostSteps(
        ints(recording),
        ints(number),
        ints(step),
        matrix(totals.wall_ns),
        matrix(totals.communication_ns),
        {name: matrix(values) for name, values in step_parts(totals).items()},
    )


def step_parts(totals: StepTotals) -> dict[str, Ints]:
    """The parts of the wall time of each step; they add up to it."""
    rest = totals.busy_ns - totals.exposed_ns
    # Parts of the busy time are rounded, so their sum may exceed what is left by a nanosecond.
    fetching = np.minimum(totals.input_ns, rest)
    copying = np.minimum(totals.transfers_ns, rest - fetching)
    return {
        "compute": rest - fetching - copying,
        "communication": totals.exposed_ns,
        "input_wait": fetching + totals.idle_input_wait_ns,
        "transfers": copying,
        "idle": totals.wall_ns - totals.busy_ns - totals.idle_input_wait_ns,
    }
