"""RunMetadata files: the runs of ops in one step, and their memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Shapes, Strings, constant, offsets_of, rows_where
from tfprof.formats.run_metadata import RUN_METADATA, RunColumns, decode
from tfprof.metrics import Need
from tfprof.model.builder import ProfileBuilder
from tfprof.model.clock import (
    NANOS_PER_MICRO,
    durations_of_micros,
    micros_of_nanos,
    nanos_of_micros,
    starts_of_micros,
)
from tfprof.model.collector import RunCollector, Runs
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import MOST_OUTPUTS, OutputShapes
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary
from tfprof.sources.tf_devices import add_device, is_copy_lane, misses_accelerator_stream
from tfprof.sources.tf_names import TENSORFLOW_NAMES
from tfprof.sources.tf_workers import recording_of
from tfprof.sums import added, group_sums

# Entries of the runtime that belong to no op of the model.
_RECEIVING = "RecvTensor"  # receives a tensor from another task
_NOT_OPS = frozenset({_RECEIVING, "_SOURCE"})


def read(file: InputFile) -> Decoded[RunColumns]:
    """The step as columns."""
    return Decoded.of(file.content.records(RUN_METADATA), decode)


def add(found: Decoded[RunColumns], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the runs of a step; for ops that are not in a graph only the name is known.

    A step without a number comes after the last step of its recording.
    """
    records, columns = found
    if not columns.has_step_stats:
        text = (
            f"{records.path} contains no step statistics and is skipped; record the step with "
            "RunOptions(trace_level=FULL_TRACE)."
        )
        builder.notes.append(Note(text, Subject.TIME | Subject.MEMORY))
        builder.remedies[Need.RUNS] = f"{file.source.title} with step statistics"
        return summary(file, ops=0, steps=0, runs=0)
    row = recording_of(builder, records.path, columns.devices, file.step, file.recording)
    step = next_step(builder.runs.step_numbers(row)) if file.step is None else file.step
    ops = _identify(columns.name, builder)
    if misses_accelerator_stream(columns.devices):
        builder.mark_lacks_accelerator_time()
    _see_outputs(columns, ops, builder)
    _note_untimed(records.path, columns, ops, builder)
    _note_unowned(records.path, columns, ops, builder)
    times = _Times.of(columns)
    codes = np.array([add_device(builder, row, name) for name in columns.devices], np.int64)
    runs = builder.add_runs(row, step, _runs(columns, times, ops, codes))
    _add_copies(columns, times, codes, builder.runs, builder.runs.add_step(row, step))
    known = int(np.count_nonzero(np.bincount(ops[ops >= 0])))
    devices = (name.lower() for name in columns.devices)
    return summary(file, devices, step=step, ops=known, steps=1, runs=runs)


def next_step(numbers: dict[int, None]) -> int:
    """The first free number after the last of `numbers`."""
    step = next(reversed(numbers)) + 1 if numbers else 0
    while step in numbers:
        step += 1
    return step


class _Times(NamedTuple):
    """The start time of each entry, and the time until its op ended."""

    start_ns: Ints
    elapsed_ns: Ints
    is_exact: Bools  # measured in nanoseconds, not in whole microseconds

    @classmethod
    def of(cls, columns: RunColumns) -> _Times:
        """The recorded nanoseconds if they agree with the microseconds, otherwise the latter."""
        micros, nanos = columns.start_micros, columns.start_nanos
        start, elapsed = starts_of_micros(micros), durations_of_micros(columns.end_rel_micros)
        if not nanos.any():
            return cls(start, elapsed, np.zeros(len(start), np.bool_))
        end = micros_of_nanos(nanos + columns.end_rel_nanos)
        is_exact = (micros != 0) & (micros_of_nanos(nanos) == micros)
        is_exact &= end - micros == columns.end_rel_micros
        is_exact &= _are_close(nanos, start) & _are_close(columns.end_rel_nanos, elapsed)
        return cls(
            np.where(is_exact, nanos, start),
            np.where(is_exact, columns.end_rel_nanos, elapsed),
            is_exact,
        )

    def durations(self) -> Ints:
        """How long each entry ran; a run of 0 microseconds counts as 1."""
        is_short = (self.elapsed_ns == 0) & ~self.is_exact
        return np.where(is_short, NANOS_PER_MICRO, self.elapsed_ns)


def _are_close(exact_ns: Ints, nanos: Ints) -> Bools:
    """Which times differ by less than a microsecond; those that were limited do not."""
    return (exact_ns - nanos < NANOS_PER_MICRO) & (exact_ns - nanos > -NANOS_PER_MICRO)


def _identify(names: Strings, builder: ProfileBuilder) -> Ints:
    """The op of each entry, -1 for entries that are dropped."""
    ops = builder.ids(names).copy()
    unknown = np.flatnonzero(ops < 0)
    builder.mark_covered(ops[ops >= 0])
    kept = [row for row in unknown.tolist() if not _is_bookkeeping(names[row])]
    ops[kept] = builder.ensure_ops([names[row] for row in kept], TENSORFLOW_NAMES)
    # As in the original tool, an op that is only known from runs is covered by its second run.
    _, first = np.unique(ops[kept], return_index=True)
    builder.mark_covered(np.delete(ops[kept], first))
    return ops


def _is_bookkeeping(name: str) -> bool:
    return name in _NOT_OPS or "MEMCPY" in name


def _note_untimed(path: str, columns: RunColumns, ops: Ints, builder: ProfileBuilder) -> None:
    """Note how many entries are not counted because they have no start time."""
    untimed = int(((ops >= 0) & (columns.start_micros == 0)).sum())
    if untimed:
        entries, their = ("1 entry", "its") if untimed == 1 else (f"{untimed:,} entries", "their")
        text = (
            f"{path} has {entries} without a start time; {their} time and memory are not counted."
        )
        builder.notes.append(Note(text, Subject.TIME | Subject.MEMORY))


def _note_unowned(path: str, columns: RunColumns, ops: Ints, builder: ProfileBuilder) -> None:
    """Note how many allocations belong to no op of the model."""
    unowned = int((ops[columns.allocators.entry[columns.allocations.allocator]] < 0).sum())
    if unowned:
        records = "1 allocation" if unowned == 1 else f"{unowned:,} allocations"
        are = "is" if unowned == 1 else "are"
        text = f"{path}: {records} outside ops {are} not counted."
        builder.notes.append(Note(text, Subject.MEMORY))


def _see_outputs(columns: RunColumns, ops: Ints, builder: ProfileBuilder) -> None:
    """Add the output shapes in the first entry of each op, by slot."""
    outputs = columns.outputs
    op = ops[outputs.entry]
    rows = np.flatnonzero((op >= 0) & (outputs.slot >= 0) & (outputs.slot < MOST_OUTPUTS))
    first_entry = np.zeros(len(builder), np.int64)
    first_entry[op[rows[::-1]]] = outputs.entry[rows[::-1]]
    rows = rows[outputs.entry[rows] == first_entry[op[rows]]]
    op, slot = op[rows], outputs.slot[rows]
    counts = np.zeros(len(builder), np.int64)
    np.maximum.at(counts, op, slot + 1)
    offsets = offsets_of(counts)
    # Outputs that were not produced, such as one side of a Switch, are not recorded.
    place = np.full(int(offsets[-1]), len(outputs.shape))
    place[offsets[op] + slot] = rows
    shapes = Shapes.joined([outputs.shape, Shapes.of([None])]).take(place)
    seen = np.flatnonzero(counts)
    builder.see_outputs(seen, OutputShapes(offsets_of(counts[seen]), shapes))


def _runs(columns: RunColumns, times: _Times, ops: Ints, codes: Ints) -> Runs:
    device = codes[columns.device]
    is_kept = ops >= 0
    kept = rows_where(is_kept)
    place = np.cumsum(is_kept) - 1  # the position of each entry among the kept ones
    outputs, allocators, allocations = columns.outputs, columns.allocators, columns.allocations
    described = rows_where(is_kept[outputs.entry] & (outputs.has_memory != 0))
    size = np.maximum(outputs.allocated, outputs.requested)
    gpu_names = np.array(["GPU" in name for name in allocators.name.values], np.bool_)
    on_gpu = gpu_names[allocators.name.codes] if len(gpu_names) else np.zeros(0, np.bool_)
    # Most runs use no memory but still list the allocators of their device.
    is_used = np.bincount(allocations.allocator, minlength=len(allocators.entry)) > 0
    is_used |= allocators.in_use != 0
    is_used &= (is_kept & (columns.start_micros != 0))[allocators.entry]
    used = rows_where(is_used)
    shown = rows_where(is_used[allocations.allocator])
    memory = _memory(columns, times, _is_host(columns), on_gpu)
    return Runs(
        op=ops[kept],
        device=device[kept],
        start_ns=times.start_ns[kept],
        duration_ns=times.durations()[kept],
        memory={fact: column[kept] for fact, column in memory.items()},
        output_run=place[outputs.entry[described]],
        output_slot=outputs.slot[described],
        output_bytes=size[described],
        output_address=outputs.address[described],
        allocator_run=place[allocators.entry[used]],
        allocator_name=Coded(allocators.name.codes[used], allocators.name.values),
        allocator_level=allocators.in_use[used],
        allocator_is_accelerator=on_gpu[used],
        allocation_allocator=(np.cumsum(is_used) - 1)[allocations.allocator[shown]],
        allocation_ns=nanos_of_micros(allocations.micros[shown]),
        allocation_bytes=allocations.bytes[shown],
    )


def _add_copies(
    columns: RunColumns, times: _Times, codes: Ints, runs: RunCollector, step: int
) -> None:
    """Add the transfers, whose ops are unknown and which do not add to the time of ops."""
    on_lane = np.array([is_copy_lane(name) for name in columns.devices], np.bool_)
    is_received = columns.name.starts_with(_RECEIVING) & (columns.name.lengths == len(_RECEIVING))
    copied = np.flatnonzero((on_lane[columns.device] | is_received) & (columns.start_micros != 0))
    names = columns.name.take(copied)
    runs.add_copies(
        Coded(np.arange(len(names)), names),
        op=constant(-1, len(names)),
        step=constant(step, len(names)),
        device=codes[columns.device[copied]],
        start_ns=times.start_ns[copied],
        duration_ns=times.elapsed_ns[copied],
    )


def _is_host(columns: RunColumns) -> Bools:
    flags = np.array(["cpu" in name.lower() for name in columns.devices], np.bool_)
    return flags[columns.device]


def _memory(columns: RunColumns, times: _Times, is_host: Bools, on_gpu: Bools) -> dict[str, Ints]:
    """The bytes of each entry: as reported by allocators, plus memory kept by the kernel."""
    allocators, outputs = columns.allocators, columns.outputs
    temp, persistent = columns.temp_bytes, columns.persistent_bytes
    count = len(columns.name)
    in_use = np.zeros(count, np.int64)
    np.maximum.at(in_use, allocators.entry[on_gpu], allocators.in_use[on_gpu])
    size = np.where(outputs.has_memory, np.maximum(outputs.allocated, outputs.requested), 0)

    def allocated(column: Ints) -> Ints:
        return group_sums(allocators.entry, column, count)

    return {
        "time_ns": times.start_ns + times.elapsed_ns,
        "host_temp": temp * is_host,
        "host_persistent": persistent * is_host,
        "accelerator_temp": temp * ~is_host,
        "accelerator_persistent": persistent * ~is_host,
        "requested": added(allocated(allocators.total), persistent, temp),
        "peak": added(allocated(allocators.peak), persistent, temp),
        "residual": added(allocated(allocators.live), persistent),
        "output": group_sums(outputs.entry, size, count),
        "in_use": in_use,
    }
