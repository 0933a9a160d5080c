"""Adds the runs of ops and kernels, copies, waits, memory, and the bounds of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tfprof.columns import Ints
from tfprof.model.builder import ProfileBuilder
from tfprof.model.collector import Runs
from tfprof.model.ops import Phase
from tfprof.sources.kineto import memory
from tfprof.sources.kineto.devices import TraceDevices
from tfprof.sources.kineto.host import LOADER, Role, own_times
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.kernels import kernel_runs
from tfprof.sources.kineto.messages import messages
from tfprof.sources.kineto.setup import setup_times
from tfprof.sources.kineto.sites import Sites
from tfprof.sources.setup_times import by_step


@dataclass(frozen=True, slots=True, eq=False)
class TraceRuns:
    """What ran in a recording; `ids` are the ops of the sites."""

    found: Interpreted
    ops: Sites
    ids: Ints
    devices: TraceDevices
    builder: ProfileBuilder
    recording: int

    def add(self, path: str) -> int:
        """Add everything that ran; returns the number of runs."""
        changes = memory.changes(self.found.trace, self.found.host, path)
        placed = self._placed()
        counted = self._add_runs(placed, changes)
        memory.add_allocations(
            self.builder,
            self.recording,
            self.found.trace,
            changes,
            host=self.found.host,
            phase=self.found.belonging.phase,
            op_of_call=np.append(self.ids, -1)[self.ops.of_row],
            is_placed=np.append(placed, -1)[self.ops.of_row] >= 0,
            devices=self.devices,
            marks=self.found.marks,
            tensors=self.found.tensors,
            path=path,
        )
        self._add_copies()
        self._add_messages()
        self._add_waits()
        self._add_bounds()
        return counted

    def _placed(self) -> Ints:
        """The accelerator of each site that has kernels or copies or is one, and -1 for others."""
        launched, ops = self.found.launched, self.ops
        number = self.found.trace.slices.device[launched.slice]
        device = _each(number, self.devices.accelerator)
        kernels = np.flatnonzero(launched.is_kernel)
        copies = np.flatnonzero(~launched.is_kernel & (launched.call >= 0))
        site = ops.of_activity[kernels]
        copying = ops.of_row[launched.origin(self.found.host, copies)]
        placed = np.full(len(ops) + 1, -1)
        for target, rows in ((copying, copies), (site, kernels), (ops.inside[site], kernels)):
            placed[target[::-1]] = device[rows[::-1]]  # the first one is written last
        return placed[:-1]

    def _add_runs(self, placed: Ints, changes: memory.Changes) -> int:
        """Add the runs of ops on threads, without those of ops inside, and kernels on streams."""
        found, ops = self.found, self.ops
        host, slices, base = found.host, found.trace.slices, found.trace.base_ns
        call = np.flatnonzero(ops.of_row >= 0)
        on_thread = placed[ops.of_row[call]]
        activity = np.flatnonzero(found.launched.is_kernel)
        event = found.launched.slice[activity]
        start, took = slices.start_ns[event], slices.duration_ns[event]
        own = own_times(host, call, found.belonging.phase[call] == Phase.COMMUNICATION)
        kernels = np.flatnonzero(ops.is_kernel)
        self.builder.place(self.recording, self.ids[kernels], placed[kernels])
        lane = self.devices.streams(slices, event)
        timed = Runs.timed(
            op=self.ids[np.concatenate((ops.of_row[call], ops.of_activity[activity]))],
            device=np.concatenate(
                (
                    np.where(on_thread >= 0, on_thread, self.devices.host),
                    lane,
                )
            ),
            start_ns=np.concatenate((host.start_ns[call], start)) + base,
            duration_ns=np.concatenate((own.first_ns, took)),
        )
        facts = memory.facts(changes, host, call, host.end_ns[call] + base)
        of_kernels = {"time_ns": start + took + base}
        nothing = np.zeros(len(event), np.int64)
        of_runs = {
            fact: np.concatenate((column, of_kernels.get(fact, nothing)))
            for fact, column in facts.items()
        }
        # A kernel belongs to the step in which it was launched.
        launched_at = found.launched.times(slices, host)[activity]
        steps = found.marks.of_time(np.concatenate((host.start_ns[call], launched_at)))
        runs = self.builder.add_runs(self.recording, steps, replace(timed, memory=of_runs))
        self.builder.runs.add_slots(
            op=timed.op[own.call],
            step=self.builder.runs.add_steps(self.recording, steps[own.call]),
            device=timed.device[own.call],
            start_ns=own.start_ns + base,
            duration_ns=own.duration_ns,
        )
        # A kernel without an op around it has the call that launched it as its op.
        launching = np.append(self.ids, -1)[ops.inside[ops.of_activity[activity]]]
        self.builder.runs.add_kernel_runs(
            kernel_runs(
                found.trace,
                event,
                op=launching,
                step=self.builder.runs.add_steps(self.recording, steps[len(call) :]),
                device=lane,
            )
        )
        return runs

    def _add_copies(self) -> None:
        """Add the copies and fills of accelerators, with the ops that launched them."""
        found, slices = self.found, self.found.trace.slices
        rows = np.flatnonzero(~found.launched.is_kernel)
        event, origin = found.launched.slice[rows], found.launched.origin(found.host, rows)
        start = slices.start_ns[event]
        # It belongs to the step in which its op was called.
        moment = np.where(origin >= 0, np.append(found.host.start_ns, 0)[origin], start)
        self.builder.runs.add_copies(
            slices.name.take(event),
            op=np.append(self.ids, -1)[np.append(self.ops.of_row, -1)[origin]],
            step=self.builder.runs.add_steps(self.recording, found.marks.of_time(moment)),
            device=_each(slices.device[event], self.devices.copies),
            start_ns=start + found.trace.base_ns,
            duration_ns=slices.duration_ns[event],
        )

    def _add_messages(self) -> None:
        """Add what the collectives of accelerators sent to whom."""
        found = self.found
        if not len(found.trace.collectives):
            return
        stated = messages(found.trace, found.host, found.launched)
        rows = stated.activity
        start = found.trace.slices.start_ns[found.launched.slice[rows]]
        steps = found.marks.of_time(found.launched.times(found.trace.slices, found.host)[rows])
        self.builder.runs.add_messages(
            stated.kind,
            stated.group,
            op=self.ids[self.ops.of_activity[rows]],
            step=self.builder.runs.add_steps(self.recording, steps),
            start_ns=start + found.trace.base_ns,
            ranks=stated.ranks,
            bytes=stated.bytes,
        )

    def _add_waits(self) -> None:
        """Add when the program waited for its data loader."""
        slices, host, marks = self.found.trace.slices, self.found.host, self.found.marks
        rows = host.rows(Role.ANNOTATION)
        is_loader = slices.name.values.starts_with(LOADER)
        rows = rows[is_loader[slices.name.codes[host.slice[rows]]]]
        number = marks.of_time(host.start_ns[rows])
        known = np.isin(number, list(self.builder.runs.step_numbers(self.recording)))
        rows, number = rows[known], number[known]
        self.builder.runs.add_waits(
            step=self.builder.runs.add_steps(self.recording, number),
            start_ns=host.start_ns[rows] + self.found.trace.base_ns,
            duration_ns=host.end_ns[rows] - host.start_ns[rows],
        )

    def _add_bounds(self) -> None:
        """Set when each step began and ended."""
        marks, base, runs = self.found.marks, self.found.trace.base_ns, self.builder.runs
        if not len(marks.start_ns):
            return
        ends = np.append(marks.start_ns[1:], max(marks.end_ns, int(marks.start_ns[-1])))
        known = np.isin(marks.number, list(runs.step_numbers(self.recording)))
        runs.set_bounds(
            runs.add_steps(self.recording, marks.number[known]),
            marks.start_ns[known] + base,
            ends[known] + base,
        )
        setup_ns = by_step(marks.start_ns, *setup_times(self.found.trace.slices))
        runs.set_setup(runs.add_steps(self.recording, marks.number[known]), setup_ns[known])


def _each(numbers: Ints, device: Callable[[int], int]) -> Ints:
    """The device of each number."""
    known, place = np.unique(numbers, return_inverse=True)
    return np.array([device(one) for one in known.tolist()], np.int64)[place]
