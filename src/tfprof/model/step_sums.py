"""What the runs of each step add up to. All times are nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tfprof.columns import Coded, Ints


@dataclass(frozen=True, slots=True, eq=False)
class StepTotals:
    """One row per step with recorded times, ascending.

    The busy time is divided by the phase of the ops that ran, and transfers between devices. While
    several runs are active, each gets an equal share. `communication_ns` is the time in which a
    collective ran, `exposed_ns` the part of it in which nothing else did.
    """

    step: Ints  # a row of `Steps`
    start_ns: Ints
    wall_ns: Ints
    busy_ns: Ints  # in which at least one op or transfer ran
    input_wait_ns: Ints  # waiting for the next input, also while ops ran
    idle_input_wait_ns: Ints  # the part of it in which no op ran
    forward_ns: Ints
    backward_ns: Ints
    optimizer_ns: Ints
    input_ns: Ints
    other_ns: Ints
    busy_communication_ns: Ints
    transfers_ns: Ints
    communication_ns: Ints
    exposed_ns: Ints
    ops: Ints  # runs of ops, without iterators
    kernels: Ints  # that the step launched on accelerators
    op_time_ns: Ints
    parallel_ns: Ints
    pipeline_ns: Ints
    outside_ns: Ints  # of runs that belong to the step but lasted longer than it
    early_ns: Ints  # how long ops ran before the program began the first recorded step

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTimes:
    """One row per step and device that was busy in it, sorted by step, then name."""

    step: Ints  # a row of `Steps`
    device: Coded  # its name
    busy_ns: Ints

    def __len__(self) -> int:
        return len(self.step)


class Window(IntEnum):
    """Which time of an accelerator a row of `DeviceWindows` is about."""

    # From the end of what the steps before launched, or the begin of the step if that is later.
    OWN = 0
    # From the begin of the step on the host to the begin of the next one, whoever launched it.
    HOST = 1
    # From the first start of its kernels and transfers to the last end; `step` is the first one.
    WHOLE = 2


@dataclass(frozen=True, slots=True, eq=False)
class DeviceWindows:
    """One row per step, accelerator and `Window`, sorted by them; parts add up to the window.

    If a recording has several accelerators, there are also rows for all of them together, whose
    name is empty: these compute while any of them computes.
    """

    step: Ints  # a row of `Steps`
    device: Coded  # the name of the accelerator
    window: Ints
    begin_ns: Ints
    finish_ns: Ints
    forward_ns: Ints  # computing, by the phase of the ops
    backward_ns: Ints
    optimizer_ns: Ints
    input_ns: Ints
    other_ns: Ints
    exposed_communication_ns: Ints  # while nothing computed
    exposed_copies_ns: Ints  # while nothing computed or communicated
    idle_input_ns: Ints  # by what the host did meanwhile
    idle_communication_ns: Ints
    idle_transfers_ns: Ints
    idle_waiting_ns: Ints
    idle_forward_ns: Ints
    idle_backward_ns: Ints
    idle_optimizer_ns: Ints
    idle_other_ns: Ints
    idle_nothing_ns: Ints
    unassigned_ns: Ints  # outside of the recorded time of the host
    overlapped_communication_ns: Ints  # while something computed; not a part

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceWork:
    """One row per step and accelerator: what the step launched there, wherever it ran.

    Times are added up, so they exceed the step if several kernels run at once.
    """

    step: Ints  # a row of `Steps`
    device: Coded  # the name of the accelerator
    kernels: Ints
    forward_ns: Ints  # kernels, by the phase of their ops
    backward_ns: Ints
    optimizer_ns: Ints
    input_ns: Ints
    other_ns: Ints
    communication_ns: Ints
    transfers: Ints  # copies and fills
    transfer_forward_ns: Ints
    transfer_backward_ns: Ints
    transfer_optimizer_ns: Ints
    transfer_input_ns: Ints
    transfer_other_ns: Ints
    transfer_communication_ns: Ints
    transfer_unattributed_ns: Ints  # the op is unknown

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """One row per run of an op in which several hosts or ranks take part, sorted by step."""

    step: Ints  # a row of `Steps`
    op: Ints
    order: Ints  # counts the runs of the op and group in its step from 0
    start_ns: Ints
    end_ns: Ints
    kind: Coded  # such as `allreduce`; empty if unknown
    group: Coded  # who takes part; empty if unknown
    ranks: Ints  # how many take part; 0 if unknown
    bytes: Ints  # of the whole message; 0 if unknown

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True, slots=True, eq=False)
class ExposedTimes:
    """One row per stretch of a step in which only collectives ran, sorted by step, then time."""

    step: Ints  # a row of `Steps`
    start_ns: Ints
    end_ns: Ints

    def __len__(self) -> int:
        return len(self.step)
