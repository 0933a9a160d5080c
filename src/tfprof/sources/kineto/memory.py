"""Memory over time: which op holds what, from the allocations and releases on its thread.

A step begins with what earlier steps still hold, so that its memory is all that is in use. What
was allocated before the recording is held by the parameters and the tensors of optimizers, as far
as it is known where they are, and the rest by an op of its own.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Strings, distinct_rows, ints
from tfprof.errors import InputError
from tfprof.formats.kineto.columns import MISSING, MemoryEvents, Trace
from tfprof.model.between_files import HeldTensor
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.executions import Purpose
from tfprof.model.ops import HELD_BEFORE_SCOPE, WALKED_CALL, Phase
from tfprof.sources.kineto.devices import HOST, TraceDevices
from tfprof.sources.kineto.host import Host
from tfprof.sources.kineto.steps import StepMarks
from tfprof.sources.run_memory import memory_facts, taken_by
from tfprof.sums import fits

# The ops that hold memory which no op of the trace allocated.
_HOLDERS = (HELD_BEFORE_SCOPE, "memory/allocated_outside_ops")

_UNIT = 512  # blocks of allocators are multiples of this many bytes

# Blocks that many steps hold count in each of them. A step of a real program allocates about as
# many blocks as it holds from before.
_MOST_USES, _MOST_USES_EACH = 1_000_000, 10

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Allocations and releases in the order of time; `-1` stands for an unknown row."""

    row: Ints  # of `MemoryEvents`
    allocator: Ints
    device_type: Ints  # of each allocator
    device: Ints  # of each allocator
    time_ns: Ints
    bytes: Ints
    call: Ints  # the row of `Host` of the op that allocated it, also for releases
    taken: Ints  # for a release, the row of its allocation

    def __len__(self) -> int:
        return len(self.row)


def changes(trace: Trace, host: Host, path: str) -> Changes:
    """The allocations and releases of a trace."""
    memory = trace.memory
    if not fits(memory.bytes):
        raise InputError(
            path, "is damaged: its allocations add up to more bytes than any machine has."
        )
    order = np.argsort(memory.time_ns, kind="stable")
    pairs, allocator = distinct_rows((memory.device_type, memory.device))
    allocator = allocator[order]
    size = memory.bytes[order]
    rows = np.flatnonzero(host.memory >= 0)
    call = np.full(len(memory), -1)
    call[host.memory[rows]] = host.in_op[rows]
    taken = taken_by(allocator, _places(memory.address[order], allocator, size), size)
    own = call[order]
    return Changes(
        row=order,
        allocator=allocator,
        device_type=pairs[:, 0],
        device=pairs[:, 1],
        time_ns=memory.time_ns[order],
        bytes=size,
        call=np.where(size < 0, np.append(own, -1)[taken], own),
        taken=taken,
    )


def _places(address: Ints, allocator: Ints, size: Ints) -> Ints:
    """Where the memory of each change is: its address, or a number if that is unknown.

    In old traces, a release is that of the latest allocation of its size that is still in use.
    """
    if not len(address) or (address != MISSING).any():
        return address
    _, kind = distinct_rows((allocator, np.abs(size)))
    order = np.argsort(kind, kind="stable")
    count = np.cumsum(np.sign(size[order]))  # the numbers of other kinds do not matter
    depth = np.empty(len(order), np.int64)
    depth[order] = np.where(size[order] > 0, count, count + 1)
    return distinct_rows((kind, depth))[1]


def facts(found: Changes, host: Host, calls: Ints, end_ns: Ints) -> dict[str, Ints]:
    """The memory of each of `calls`, which are rows of `Host`, in order; see `memory_facts`."""
    run_of = np.full(len(host) + 1, -1)
    run_of[calls] = np.arange(len(calls))
    run = run_of[found.call]
    kept = np.flatnonzero(run >= 0)
    return memory_facts(
        end_ns,
        run=run[kept],
        moment=found.time_ns[kept],
        size=found.bytes[kept],
        is_within=found.time_ns[kept] <= host.end_ns[found.call[kept]],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Memory from its allocation to its release; -1 as release for what is never released."""

    change: Ints  # the row of `Changes` that allocated it, or -1 for memory of before
    tensor: Ints  # the place of the tensor that it is of, or -1
    allocator: Ints
    bytes: Ints
    start_ns: Ints
    release: Ints  # the row of `Changes`


def _blocks(
    found: Changes, memory: MemoryEvents, names: Sequence[str], tensors: Sequence[HeldTensor]
) -> _Blocks:
    """The blocks of memory; `names` are those of the allocators."""
    allocated = memory.allocated[found.row]
    count = len(found)
    released = np.full(count, -1)
    ends = np.flatnonzero(found.taken >= 0)
    released[found.taken[ends]] = ends
    own = np.flatnonzero(found.bytes > 0)
    # Releases of memory that was allocated before the recording, and what was never released.
    old = np.flatnonzero((found.bytes < 0) & (found.taken < 0))
    kept: list[tuple[int, int, int]] = []  # bytes, allocator, tensor
    for allocator in range(len(found.device)):
        rows = np.flatnonzero(found.allocator == allocator)
        level = int(allocated[rows[0]] - found.bytes[rows[0]])
        if (allocated[rows] == MISSING).all():  # an old trace
            level = 0
        rest = level + int(found.bytes[old[found.allocator[old] == allocator]].sum())
        live = own[(found.allocator[own] == allocator) & (released[own] < 0)]
        later = set(memory.address[found.row[live]].tolist())
        places = _kept_tensors(tensors, names[allocator], later)
        if (size := sum(places.values())) <= rest:
            kept += ((size, allocator, tensor) for tensor, size in places.items())
            rest -= size
        if rest > 0:
            kept.append((rest, allocator, -1))
    kept_bytes, kept_allocator, kept_tensor = np.array(kept, np.int64).reshape(-1, 3).T
    first = int(found.time_ns[0]) - 1 if count else 0  # before the first change
    return _Blocks(
        change=np.concatenate((own, np.full(len(old) + len(kept), -1))),
        tensor=np.concatenate((np.full(len(own) + len(old), -1), kept_tensor)),
        allocator=np.concatenate((found.allocator[own], found.allocator[old], kept_allocator)),
        bytes=np.concatenate((found.bytes[own], -found.bytes[old], kept_bytes)),
        start_ns=np.concatenate((found.time_ns[own], np.full(len(old) + len(kept), first))),
        release=np.concatenate((released[own], old, np.full(len(kept), -1))),
    )


def _kept_tensors(
    tensors: Sequence[HeldTensor], device: str, later: Container[int]
) -> dict[int, int]:
    """The tensors on a device and the sizes of their blocks, each storage once.

    Those whose addresses are `later` were allocated in the recording.
    """
    storages: dict[int, int] = {}
    for place, one in enumerate(tensors):
        if one.place.device == device and one.place.storage not in later:
            storages.setdefault(one.place.storage, place)
    sizes = ((place, tensors[place].place.bytes) for place in storages.values())
    return {place: -(-size // _UNIT) * _UNIT for place, size in sizes}


def add_allocations(
    builder: ProfileBuilder,
    recording: int,
    trace: Trace,
    found: Changes,
    *,
    host: Host,
    phase: Ints,
    op_of_call: Ints,
    is_placed: Bools,
    devices: TraceDevices,
    marks: StepMarks,
    tensors: Sequence[HeldTensor],
    path: str,
) -> None:
    """Add who holds which memory in each step.

    `phase` and `op_of_call` are those of each event of the host, and `is_placed` whether its op is
    placed on the accelerator.
    """
    if not len(found):
        return
    places = [
        devices.allocator(int(kind), int(number))
        for kind, number in zip(found.device_type, found.device, strict=True)
    ]
    blocks = _blocks(found, trace.memory, [name for _, name in places], tensors)
    numbers = marks.number if len(marks.start_ns) else ints([0])
    starts = marks.start_ns if len(marks.start_ns) else found.time_ns[:1]
    first = _step(starts, blocks.start_ns)
    end_ns = np.where(blocks.release >= 0, found.time_ns[blocks.release], found.time_ns[-1])
    last = np.where(blocks.release >= 0, _step(starts, end_ns), len(starts) - 1)
    times = last - first + 1
    if (uses := int(times.sum())) > _MOST_USES + _MOST_USES_EACH * len(found):
        raise InputError(
            path,
            f"holds {len(times):,} blocks of memory in {len(starts):,} steps, {uses:,} in all, "
            "which is implausible; record fewer steps, or without `profile_memory`.",
        )
    block = np.repeat(np.arange(len(times)), times)
    purpose = _purposes(found, blocks, host, phase, starts)
    is_tensor = blocks.tensor >= 0
    purpose[is_tensor] = ints([one.purpose for one in tensors])[blocks.tensor[is_tensor]]
    step = np.arange(len(block)) - np.repeat(np.cumsum(times) - times, times) + first[block]
    is_first, is_last = step == first[block], step == last[block]
    begin = np.where(is_first, blocks.start_ns[block], starts[step])
    change = np.where(is_first, blocks.change[block], -1)
    call = np.append(found.call, -1)[blocks.change]
    op = np.append(op_of_call, -1)[call]
    holder = np.append(builder.ids([one.op for one in tensors]), -1)[blocks.tensor]
    op = np.where(holder >= 0, holder, op)
    for name, is_held in zip(_HOLDERS, (blocks.change < 0, blocks.change >= 0), strict=True):
        if len(rows := np.flatnonzero(is_held & (call < 0) & (holder < 0))):
            op[rows] = _holder(builder, name)
    on_accelerator = np.array([name != HOST for _, name in places], np.bool_)
    counted = (change >= 0) & on_accelerator[blocks.allocator[block]]
    counted &= np.append(is_placed, False)[call[block]]
    steps = builder.runs.add_steps(recording, numbers[step])
    row = builder.runs.add_allocators(
        Coded(blocks.allocator[block], Strings([name for _, name in places])),
        counted,
        op=op[block],
        step=steps,
        device=ints([device for device, _ in places])[blocks.allocator[block]],
        time_ns=begin + trace.base_ns,
        level=np.where(change >= 0, np.maximum(trace.memory.allocated[found.row[change]], 0), 0),
        purpose=purpose[block],
    )
    released = np.flatnonzero(is_last & (blocks.release[block] >= 0))
    builder.runs.add_allocations(
        use=row + np.concatenate((np.arange(len(block)), released)),
        time_ns=trace.base_ns
        + np.concatenate((begin, found.time_ns[blocks.release[block[released]]])),
        bytes=np.concatenate((blocks.bytes[block], -blocks.bytes[block[released]])),
    )


def _holder(builder: ProfileBuilder, name: str) -> int:
    """An op that only holds memory."""
    builder.add_ops(OpColumns.only_run([name]))
    (op,) = builder.ids([name])
    builder.add_type(WALKED_CALL, ints([op]))  # it computes nothing
    return int(op)


def _purposes(found: Changes, blocks: _Blocks, host: Host, phase: Ints, starts: Ints) -> Ints:
    """What each block is for, by the phase that allocated it and the phase that released it.

    What the forward pass leaves to the backward pass are activations, what that leaves to the
    optimizer gradients, and what the optimizer leaves to the next step its state.
    """
    call = np.append(found.call, -1)[blocks.change]
    released = np.where(blocks.release >= 0, found.time_ns[blocks.release], _NEVER)
    end = np.append(starts[1:], _NEVER)[_step(starts, blocks.start_ns)]
    backward = _next(host, phase == Phase.BACKWARD, blocks.start_ns)
    optimizer = _next(host, phase == Phase.OPTIMIZER, blocks.start_ns)
    # Without a backward pass, what outlives its op is for the ops after it.
    own_end = host.end_ns[call] + 1
    until = {
        Phase.FORWARD: np.where(backward < end, backward, own_end),
        Phase.BACKWARD: np.minimum(optimizer, end),
        Phase.OPTIMIZER: end,
    }
    left = {
        Phase.FORWARD: Purpose.ACTIVATIONS,
        Phase.BACKWARD: Purpose.GRADIENTS,
        Phase.OPTIMIZER: Purpose.OPTIMIZER_STATE,
    }
    purpose = np.full(len(call), Purpose.UNKNOWN)
    of_call = np.where(call >= 0, phase[call], -1)
    for one, moment in until.items():
        kept = np.where(released < moment, Purpose.TEMPORARY, left[one])
        purpose = np.where(of_call == one, kept, purpose)
    purpose[of_call == Phase.INPUT] = Purpose.INPUT
    purpose[of_call == Phase.COMMUNICATION] = Purpose.COMMUNICATION
    purpose[blocks.change < 0] = Purpose.EARLIER
    return purpose


def _next(host: Host, flags: Bools, time_ns: Ints) -> Ints:
    """When the next flagged event after each time begins."""
    begins = np.sort(host.start_ns[flags & (host.role >= 0)])
    return np.append(begins, _NEVER)[np.searchsorted(begins, time_ns)]


def _step(starts: Ints, time_ns: Ints) -> Ints:
    """The place of the step at each time."""
    return np.maximum(np.searchsorted(starts, time_ns, side="right") - 1, 0)
