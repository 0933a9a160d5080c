"""The steps of all hosts side by side: what each host did in each step, in parts that add up.

Where the times of accelerators were recorded, these are the steps on the accelerators: a host that
waits for its accelerator does not compute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Floats, Ints, ints
from tfprof.measures.device_timeline import (
    COMMUNICATION,
    COMPUTING,
    COPIES,
    IDLE,
    IDLE_INPUT,
)
from tfprof.measures.device_windows import device_windows, main_window
from tfprof.measures.step_sums import step_nanos, step_totals
from tfprof.model.profile import ProfileColumns
from tfprof.model.step_sums import DeviceWindows, StepTotals, Window

# The parts of the time of a step, which add up to it.
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
    step_ns: Floats
    all_communication_ns: Floats  # also while other ops ran
    host_communication_ns: Floats  # of the host, while its accelerators were idle
    fetching_ns: Floats  # waiting for input, also while other ops ran
    parts: dict[str, Floats]  # by name in `PARTS`

    @property
    def own_ns(self) -> Floats:
        """The time that the host takes for its own work: without waiting for other hosts."""
        return self.step_ns - self.parts["communication"] - self.host_communication_ns


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
    parts = {name: values.copy() for name, values in _parts(totals).items()}
    everywhere, on_host = totals.communication_ns.copy(), np.zeros(len(totals), np.int64)
    windows = device_windows(profile)
    main = main_window(windows, Window.OWN)
    accelerated = np.searchsorted(totals.step, windows.step[main])
    for name, values in _device_parts(windows, main).items():
        parts[name][accelerated] = values
    everywhere[accelerated] = (
        windows.exposed_communication_ns + windows.overlapped_communication_ns
    )[main]
    on_host[accelerated] = windows.idle_communication_ns[main]
    return HostSteps(
        ints(recording),
        ints(number),
        ints(step),
        matrix(step_nanos(profile)),
        matrix(everywhere),
        matrix(on_host),
        matrix(totals.input_wait_ns),
        {name: matrix(values) for name, values in parts.items()},
    )


def _device_parts(windows: DeviceWindows, rows: Ints) -> dict[str, Ints]:
    """The parts of these windows of accelerators; they add up to them."""
    found = {name: getattr(windows, f"{name}_ns")[rows] for name in (*_COLUMNS, *IDLE)}
    idle = [found[name] for name in IDLE if name != IDLE_INPUT]
    return {
        "compute": ints(np.sum([found[name] for name in COMPUTING.values()], axis=0)),
        "communication": found[COMMUNICATION],
        "input_wait": found[IDLE_INPUT],
        "transfers": found[COPIES],
        "idle": ints(np.sum(idle, axis=0)),
    }


_COLUMNS = (*COMPUTING.values(), COMMUNICATION, COPIES)


def _parts(totals: StepTotals) -> dict[str, Ints]:
    """The parts of the wall time of each step on the host; they add up to it."""
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
