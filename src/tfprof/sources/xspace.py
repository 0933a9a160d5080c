"""XSpace files (`*.xplane.pb`): the runs of ops in each step, and their memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from tfprof.columns import Coded, Ints, constant, ints
from tfprof.formats.records import Records
from tfprof.formats.wire import SPAN
from tfprof.formats.xplane import XSPACE, SpaceColumns, decode
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.collector import Runs
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import WALKED_CALL, XLA_KIND, XLA_SCOPE
from tfprof.model.recordings import Recording
from tfprof.sources.setup_times import by_step
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary
from tfprof.sources.tf_devices import add_device
from tfprof.sources.tf_events import TensorFlowEvents
from tfprof.sources.xspace_events import PS_PER_NANO, Space, in_nanos
from tfprof.sources.xspace_kernels import kernel_runs
from tfprof.sources.xspace_memory import RunMemory
from tfprof.sources.xspace_vocabulary import OpRuns, StepMarks, Vocabulary
from tfprof.units import counted

_CPU = "/device:CPU:0"
_FUSED = "Fused"  # part of the names of kernels that replace several ops
_MOST_WARNINGS = 3  # of the profiler


def read(file: InputFile) -> Decoded[SpaceColumns]:
    """The events as columns."""
    return Decoded.of(file.content.records(XSPACE), decode)


def add(found: Decoded[SpaceColumns], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the recording of one host."""
    records = found.records
    space = Space(records.path, found.columns)
    events: Vocabulary = TensorFlowEvents(space)
    runs = events.runs()
    _note_warnings(records, builder)
    if not len(runs.event):
        builder.notes.append(
            f"{records.path} contains no ops: nothing ran during the recording, or it was not "
            "recorded by TensorFlow."
        )
        return summary(file, ops=0, steps=0, runs=0)
    ops = _identify(runs, events, builder)
    row = builder.add_recording(_described(records, events.framework))
    builder.add_kernels(row, ops, Coded.of(runs.kinds))
    steps = _Steps.of(events, records.path, builder)
    step = steps.of_time(space.start_ps[runs.event])
    memory = RunMemory.of(space, runs, events.memory())
    start = space.time_ns(space.start_ps[runs.event])
    duration = in_nanos(runs.own_ps)
    counted = builder.add_runs(
        row,
        step,
        Runs(
            op=ops[runs.name],
            device=_devices(runs, events, builder, row),
            start_ns=start,
            duration_ns=duration,
            memory=memory.facts(start + duration),
            output_run=ints([]),
            output_slot=ints([]),
            output_bytes=ints([]),
            output_address=ints([]),
            allocator_run=memory.use_run,
            allocator_name=memory.use_name,
            allocator_level=memory.use_level,
            allocator_is_accelerator=memory.use_is_gpu,
            allocation_allocator=memory.change_use,
            allocation_ns=space.time_ns(memory.change_ps),
            allocation_bytes=memory.change_bytes,
        ),
    )
    _add_kernels(space, events, steps, _op_of_events(space, runs, ops), builder, row)
    _add_transfers(space, events, steps, builder, row)
    _add_waits(space, events, steps, builder, row)
    steps.set_bounds(space, events, runs, builder, row)
    _note_unowned(space, events, runs, memory, builder)
    numbers = builder.runs.step_numbers(row)
    devices = builder.device_names(row)
    return summary(file, devices, ops=len(runs.names), steps=len(numbers), runs=counted)


def _described(records: Records, framework: str) -> Recording:
    """The recording of the host that is named in the file, or else in the file's name."""
    spans = [(a, b) for number, kind, a, b in records.fields() if (number, kind) == (4, SPAN)]
    host = records.data[slice(*spans[0])].decode("utf-8", "replace") if spans else ""
    name = PurePath(records.path).name.removesuffix(".gz").removesuffix(".xplane.pb")
    return Recording(
        label=host or name,
        host=host or name,
        framework=framework,
        source="xspace",
        file=records.path,
    )


def _identify(runs: OpRuns, events: Vocabulary, builder: ProfileBuilder) -> Ints:
    """The op of each name; ops that are not in a graph have the kind of their kernel."""
    ops = builder.ids(runs.names)
    known = np.flatnonzero(ops >= 0)
    builder.mark_covered(ops[known])
    builder.notes += _fused(builder.kinds(ops[known]), [runs.kinds[row] for row in known.tolist()])
    unknown = np.flatnonzero(ops < 0).tolist()
    builder.add_ops(
        OpColumns.only_run(
            [runs.names[row] for row in unknown],
            [runs.kinds[row] for row in unknown],
            events.conventions,
        )
    )
    ops = builder.ids(runs.names)
    builder.add_type(WALKED_CALL, ops[runs.calls])
    return ops


def _fused(defined: Sequence[str], ran: Sequence[str]) -> Iterator[Note]:
    """A note on ops that ran as a kernel of several ops; the kernel has the name of the last."""
    pairs = zip(defined, ran, strict=True)
    found = Counter(pair for pair in pairs if _FUSED in pair[1] and _FUSED not in pair[0])
    if found:
        shown = [f"{kind} as {kernel} {count:,}" for (kind, kernel), count in found.most_common(3)]
        more = ", …" if len(found) > len(shown) else ""
        ops = counted(found.total(), "op ran as a fused kernel", "ops ran as fused kernels")
        yield Note(
            f"{ops}, whose time includes that of other ops ({', '.join(shown)}{more}).",
            Subject.TIME,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """The steps of a recording; each lasts until the next one starts."""

    marks: StepMarks

    @classmethod
    def of(cls, events: Vocabulary, path: str, builder: ProfileBuilder) -> _Steps:
        marks = events.steps()
        if not len(marks):
            text = (
                f"{path} has no step markers and counts as a single step; call a tf.function per "
                "step, or mark steps with tf.profiler.experimental.Trace."
            )
            builder.notes.append(Note(text, Subject.TIME | Subject.MEMORY | Subject.FLOAT_OPS))
        return cls(marks)

    def of_time(self, start_ps: Ints) -> Ints:
        """The number of the step at each time; times before the first step belong to it."""
        if not len(self.marks):
            return np.zeros(len(start_ps), np.int64)
        place = np.searchsorted(self.marks.start_ps, start_ps, side="right") - 1
        return self.marks.number[np.maximum(place, 0)]

    def among(self, numbers: Collection[int]) -> _Steps:
        """The steps with these numbers; a step then lasts until the next one of them starts."""
        marks = self.marks
        kept = np.isin(marks.number, list(numbers))
        return _Steps(StepMarks(marks.start_ps[kept], marks.end_ps[kept], marks.number[kept]))

    def set_bounds(
        self, space: Space, events: Vocabulary, runs: OpRuns, builder: ProfileBuilder, row: int
    ) -> None:
        """Set when steps began and ended and how long they set up, except if marked twice."""
        marks = self.marks
        if not len(marks):
            return
        last = int((space.start_ps[runs.event] + runs.own_ps).max())
        end = np.append(marks.start_ps[1:], max(last, int(marks.end_ps[-1])))
        numbers, first, count = np.unique(marks.number, return_index=True, return_counts=True)
        once = first[(count == 1) & np.isin(numbers, list(builder.runs.step_numbers(row)))]
        builder.runs.set_bounds(
            builder.runs.add_steps(row, marks.number[once]),
            space.time_ns(marks.start_ps[once]),
            space.time_ns(end[once]),
        )
        setup_ns = by_step(marks.start_ps, *events.setup()) // PS_PER_NANO
        builder.runs.set_setup(builder.runs.add_steps(row, marks.number[once]), setup_ns[once])


def _devices(runs: OpRuns, events: Vocabulary, builder: ProfileBuilder, row: int) -> Ints:
    """The device of each run: `stream:all` of its GPU for a kernel, the op's device on a thread."""
    of_op = np.full(len(runs.names), -1)
    on_stream = np.flatnonzero(runs.gpu >= 0)
    of_op[runs.name[on_stream[::-1]]] = runs.gpu[on_stream[::-1]]
    device = np.full(len(runs.event), add_device(builder, row, _CPU))
    for gpu in np.unique(runs.gpu[on_stream]).tolist():
        name, model = f"/device:GPU:{gpu}", events.hardware(gpu)
        # An op with kernels is placed on their GPU; its run on a thread only launched them.
        device[(runs.gpu < 0) & (of_op[runs.name] == gpu)] = add_device(builder, row, name, model)
        device[runs.gpu == gpu] = add_device(builder, row, f"{name}/stream:all", model)
    return device


def _add_kernels(  # noqa: PLR0917 -- what is known about a recording
    space: Space,
    events: Vocabulary,
    steps: _Steps,
    of_event: Ints,
    builder: ProfileBuilder,
    row: int,
) -> None:
    """Add the launches of kernels; `of_event` is the op of each event, or -1."""
    kernels = events.kernels()
    lanes = {
        gpu: add_device(builder, row, f"/device:GPU:{gpu}/stream:all", events.hardware(gpu))
        for gpu in np.unique(kernels.gpu).tolist()
    }
    known = steps.among(builder.runs.step_numbers(row))
    step = known.of_time(space.start_ps[kernels.event])
    builder.runs.add_kernel_runs(
        kernel_runs(
            space,
            kernels,
            op=of_event[kernels.event],
            step=builder.runs.add_steps(row, step),
            device=ints([lanes[gpu] for gpu in kernels.gpu.tolist()]),
        )
    )


def _op_of_events(space: Space, runs: OpRuns, ops: Ints) -> Ints:
    """The op of each event that is a kernel of an op, -1 for other events."""
    found = np.full(len(space.name), -1)
    found[runs.event] = np.where(runs.gpu >= 0, ops[runs.name], -1)
    return found


def _add_transfers(
    space: Space, events: Vocabulary, steps: _Steps, builder: ProfileBuilder, row: int
) -> None:
    copied = events.transfers()
    gpus = {
        gpu: add_device(builder, row, f"/device:GPU:{gpu}/memcpy")
        for gpu in set(copied.gpu.tolist())
    }
    start = space.start_ps[copied.event]
    builder.runs.add_copies(
        Coded.of(copied.name),
        op=constant(-1, len(copied.event)),
        step=builder.runs.add_steps(row, steps.of_time(start)),
        device=ints([gpus[gpu] for gpu in copied.gpu.tolist()]),
        start_ns=space.time_ns(start),
        duration_ns=space.duration_ps[copied.event] // PS_PER_NANO,
    )


def _add_waits(
    space: Space, events: Vocabulary, steps: _Steps, builder: ProfileBuilder, row: int
) -> None:
    event = events.waits()
    start = space.start_ps[event]
    builder.runs.add_waits(
        step=builder.runs.add_steps(row, steps.of_time(start)),
        start_ns=space.time_ns(start),
        duration_ns=space.duration_ps[event] // PS_PER_NANO,
    )


def _note_warnings(records: Records, builder: ProfileBuilder) -> None:
    """Pass on errors and warnings of the profiler, such as dropped events."""
    spans = [(a, b) for number, kind, a, b in records.fields() if number in (2, 3) and kind == SPAN]
    for start, end in spans[:_MOST_WARNINGS]:
        warning = records.data[start : min(end, start + 300)].decode("utf-8", "replace")
        builder.notes.append(f"{records.path}: the profiler reported: {warning}")


def _note_unowned(
    space: Space, events: Vocabulary, runs: OpRuns, found: RunMemory, builder: ProfileBuilder
) -> None:
    """Note kernels and allocations that belong to no op, and what is missing."""
    path = space.path
    kernels = events.on_streams()
    kernels[runs.event[runs.gpu >= 0]] = False
    if kernels.any():
        micros = int(space.duration_ps[kernels].sum()) // (PS_PER_NANO * NANOS_PER_MICRO)
        one, many = "kernel that belongs to no op is", "kernels that belong to no op are"
        kernels_are = counted(int(kernels.sum()), one, many)
        text = f"{path}: {kernels_are} not counted ({micros:,} microseconds)."
        builder.notes.append(Note(text, Subject.TIME))
    if found.unowned:
        one, many = "allocation outside ops is", "allocations outside ops are"
        text = f"{path}: {counted(found.unowned, one, many)} not counted."
        builder.notes.append(Note(text, Subject.MEMORY))
    if not len(found.change_use):
        text = f"{path} contains no allocations by ops; the memory of ops is unknown."
        builder.notes.append(Note(text, Subject.MEMORY))
    if XLA_KIND in runs.kinds:
        text = (
            f"{path}: ops that XLA compiled have no times of their own; the scope {XLA_SCOPE} has "
            "the time of the compiled code."
        )
        builder.notes.append(Note(text, Subject.TIME))
    if not space.profile_start_ns:
        text = f"{path} does not state when it was recorded; is it complete?"
        builder.notes.append(Note(text, Subject.TIME | Subject.MEMORY))
