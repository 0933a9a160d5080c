"""What the runs of each step add up to. All times are nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

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
    kernels: Ints  # runs on accelerators
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


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """One row per run of an op in which several hosts or ranks take part, sorted by step."""

    step: Ints  # a row of `Steps`
    op: Ints
    order: Ints  # counts the runs of the op in its step from 0
    start_ns: Ints
    end_ns: Ints

    def __len__(self) -> int:
        return len(self.step)
