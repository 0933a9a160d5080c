"""Memory snapshots of PyTorch: memory over time, by purpose, op and line of code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from tfprof.columns import Coded, Ints, Strings, constant, ints
from tfprof.errors import InputError
from tfprof.formats import memory_snapshot
from tfprof.formats.memory_snapshot import Snapshot
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NO_TIME
from tfprof.model.devices import Device, Role
from tfprof.model.executions import Purpose
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import NOT_A_GRADIENT
from tfprof.model.recordings import Recording
from tfprof.model.stated import StatedFacts
from tfprof.sources.run_memory import memory_facts
from tfprof.sources.snapshot_blocks import NO_EVENT, HeldBlocks, held_blocks
from tfprof.sources.snapshot_purposes import Sites, sites_of
from tfprof.sources.snapshot_times import RecordTimes, record_times
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sums import fits
from tfprof.units import Unit, counted

_LARGEST = 1 << 31
_HOST = "cpu"


def read(file: InputFile) -> Snapshot:
    """The blocks and the history of allocations."""
    data, _ = file.content.read(_LARGEST)
    found = memory_snapshot.decode(file.path, data)
    if not fits(found.events.size) or not fits(found.blocks.size):
        raise InputError(file.path, "is damaged: its blocks are larger than any machine.")
    return found


def add(found: Snapshot, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the memory of each device over time, and what held it."""
    events = found.events
    times = record_times(events)
    blocks = held_blocks(found, times.time_ns)
    names = [f"cuda:{device}" for device in range(int(blocks.device.max(initial=-1)) + 1)]
    allocations = int((events.action.codes == events.action.values.row_of("alloc")).sum())
    in_use = int(found.blocks.is_allocated.sum())
    known = builder.runs.allocator_names()
    if known.intersection(names):
        builder.notes.append(_known(file.path, blocks))
        return summary(file, allocations=allocations, blocks=in_use)
    label = PurePath(file.path).name.removesuffix(".gz").removesuffix(".pickle")
    recording = builder.add_recording(
        Recording(label, framework="pytorch", source="torch_snapshot", file=file.path)
    )
    devices = [_add_device(builder, recording, name) for name in names]
    shapes = [shape for held in builder.held for shape in held.parameters.values()]
    sites = sites_of(found, times.time_ns, blocks, shapes)
    ops = _define(sites, builder)
    steps = builder.runs.add_steps(recording, constant(0, len(blocks)))
    use = _Use(ops[sites.of_block], steps, sites.purpose)
    _add_blocks(builder, blocks, use, dict(zip(names, devices, strict=True)))
    _add_sums(builder, blocks, use, ints(devices))
    builder.notes += _notes(file.path, found, blocks, times)
    if (sites.purpose == Purpose.PARAMETERS).any():
        is_old = blocks.allocated == NO_EVENT
        has_state = bool((sites.purpose[is_old] == Purpose.OPTIMIZER_STATE).any())
        builder.notes.append(_by_size(file.path, has_state=has_state))
    return summary(file, names, allocations=allocations, blocks=in_use)


def _add_device(builder: ProfileBuilder, recording: int, name: str) -> int:
    return builder.add_device(recording, Device(name, Role.ACCELERATOR, True, False, _HOST))


def _define(sites: Sites, builder: ProfileBuilder) -> Ints:
    """Define an op for each site, with the line that called it; returns their ids."""
    none = np.full(len(sites.names), NOT_A_GRADIENT)
    stated = StatedFacts(sites.phases, none, Strings(sites.names))
    builder.add_ops(OpColumns.only_run(sites.names, sites.kinds, stated))
    ids = builder.ids(sites.names)
    rows = [builder.add_stack(stack) for stack in sites.stacks]
    if any(row >= 0 for row in rows):
        builder.mark_has_code()
    builder.set_code(ids, rows)
    return ids


class _Use(NamedTuple):
    """The op, the step and the purpose of each block."""

    op: Ints
    step: Ints
    purpose: Ints


def _add_blocks(
    builder: ProfileBuilder, blocks: HeldBlocks, use: _Use, devices: dict[str, int]
) -> None:
    """Add the memory that each op held, and when."""
    first = builder.runs.add_allocators(
        Coded(blocks.device, Strings(devices)),
        np.zeros(len(blocks), np.bool_),
        **use._asdict(),
        device=ints(list(devices.values()))[blocks.device],
        time_ns=blocks.start_ns,
        level=blocks.level,
    )
    freed = np.flatnonzero(blocks.is_freed)
    builder.runs.add_allocations(
        use=first + np.concatenate((np.arange(len(blocks)), freed)),
        time_ns=np.concatenate((blocks.start_ns, blocks.end_ns[freed])),
        bytes=np.concatenate((blocks.size, -blocks.size[freed])),
    )


def _add_sums(builder: ProfileBuilder, blocks: HeldBlocks, use: _Use, devices: Ints) -> None:
    """Add how much each op requested, held at one time and left."""
    op, first, run = np.unique(use.op, return_index=True, return_inverse=True)
    none = constant(0, len(op))
    builder.runs.add_sightings(
        op=op,
        step=use.step[first],
        device=devices[blocks.device[first]],
        start_ns=constant(NO_TIME, len(op)),
        end_ns=none,
        runs=none,
    )
    freed = np.flatnonzero(blocks.is_freed)
    change = np.concatenate((np.arange(len(blocks)), freed))
    facts = memory_facts(
        none + int(blocks.end_ns.max(initial=0)),
        run=run[change],
        moment=np.concatenate((blocks.start_ns, blocks.end_ns[freed])),
        size=np.concatenate((blocks.size, -blocks.size[freed])),
        is_within=np.ones(len(change), np.bool_),
    )
    builder.runs.add_memory(op=op, step=use.step[first], **facts)


def _by_size(path: str, *, has_state: bool) -> Note:
    state = ", and two more of each for the state of the optimizer"
    text = (
        f"{path}: blocks with the sizes of parameters are taken for them"
        f"{state if has_state else ''}."
    )
    return Note(text, Subject.MEMORY)


def _known(path: str, blocks: HeldBlocks) -> Note:
    peak = Unit.BYTES.format(int(blocks.level.max(initial=0)))
    text = (
        f"{path} is not added, because a trace has the same memory by module and line; the peak of "
        f"the snapshot is {peak}."
    )
    return Note(text, Subject.MEMORY)


def _notes(path: str, found: Snapshot, blocks: HeldBlocks, times: RecordTimes) -> Iterator[Note]:
    text = f"{path} is a memory snapshot, which has no times and float operations."
    yield Note(text, Subject.TIME | Subject.FLOAT_OPS | Subject.STEPS)
    if not len(found.events):
        text = (
            f"{path} has no history: it shows only what was in use when it was taken; call "
            "torch.cuda.memory._record_memory_history() before the program allocates."
        )
        yield Note(text, Subject.MEMORY)
    if times.is_order:
        lack = "no times" if times.untimed == len(found.events) else "the same time for all records"
        text = (
            f"{path} has {lack}: memory is shown over the order of its {len(found.events):,} "
            "records, as if each took 1 microsecond."
        )
        yield Note(text, Subject.MEMORY)
    elif times.untimed:
        records = counted(times.untimed, "record has", "records have")
        text = f"{path}: {records} no time, and count at the time of the record before them."
        yield Note(text, Subject.MEMORY)
    failed = np.flatnonzero(found.events.action.codes == found.events.action.values.row_of("oom"))
    if len(failed):
        size = Unit.BYTES.format(int(found.events.size[failed[-1]]))
        text = f"{path}: the program ran out of memory, the last time when it asked for {size}."
        yield Note(text, Subject.MEMORY)
    if (found.stacks[1:] == []) and len(blocks):
        yield Note(f"{path} has no stacks, so ops and lines are unknown.", Subject.MEMORY)
