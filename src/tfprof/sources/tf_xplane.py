"""A profiler's recording (XSpace): when and where ops ran in each step, and their allocations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints
from tfprof.formats.records import Records
from tfprof.formats.wire import SPAN
from tfprof.formats.xplane import XSPACE, SpaceColumns, decode
from tfprof.model import recordings as model
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.collector import Runs
from tfprof.model.executions import MEMORY_FACTS
from tfprof.sources.tf_devices import add_device
from tfprof.sources.tf_names import TENSORFLOW_NAMES
from tfprof.sources.xplane_events import PS_PER_NANO, MemoryEvents, OpRuns, Recording, split_by

__all__ = ["MESSAGE", "add", "decode"]

MESSAGE = XSPACE

_CPU = "/device:CPU:0"
_MOST_COMPLAINTS = 3  # of the profiler itself


def add(records: Records, space: SpaceColumns, builder: ProfileBuilder) -> None:
    """Add what one host recorded."""
    recording = Recording(records.path, space)
    runs = recording.runs()
    _note_complaints(records, builder)
    if not len(runs.event):
        builder.notes.append(
            f"{records.path} has no event of an op: nothing ran while it was recorded, or it is "
            "of another framework than TensorFlow."
        )
        return
    ops = _identify(runs, builder)
    row = builder.add_recording(_described(records))
    steps = _Steps.of(recording, records.path, builder)
    step = steps.of_time(recording.start_ps[runs.event])
    found = _Memory.of(recording, runs, recording.memory())
    device = _devices(runs, builder, row)
    start = recording.time_ns(recording.start_ps[runs.event])
    duration = (runs.own_ps + PS_PER_NANO // 2) // PS_PER_NANO
    builder.add_runs(
        row,
        step,
        Runs(
            op=ops[runs.name],
            device=device,
            start_ns=start,
            duration_ns=duration,
            memory=found.facts(start + duration),
            output_run=ints([]),
            output_slot=ints([]),
            output_bytes=ints([]),
            output_address=ints([]),
            allocator_run=found.use_run,
            allocator_name=found.use_name,
            allocator_level=found.use_level,
            allocator_is_accelerator=found.use_is_gpu,
            allocation_allocator=found.change_use,
            allocation_ns=recording.time_ns(found.change_ps),
            allocation_bytes=found.change_bytes,
        ),
    )
    _add_transfers(recording, steps, builder, row)
    _note_unowned(recording, runs, found, builder)


def _described(records: Records) -> model.Recording:
    """The host that recorded a file, as the file or else its name states it."""
    spans = [(a, b) for number, kind, a, b in records.fields() if (number, kind) == (4, SPAN)]
    host = records.data[slice(*spans[0])].decode("utf-8", "replace") if spans else ""
    name = PurePath(records.path).name.removesuffix(".gz").removesuffix(".xplane.pb")
    return model.Recording(
        label=host or name,
        host=host or name,
        framework="tensorflow",
        source="xspace",
        file=records.path,
    )


def _identify(runs: OpRuns, builder: ProfileBuilder) -> Ints:
    """The op of each name; one that no graph defines has the kind of its kernel."""
    ops = builder.ids(runs.names)
    builder.mark_covered(ops[ops >= 0])
    unknown = np.flatnonzero(ops < 0).tolist()
    builder.add_ops(
        OpColumns.only_run(
            [runs.names[row] for row in unknown],
            [runs.kinds[row] for row in unknown],
            TENSORFLOW_NAMES,
        )
    )
    return builder.ids(runs.names)


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """When steps began, and their numbers."""

    starts: Ints
    numbers: Ints

    @classmethod
    def of(cls, recording: Recording, path: str, builder: ProfileBuilder) -> _Steps:
        starts, numbers = recording.steps()
        if not len(starts):
            starts, numbers = ints([0]), ints([0])
            builder.notes.append(
                f"{path} marks no steps, so all of it counts as one step: call a tf.function per "
                "step, or mark steps with tf.profiler.experimental.Trace."
            )
        return cls(starts, numbers)

    def of_time(self, start_ps: Ints) -> Ints:
        """The number of the step in which each time lies; earlier times belong to the first."""
        place = np.searchsorted(self.starts, start_ps, side="right") - 1
        return self.numbers[np.maximum(place, 0)]


def _devices(runs: OpRuns, builder: ProfileBuilder, row: int) -> Ints:
    """The device of each run: all streams of a GPU for kernels, the device served for threads."""
    of_op = np.full(len(runs.names), -1)
    on_stream = np.flatnonzero(runs.gpu >= 0)
    of_op[runs.name[on_stream[::-1]]] = runs.gpu[on_stream[::-1]]
    device = np.full(len(runs.event), add_device(builder, row, _CPU))
    for gpu in np.unique(runs.gpu[on_stream]).tolist():
        name = f"/device:GPU:{gpu}"
        # An op that has kernels is placed on their GPU; its threads only launched them.
        device[(runs.gpu < 0) & (of_op[runs.name] == gpu)] = add_device(builder, row, name)
        device[runs.gpu == gpu] = add_device(builder, row, f"{name}/stream:all")
    return device


@dataclass(frozen=True, slots=True, eq=False)
class _Memory:
    """Which run took memory, through which allocator, and when it was given back."""

    run_count: int
    use_run: Ints
    use_name: Coded
    use_level: Ints
    use_is_gpu: Bools
    change_use: Ints
    change_ps: Ints
    change_bytes: Ints
    change_is_within: Bools  # whether the run was still going on
    unowned: int

    @classmethod
    def of(cls, recording: Recording, runs: OpRuns, memory: MemoryEvents) -> _Memory:
        """What can be told of the allocations that happened while an op ran on the same thread."""
        names = Coded.of(memory.allocator)
        run = _run_around(recording, runs, memory.event)
        taken_by = _taken_by(names.codes, memory)
        # Whoever gives memory back, it is that of the run that took it.
        owner = np.where(memory.bytes >= 0, run, np.append(run, -1)[taken_by])
        kept = np.flatnonzero((owner >= 0) & (memory.bytes != 0))
        width = max(len(names.values), 1)
        use, change_use = np.unique(owner[kept] * width + names.codes[kept], return_inverse=True)
        use_run, use_name = np.divmod(use, width)
        level = np.zeros(len(use), np.int64)
        took = memory.bytes[kept] > 0
        level[change_use[took]] = memory.in_use[kept[took]]
        is_gpu = np.array([*("GPU" in name for name in names.values), False])
        moment = recording.start_ps[memory.event[kept]]
        event = runs.event[owner[kept]]
        end = recording.start_ps[event] + recording.duration_ps[event]
        return cls(
            run_count=len(runs.event),
            use_run=use_run,
            use_name=Coded(use_name, names.values),
            use_level=level,
            use_is_gpu=is_gpu[use_name],
            change_use=change_use,
            change_ps=moment,
            change_bytes=memory.bytes[kept],
            change_is_within=moment <= end,
            unowned=int(((memory.bytes > 0) & (run < 0)).sum()),
        )

    def facts(self, time_ns: Ints) -> dict[str, Ints]:
        """The columns of `MEMORY_FACTS`: what each run took, had at most and left."""
        facts = {fact: np.zeros(self.run_count, np.int64) for fact in MEMORY_FACTS}
        facts["time_ns"] = time_ns
        run = self.use_run[self.change_use]
        np.add.at(facts["requested"], run, np.maximum(self.change_bytes, 0))
        within = np.flatnonzero(self.change_is_within)
        order = within[np.lexsort((self.change_ps[within], run[within]))]
        held = np.cumsum(self.change_bytes[order])
        owner = run[order]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        before = np.repeat(
            (held - self.change_bytes[order])[first], np.diff(first, append=len(held))
        )
        np.maximum.at(facts["peak"], owner, held - before)
        np.add.at(facts["residual"], owner, self.change_bytes[order])
        gpu = np.flatnonzero(self.use_is_gpu)
        np.maximum.at(facts["in_use"], self.use_run[gpu], self.use_level[gpu])
        return facts


def _run_around(recording: Recording, runs: OpRuns, event: Ints) -> Ints:
    """The latest run before each event on its thread, -1 where it had ended by then."""
    host = np.flatnonzero(runs.gpu < 0)
    found = np.full(len(event), -1)
    if not len(event) or not len(host):
        return found
    start, line = recording.start_ps, recording.line
    order = host[np.lexsort((start[runs.event[host]], line[runs.event[host]]))]
    of_line = line[runs.event[order]]
    for here in split_by(line[event], np.argsort(line[event], kind="stable")):
        first, last = np.searchsorted(of_line, line[event[here[0]]] + np.arange(2))
        rows = order[first:last]
        moment = start[event[here]]
        place = np.searchsorted(start[runs.event[rows]], moment, side="right") - 1
        hit = np.flatnonzero(place >= 0)
        run = rows[place[hit]]
        within = runs.event[run]
        is_within = moment[hit] <= start[within] + recording.duration_ps[within]
        found[here[hit[is_within]]] = run[is_within]
    return found


def _taken_by(allocator: Ints, memory: MemoryEvents) -> Ints:
    """For each release the row of the allocation that it ends, -1 where that is not there."""
    time = np.arange(len(allocator))
    order = np.lexsort((time, memory.address, allocator))
    before, after = order[:-1], order[1:]
    is_end = (allocator[before] == allocator[after]) & (
        memory.address[before] == memory.address[after]
    )
    is_end &= (memory.bytes[before] > 0) & (memory.bytes[after] < 0)
    taken = np.full(len(order), -1)
    taken[after[is_end]] = before[is_end]
    return taken


def _add_transfers(recording: Recording, steps: _Steps, builder: ProfileBuilder, row: int) -> None:
    copied = recording.transfers()
    gpus = {
        gpu: add_device(builder, row, f"/device:GPU:{gpu}/memcpy")
        for gpu in set(copied.gpu.tolist())
    }
    start = recording.start_ps[copied.event]
    builder.runs.add_copies(
        Coded.of(copied.name),
        step=builder.runs.add_steps(row, steps.of_time(start)),
        device=ints([gpus[gpu] for gpu in copied.gpu.tolist()]),
        start_ns=recording.time_ns(start),
        duration_ns=recording.duration_ps[copied.event] // PS_PER_NANO,
    )


def _note_complaints(records: Records, builder: ProfileBuilder) -> None:
    """Pass on what the profiler itself complained of, such as events it had no room for."""
    spans = [(a, b) for number, kind, a, b in records.fields() if number in (2, 3) and kind == SPAN]
    for start, end in spans[:_MOST_COMPLAINTS]:
        complaint = records.data[start : min(end, start + 300)].decode("utf-8", "replace")
        builder.notes.append(f"{records.path} says: {complaint}")


def _note_unowned(
    recording: Recording, runs: OpRuns, found: _Memory, builder: ProfileBuilder
) -> None:
    """Say what belongs to no op."""
    path = recording.path
    kernels = recording.on_streams()
    kernels[runs.event[runs.gpu >= 0]] = False
    if kernels.any():
        micros = int(recording.duration_ps[kernels].sum()) // (PS_PER_NANO * NANOS_PER_MICRO)
        many = f"{int(kernels.sum()):,} kernels ({micros:,} microseconds)"
        builder.notes.append(f"{path} has {many} of no op: left out.")
    if found.unowned:
        many = "1 allocation" if found.unowned == 1 else f"{found.unowned:,} allocations"
        builder.notes.append(f"{path} has {many} outside of ops: left out.")
    if not len(found.change_use):
        builder.notes.append(f"{path} has no allocation of an op: their memory is not known.")
    if not recording.profile_start_ns:
        builder.notes.append(f"{path} does not say when it was recorded; is it whole?")
