"""Adds a finished profile to one being built; ops with the same name are merged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Strings, ints
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NO_TIME
from tfprof.model.devices import Device, Devices, Role
from tfprof.model.executions import MEMORY_FACTS
from tfprof.model.ops import Ops
from tfprof.model.profile import ProfileColumns
from tfprof.model.stated import MovedAttributes, StatedFacts
from tfprof.model.variants import names_among

# The name of unknown ops in inputs; no real op has it.
_NO_OP = "\0"


def add_profile(builder: ProfileBuilder, profile: ProfileColumns) -> Ints:
    """Add all of `profile`; its recordings stay separate from those already in `builder`.

    Returns the builder's ids of its ops.
    """
    if profile.has_code:
        builder.mark_has_code()
    if profile.lacks_accelerator_time:
        builder.mark_lacks_accelerator_time()
    if profile.lacks_host_allocations:
        builder.mark_lacks_host_allocations()
    if not profile.counts_float_ops:
        builder.settle_float_ops()
    names = names_among(profile.ops, builder.shared_names)
    _define(profile, names, builder)
    ops = builder.ids(names)
    _add_edges(profile.ops, builder, ops)
    _describe(profile.ops, builder, ops)
    _locate(profile, builder, ops)
    _add_layers(profile, builder, ops)
    _record(_Recorded.of(profile, builder, ops))
    if len(profile.tensors):
        builder.set_tensors(profile.tensors)
    return ops


def _define(profile: ProfileColumns, names: Strings, builder: ProfileBuilder) -> None:
    """Define the ops by these names, input by input, in the order of their first definitions."""
    ops = profile.ops
    by_place = np.argsort(ops.defined)
    source = np.where(ops.inputs.source < 0, len(ops), ops.inputs.source)
    source_names = Strings.joined([names, Strings([_NO_OP])]).take(source)
    edges = _edges(ops, of_traces=False)
    for place, origin in enumerate(ops.origins.inputs):
        rows = by_place[ops.origins.input[by_place] == place]
        inputs = edges.take(rows)
        attributes = origin.attributes
        builder.add_ops(
            OpColumns(
                name=names.take(rows),
                kind=ops.kind.take(rows),
                input_offsets=inputs.offsets,
                input_name=source_names.take(inputs.values),
                input_slot=ops.inputs.slot[inputs.values],
                shape=ops.shape.take(rows),
                outputs=ops.outputs.take(rows),
                attributes=attributes and MovedAttributes(attributes, ops.origins.position[rows]),
                conventions=StatedFacts(profile.phase[rows], profile.forward_of[rows], names),
                is_defined=origin.is_defined,
                stated_inputs=ops.stated_inputs.take(rows),
            )
        )


def _edges(ops: Ops, *, of_traces: bool) -> Ragged:
    """For each op the rows of its inputs, if it is an op of a trace, or if it is another op."""
    edges = Ragged(ops.inputs.offsets, np.arange(len(ops.inputs.source)))
    is_traced = ops.signature != 0
    return edges.where(is_traced[edges.owners] == of_traces) if is_traced.any() else edges


def _add_edges(ops: Ops, builder: ProfileBuilder, ids: Ints) -> None:
    """Add the edges of ops of traces: each recording adds what it saw."""
    if not ops.signature.any():
        return
    edges = _edges(ops, of_traces=True)
    source, slot = ops.inputs.source[edges.values], ops.inputs.slot[edges.values]
    known = np.flatnonzero(source >= 0)
    builder.add_edges(ids[edges.owners[known]], ids[source[known]], slot[known])


def _describe(ops: Ops, builder: ProfileBuilder, ids: Ints) -> None:
    types = ops.types
    builder.add_types(ids[types.members.owners], Coded(types.members.values, types.names))
    logged = np.flatnonzero(ops.logged_float_ops)
    builder.set_float_ops(ids[logged], ops.logged_float_ops[logged])
    parts = np.flatnonzero(ops.part_of >= 0)
    builder.set_part_of(ids[parts], ids[ops.part_of[parts]])
    builder.set_signature(ids, ops.signature)
    repeated = np.flatnonzero(ops.repeats != 1)
    builder.set_repeats(ids[repeated], ops.repeats[repeated])
    builder.mark_covered(ids[ops.is_covered])
    seen = np.flatnonzero(np.diff(ops.seen_outputs.offsets))
    builder.see_outputs(ids[seen], ops.seen_outputs.take(seen))


def _locate(profile: ProfileColumns, builder: ProfileBuilder, ids: Ints) -> None:
    """Add the calls, and link each op to the call that created it."""
    calls: list[int] = []
    for row, caller in enumerate(profile.code.caller.tolist()):
        frame = profile.code.frame(row)
        calls.append(builder.add_call(calls[caller] if caller >= 0 else -1, frame))
    located = np.flatnonzero(profile.ops.code >= 0)
    builder.set_code(ids[located], ints(calls)[profile.ops.code[located]])


def _add_layers(profile: ProfileColumns, builder: ProfileBuilder, ids: Ints) -> None:
    """Add the layers, and link each op to its layer."""
    added = builder.add_layers(profile.layers.rows())
    owned = np.flatnonzero(profile.ops.layer >= 0)
    builder.set_layer(ids[owned], added[profile.ops.layer[owned]])


@dataclass(frozen=True, slots=True, eq=False)
class _Recorded:
    """A profile, with the builder's ids of its ops, steps and devices."""

    profile: ProfileColumns
    builder: ProfileBuilder
    recordings: list[int]
    ops: Ints
    steps: Ints
    devices: Ints  # with an extra -1 at the end, so that device -1 maps to -1

    @classmethod
    def of(cls, profile: ProfileColumns, builder: ProfileBuilder, ops: Ints) -> _Recorded:
        rows = range(len(profile.recordings))
        recordings = [builder.add_recording(profile.recordings[row]) for row in rows]
        devices = zip(profile.devices.recording.tolist(), _devices(profile.devices), strict=True)
        return cls(
            profile,
            builder,
            recordings,
            ops,
            _add_steps(profile, builder, recordings),
            ints([*(builder.add_device(recordings[row], device) for row, device in devices), -1]),
        )

    def key(self, record: Ints) -> dict[str, Ints]:
        """The op and step columns of these records."""
        records = self.profile.records
        return {"op": self.ops[records.op[record]], "step": self.steps[records.step[record]]}


def _add_steps(profile: ProfileColumns, builder: ProfileBuilder, recordings: list[int]) -> Ints:
    """The ids of the steps, added with their bounds."""
    steps = profile.steps
    rows = zip(steps.recording.tolist(), steps.number.tolist(), strict=True)
    ids = ints([builder.runs.add_step(recordings[row], number) for row, number in rows])
    bounded = np.flatnonzero(steps.start_ns != NO_TIME)
    builder.runs.set_bounds(ids[bounded], steps.start_ns[bounded], steps.end_ns[bounded])
    builder.runs.set_setup(ids, steps.setup_ns)
    return ids


def _devices(devices: Devices) -> list[Device]:
    rows = zip(
        devices.name,
        map(Role, devices.role.tolist()),
        devices.is_placement.tolist(),
        devices.is_accelerator_lane.tolist(),
        devices.host,
        devices.model,
        strict=True,
    )
    return [Device(*row) for row in rows]


def _record(found: _Recorded) -> None:
    profile, runs = found.profile, found.builder.runs
    _place(found)
    _add_kernels(found)
    _add_records(found)
    executions, copies = profile.executions, profile.copies
    runs.add_slots(
        **found.key(executions.record),
        device=found.devices[executions.device],
        start_ns=executions.start_ns,
        duration_ns=executions.duration_ns,
    )
    _add_memory(found)
    _add_allocations(found)
    launched_by = np.full(len(copies), -1)
    known = np.flatnonzero(copies.record >= 0)
    launched_by[known] = found.key(copies.record[known])["op"]
    runs.add_copies(
        copies.name,
        op=launched_by,
        step=found.steps[copies.step],
        device=found.devices[copies.device],
        start_ns=copies.start_ns,
        duration_ns=copies.duration_ns,
    )
    kernels = profile.kernel_runs
    runs.add_kernel_runs(
        replace(
            kernels,
            op=np.append(found.ops, -1)[kernels.op],
            step=found.steps[kernels.step],
            device=found.devices[kernels.device],
        )
    )
    waits = profile.waits
    runs.add_waits(
        step=found.steps[waits.step], start_ns=waits.start_ns, duration_ns=waits.duration_ns
    )
    messages = profile.messages
    runs.add_messages(
        messages.kind,
        messages.group,
        op=found.ops[messages.op],
        step=found.steps[messages.step],
        start_ns=messages.start_ns,
        ranks=messages.ranks,
        bytes=messages.bytes,
    )


def _place(found: _Recorded) -> None:
    placed = found.profile.placements
    owners = found.profile.devices.recording[placed.device]
    for place, recording in enumerate(found.recordings):
        rows = np.flatnonzero(owners == place)
        found.builder.place(
            recording, found.ops[placed.op[rows]], found.devices[placed.device[rows]]
        )


def _add_kernels(found: _Recorded) -> None:
    """Add the kinds as which ops ran; where that is not stated, they ran as their own kind."""
    profile, builder = found.profile, found.builder
    placed, other = profile.placements, profile.other_kernels
    owners = profile.devices.recording[placed.device]
    for place, recording in enumerate(found.recordings):
        own, stated = placed.op[owners == place], np.flatnonzero(other.recording == place)
        own = np.setdiff1d(own, other.op[stated])
        builder.add_kernels(recording, found.ops[own], profile.ops.kind.take(own))
        builder.add_kernels(recording, found.ops[other.op[stated]], other.kind.take(stated))


def _add_records(found: _Recorded) -> None:
    """Add the records: the first device of each with times and run count, then the others."""
    records, runs = found.profile.records, found.builder.runs
    devices = records.devices
    first = np.where(devices.lengths > 0, devices.offsets[:-1], -1)
    device = found.devices[np.append(devices.values, -1)]
    runs.add_sightings(
        **found.key(np.arange(len(records))),
        device=device[first],
        start_ns=records.first_start_ns,
        end_ns=records.last_end_ns,
        runs=records.runs,
    )
    others = np.delete(np.arange(len(devices.values)), first[first >= 0])
    nothing = np.zeros(len(others), np.int64)
    runs.add_sightings(
        **found.key(devices.owners[others]),
        device=device[others],
        start_ns=nothing + NO_TIME,
        end_ns=nothing,
        runs=nothing,
    )


def _add_memory(found: _Recorded) -> None:
    memory, outputs = found.profile.memory, found.profile.output_memory
    runs = found.builder.runs
    first = runs.memory_count()
    facts = {fact: getattr(memory, fact) for fact in MEMORY_FACTS}
    runs.add_memory(**found.key(memory.record), **facts)
    runs.add_output_memory(
        use=outputs.use + first, slot=outputs.slot, bytes=outputs.bytes, address=outputs.address
    )


def _add_allocations(found: _Recorded) -> None:
    uses, events = found.profile.allocator_uses, found.profile.allocator_events
    runs = found.builder.runs
    first = runs.add_allocators(
        uses.allocator,
        uses.record >= 0,
        op=found.ops[uses.op],
        step=found.steps[uses.step],
        device=found.devices[uses.device],
        time_ns=uses.time_ns,
        level=uses.level,
        purpose=uses.purpose,
    )
    runs.add_allocations(use=events.use + first, time_ns=events.time_ns, bytes=events.bytes)
