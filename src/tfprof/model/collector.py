"""Collects recorded runs, memory and transfers, and builds their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tfprof.columns import (
    Bools,
    Coded,
    Ints,
    Ragged,
    distinct,
    ints,
    joined,
    offsets_of,
    rows_where,
)
from tfprof.kernels.rows import grouped
from tfprof.model.clock import NO_TIME, limits_of
from tfprof.model.devices import Devices
from tfprof.model.executions import (
    MEMORY_FACTS,
    AllocatorEvents,
    AllocatorUses,
    Copies,
    Executions,
    MemoryUse,
    Messages,
    OtherKernels,
    OutputMemory,
    Purpose,
    Records,
    Waits,
)
from tfprof.model.kernel_runs import KernelRuns
from tfprof.model.record_finder import RecordFinder, in_order, record_keys
from tfprof.model.recordings import Steps

_COPY_COLUMNS = ("device", "start_ns", "duration_ns")


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of ops in the order of recording; a start may be `NO_TIME`.

    `op` has ids from `ProfileBuilder.ids`, and `memory` a column for each of `MEMORY_FACTS`.
    `output_run` and `allocator_run` are rows of runs, `allocation_allocator` rows of allocators.
    """

    op: Ints
    device: Ints
    start_ns: Ints
    duration_ns: Ints
    memory: Mapping[str, Ints]
    output_run: Ints
    output_slot: Ints
    output_bytes: Ints
    output_address: Ints
    allocator_run: Ints
    allocator_name: Coded
    allocator_level: Ints  # bytes in use in the whole allocator when the run ended
    allocator_is_accelerator: Bools
    allocation_allocator: Ints
    allocation_ns: Ints
    allocation_bytes: Ints

    @classmethod
    def timed(cls, *, op: Ints, device: Ints, start_ns: Ints, duration_ns: Ints) -> Runs:
        """Runs with times but without memory."""
        nothing = ints([])
        outputs = dict.fromkeys(("run", "slot", "bytes", "address"), nothing)
        allocations = dict.fromkeys(("allocator", "ns", "bytes"), nothing)
        return cls(
            op=op,
            device=device,
            start_ns=start_ns,
            duration_ns=duration_ns,
            memory={
                fact: start_ns + duration_ns if fact == "time_ns" else np.zeros(len(op), np.int64)
                for fact in MEMORY_FACTS
            },
            **{f"output_{name}": column for name, column in outputs.items()},
            allocator_run=nothing,
            allocator_name=Coded.of([]),
            allocator_level=nothing,
            allocator_is_accelerator=np.zeros(0, np.bool_),
            **{f"allocation_{name}": column for name, column in allocations.items()},
        )


@dataclass(slots=True)
class _Collected:
    """Growing columns: lists of pieces, which are joined when the profile is built."""

    limited: Callable[[str, Ints], Ints]  # replaces impossible times
    pieces: dict[str, list[Ints]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, **columns: Ints) -> None:
        for name, column in columns.items():
            piece = self.limited(name, np.asarray(column, np.int64))
            self.pieces.setdefault(name, []).append(piece)
            self.counts[name] += len(piece)

    def column(self, name: str) -> Ints:
        return joined(self.pieces.get(name, []))

    def release(self, name: str) -> Ints:
        """The column, which is dropped here to avoid a second copy of everything in memory."""
        return joined(self.pieces.pop(name, []))

    def count(self, name: str) -> int:
        return self.counts[name]


class Recorded(NamedTuple):
    """The finished columns."""

    steps: Steps
    records: Records
    executions: Executions
    memory: MemoryUse
    output_memory: OutputMemory
    allocator_uses: AllocatorUses
    allocator_events: AllocatorEvents
    copies: Copies
    waits: Waits
    messages: Messages
    other_kernels: OtherKernels
    kernel_runs: KernelRuns


class RunCollector:
    """Collects runs; ops are ids of `ProfileBuilder`, steps are ids from `add_step`."""

    def __init__(self) -> None:
        self._steps: dict[tuple[int, int], int] = {}
        self._numbers: dict[int, dict[int, None]] = {}
        self._bounds: dict[int, tuple[int, int]] = {}
        self._setup_ns: dict[int, int] = {}
        self.has_impossible_times = False
        self._sightings = _Collected(self._limited)
        self._slots = _Collected(self._limited)
        self._uses = _Collected(self._limited)
        self._output_memory = _Collected(self._limited)
        self._allocators = _Collected(self._limited)
        self._allocator_names: list[Coded] = []
        self._allocations = _Collected(self._limited)
        self._copies = _Collected(self._limited)
        self._copy_names: list[Coded] = []
        self._waits = _Collected(self._limited)
        self._messages = _Collected(self._limited)
        self._message_kinds: list[Coded] = []
        self._message_groups: list[Coded] = []
        self._kernels = _Collected(self._limited)
        self._kernel_kinds: list[Coded] = []
        self._kernel_runs: list[KernelRuns] = []

    def _limited(self, name: str, column: Ints) -> Ints:
        """The column with impossible times replaced by the first or last possible one."""
        limits = limits_of(name)
        if limits is None or limits.holds(column):
            return column
        self.has_impossible_times = True
        return np.clip(column, *limits)

    def add_step(self, recording: int, number: int) -> int:
        """The id of a step, added if new."""
        self._numbers.setdefault(recording, {})[number] = None
        return self._steps.setdefault((recording, number), len(self._steps))

    def add_steps(self, recording: int, numbers: Ints) -> Ints:
        """The ids of the steps with these numbers, added if new."""
        known, place = np.unique(numbers, return_inverse=True)
        ids = [self.add_step(recording, number) for number in known.tolist()]
        return ints(ids)[place]

    def set_bounds(self, steps: Ints, start_ns: Ints, end_ns: Ints) -> None:
        """Set when the program began and ended these steps."""
        limited = self._limited("start_ns", start_ns), self._limited("end_ns", end_ns)
        bounds = zip(*(column.tolist() for column in limited), strict=True)
        self._bounds |= dict(zip(steps.tolist(), bounds, strict=True))

    def set_setup(self, steps: Ints, nanos: Ints) -> None:
        """Set how long the program set things up in these steps; see `Steps.setup_ns`."""
        self._setup_ns |= dict(zip(steps.tolist(), nanos.tolist(), strict=True))

    def step_keys(self) -> Iterable[tuple[int, int]]:
        """The recording and number of each step, by id."""
        return self._steps

    def step_numbers(self, recording: int) -> dict[int, None]:
        """The numbers of the steps added to a recording so far, in that order, as keys."""
        return self._numbers.get(recording, {})

    def add_runs(self, steps: Ints, runs: Runs, devices: Devices, home: Ints) -> int:
        """Add runs, dropping those of an op on a second device that ops can be placed on.

        `steps` has the step id of each run, `home` the device on which its op is placed. Returns
        the number of runs counted.
        """
        on_placement = _flags(devices.is_placement, runs.device)
        on_lane = _flags(devices.is_accelerator_lane, runs.device)
        is_kept = ~on_placement | (home == runs.device)
        is_timed = is_kept & (runs.start_ns != NO_TIME)
        kept = rows_where(is_kept)
        # Time on a lane is not a separate run, even if the lane is named like a device.
        is_run = is_timed & on_placement & ~on_lane
        self.add_sightings(
            op=runs.op[kept],
            step=steps[kept],
            device=runs.device[kept],
            start_ns=runs.start_ns[kept],
            end_ns=np.where(is_timed, runs.start_ns + runs.duration_ns, 0)[kept],
            runs=is_run[kept],
        )
        timed = rows_where(is_timed & (on_placement | on_lane))
        self.add_slots(
            op=runs.op[timed],
            step=steps[timed],
            device=runs.device[timed],
            start_ns=runs.start_ns[timed],
            duration_ns=runs.duration_ns[timed],
        )
        self._add_memory(steps, runs, is_timed & on_placement)
        self._add_allocators(steps, runs, is_timed & on_placement)
        return int(np.count_nonzero(is_run))

    def _add_memory(self, steps: Ints, runs: Runs, is_counted: Bools) -> None:
        counted = rows_where(is_counted)
        first = self._uses.count("op")
        op = runs.op[counted]
        self.add_memory(
            op=op,
            step=steps[counted],
            **{fact: runs.memory[fact][counted] for fact in MEMORY_FACTS},
        )
        place = np.cumsum(is_counted) - 1 + first
        kept = rows_where(is_counted[runs.output_run])
        self.add_output_memory(
            use=place[runs.output_run[kept]],
            slot=runs.output_slot[kept],
            bytes=runs.output_bytes[kept],
            address=runs.output_address[kept],
        )

    def _add_allocators(self, steps: Ints, runs: Runs, is_counted: Bools) -> None:
        run = runs.allocator_run
        first = self.add_allocators(
            runs.allocator_name,
            is_counted[run] & runs.allocator_is_accelerator,
            op=runs.op[run],
            step=steps[run],
            device=runs.device[run],
            time_ns=runs.memory["time_ns"][run],
            level=runs.allocator_level,
        )
        self.add_allocations(
            use=runs.allocation_allocator + first,
            time_ns=runs.allocation_ns,
            bytes=runs.allocation_bytes,
        )

    def add_sightings(self, **columns: Ints) -> None:
        """Add columns op, step, device, start_ns, end_ns, runs; rows create or extend records."""
        self._sightings.add(**columns)

    def add_slots(self, **columns: Ints) -> None:
        """Add columns op, step, device, start_ns, duration_ns of runs whose ops were sighted."""
        self._slots.add(**columns)

    def add_memory(self, **columns: Ints) -> None:
        """Add columns op, step and `MEMORY_FACTS` of runs whose ops were sighted."""
        self._uses.add(**columns)

    def memory_count(self) -> int:
        """The number of rows added by `add_memory` so far."""
        return self._uses.count("op")

    def add_output_memory(self, **columns: Ints) -> None:
        """Add columns use, slot, bytes, address; `use` is a row added by `add_memory`."""
        self._output_memory.add(**columns)

    def add_allocators(self, names: Coded, is_counted: Bools, **columns: Ints) -> int:
        """Add columns op, step, device, time_ns, level, and return the number of the first row.

        The ops of counted rows must have been sighted in that step. A column `purpose` is optional.
        """
        first = self._allocators.count("op")
        columns.setdefault("purpose", np.full(len(is_counted), Purpose.UNKNOWN))
        self._allocator_names.append(Coded(names.codes, names.values.packed()))
        self._allocators.add(is_counted=is_counted.astype(np.int64), **columns)
        return first

    def allocator_names(self) -> set[str]:
        """The names of the allocators that were added."""
        return {name for names in self._allocator_names for name in names.values}

    def add_allocations(self, **columns: Ints) -> None:
        """Add columns use, time_ns, bytes; `use` is a row added by `add_allocators`."""
        self._allocations.add(**columns)

    def add_copies(self, name: Coded, **columns: Ints) -> None:
        """Add columns op, step, device, start_ns, duration_ns of transfers; the steps must exist.

        The op, if it is not -1, must have been seen in that step.
        """
        self._copy_names.append(Coded(name.codes, name.values.packed()))
        self._copies.add(**columns)

    def add_waits(self, **columns: Ints) -> None:
        """Add columns step, start_ns, duration_ns of waits for input; the steps must exist."""
        self._waits.add(**columns)

    def add_messages(self, kind: Coded, group: Coded, **columns: Ints) -> None:
        """Add columns op, step, start_ns, ranks, bytes of runs of collectives."""
        self._message_kinds.append(Coded(kind.codes, kind.values.packed()))
        self._message_groups.append(Coded(group.codes, group.values.packed()))
        self._messages.add(**columns)

    def add_kernels(self, kind: Coded, **columns: Ints) -> None:
        """Add columns op, recording of ops that ran as another kind than their own."""
        self._kernel_kinds.append(kind)
        self._kernels.add(**columns)

    def add_kernel_runs(self, runs: KernelRuns) -> None:
        """Add launches of kernels; their ops and steps are ids, and the steps must exist."""
        self._kernel_runs.append(runs.packed())

    def build(self, row_of: Ints) -> Recorded:
        """The finished columns; `row_of` maps op ids to rows."""
        ordered = sorted(self._steps)
        step_row = np.empty(len(ordered), np.int64)
        step_row[[self._steps[key] for key in ordered]] = np.arange(len(ordered))
        records, record_of = self._records(row_of, step_row)
        slots, _ = _by_record(self._slots, row_of, record_of, ("device", "start_ns", "duration_ns"))
        uses, use_of = _by_record(self._uses, row_of, record_of, MEMORY_FACTS)
        outputs, events = self._output_memory, self._allocations
        return Recorded(
            steps=self._step_columns(ordered),
            records=records,
            executions=Executions(**slots),
            memory=MemoryUse(**uses),
            output_memory=OutputMemory(
                use=use_of[outputs.column("use")],
                slot=outputs.release("slot"),
                bytes=outputs.release("bytes"),
                address=outputs.release("address"),
            ),
            allocator_uses=self._allocator_uses(row_of, record_of),
            allocator_events=AllocatorEvents(
                *(events.release(name) for name in ("use", "time_ns", "bytes"))
            ),
            copies=self._transfers(row_of, record_of),
            waits=Waits(
                step=step_row[self._waits.release("step")],
                start_ns=self._waits.release("start_ns"),
                duration_ns=self._waits.release("duration_ns"),
            ),
            messages=Messages(
                op=row_of[self._messages.release("op")],
                step=step_row[self._messages.release("step")],
                start_ns=self._messages.release("start_ns"),
                kind=Coded.joined(self._message_kinds),
                group=Coded.joined(self._message_groups),
                ranks=self._messages.release("ranks"),
                bytes=self._messages.release("bytes"),
            ),
            other_kernels=self._other_kernels(row_of),
            kernel_runs=KernelRuns.joined(self._kernel_runs, row_of, step_row),
        )

    def _other_kernels(self, row_of: Ints) -> OtherKernels:
        op, recording = row_of[self._kernels.release("op")], self._kernels.release("recording")
        order = np.lexsort((recording, op))
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (np.diff(op[order]) != 0) | (np.diff(recording[order]) != 0)
        rows = order[is_first]
        kind = Coded.joined(self._kernel_kinds).take(rows)
        return OtherKernels(op[rows], recording[rows], kind)

    def _step_columns(self, ordered: Sequence[tuple[int, int]]) -> Steps:
        unknown = NO_TIME, NO_TIME
        rows = [
            (
                *key,
                *self._bounds.get(step := self._steps[key], unknown),
                self._setup_ns.get(step, 0),
            )
            for key in ordered
        ]
        return Steps(*(ints([row[place] for row in rows]) for place in range(5)))

    def _allocator_uses(self, row_of: Ints, record_of: RecordFinder) -> AllocatorUses:
        rows = self._allocators
        op, step = row_of[rows.release("op")], rows.release("step")
        counted = np.flatnonzero(rows.release("is_counted"))
        record = np.full(len(op), -1)
        record[counted] = record_of(op[counted], step[counted])
        return AllocatorUses(
            op=op,
            step=record_of.step_row[step],
            device=rows.release("device"),
            allocator=Coded.joined(self._allocator_names),
            time_ns=rows.release("time_ns"),
            level=rows.release("level"),
            record=record,
            purpose=rows.release("purpose"),
        )

    def _transfers(self, row_of: Ints, record_of: RecordFinder) -> Copies:
        op, step = self._copies.release("op"), self._copies.release("step")
        known = np.flatnonzero(op >= 0)
        record = np.full(len(op), -1)
        record[known] = record_of(row_of[op[known]], step[known])
        return Copies(
            record=record,
            step=record_of.step_row[step],
            name=Coded.joined(self._copy_names),
            **{part: self._copies.release(part) for part in _COPY_COLUMNS},
        )

    def _records(self, row_of: Ints, step_row: Ints) -> tuple[Records, RecordFinder]:
        """The records, and a finder for the record of an op and step."""
        seen = self._sightings
        op, step = row_of[seen.column("op")], seen.column("step")
        keys = record_keys(op, step, step_row)
        order = in_order(keys, len(row_of) * len(step_row))
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate((np.ones(len(keys[:1]), bool), np.diff(keys) != 0)))
        start = seen.column("start_ns")[order]
        never = np.iinfo(np.int64).max
        first = _reduced(np.minimum, np.where(start == NO_TIME, never, start), starts)
        owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
        records = Records(
            op=op[order[starts]],
            step=step_row[step[order[starts]]],
            runs=_reduced(np.add, seen.column("runs")[order], starts),
            first_start_ns=np.where(first == never, NO_TIME, first),
            last_end_ns=np.maximum(_reduced(np.maximum, seen.column("end_ns")[order], starts), 0),
            devices=_distinct_by_owner(owner, seen.column("device")[order], len(starts)),
        )
        return records, RecordFinder.of(keys[starts], step_row, len(row_of))


def _by_record(
    rows: _Collected, row_of: Ints, record_of: RecordFinder, names: tuple[str, ...]
) -> tuple[dict[str, Ints], Ints]:
    """The columns `names` sorted by record, and the new position of each row."""
    record = record_of(row_of[rows.column("op")], rows.column("step"))
    order = grouped(record, len(record_of.keys))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    columns = {name: rows.release(name)[order] for name in names}
    return {"record": record[order], **columns}, place


def _reduced(fold: np.ufunc, column: Ints, starts: Ints) -> Ints:
    """`column` reduced by `fold` over the rows from each start to the next."""
    return fold.reduceat(column, starts) if len(starts) else np.zeros(0, np.int64)


def _flags(of_device: Bools, device: Ints) -> Bools:
    """The flag of each run's device."""
    return of_device[device] if len(of_device) else np.zeros(len(device), np.bool_)


def _distinct_by_owner(owner: Ints, value: Ints, owners: int) -> Ragged:
    """The distinct values of each owner, in ascending order and without -1."""
    kept = value >= 0
    if len(owner) == owners and kept.all():
        return Ragged(np.arange(owners + 1), value)  # one value each
    width = int(value.max(initial=0)) + 1
    owner, value = np.divmod(distinct(owner[kept] * width + value[kept]), width)
    return Ragged(offsets_of(np.bincount(owner, minlength=owners)), value)
