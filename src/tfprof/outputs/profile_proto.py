"""A whole profile as one ProfileProto, for the original tool and those that know its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfprof import sums
from tfprof.columns import Ints, ints
from tfprof.errors import OutputError
from tfprof.formats import messages
from tfprof.formats.messages import Message, message_class
from tfprof.formats.profile_proto import MEMORY_FIELDS, PROFILE
from tfprof.measures.numbers import (
    float_ops_per_run,
    macs_per_run,
    repeats,
    seen_running,
)
from tfprof.measures.time import exported_micros, last_end_micros
from tfprof.metrics import Need
from tfprof.model.clock import NANOS_PER_MICRO, NO_TIME, micros_of_nanos
from tfprof.model.ops import Ops
from tfprof.model.profile import ProfileColumns

# The encoding of attributes that the format can store: those of TensorFlow.
_ATTRIBUTE = "tensorflow.AttrValue"


def encode(profile: ProfileColumns, _: Sequence[str] = ()) -> Iterator[bytes]:
    """The file piece by piece: first the nodes, by which it is recognised, then the rest.

    Remarks on the files that the profile was made from have no place in this format.
    """
    if not len(profile.ops):
        raise OutputError("The profile has no ops: there is nothing to save.")
    if len(profile.recordings) > 1:
        raise OutputError(
            f"A ProfileProto holds one recording, and this profile has {len(profile.recordings)}: "
            "save it as `--format tfprof`."
        )
    writer = _Writer(profile)
    for op in range(len(profile.ops)):
        one = message_class(PROFILE)()
        writer.fill(op, one.nodes[int(profile.ops.defined[op])])
        yield one.SerializeToString(deterministic=True)
    yield writer.rest().SerializeToString(deterministic=True)


def lacks(profile: ProfileColumns) -> Iterator[str]:
    """What the file leaves out, in sentences."""
    if profile.has(Need.VALUES):
        yield "values stay in the checkpoint: give it together with the saved profile."
    if len(profile.allocator_events) > len(profile.allocations.record):
        yield "a ProfileProto has no place for allocations on the host (`tfprof memory`)."
    shapes = len(profile.ops.seen_outputs.shape) + len(profile.ops.stated_inputs.shape)
    if shapes and macs_per_run(profile).per_run.any():
        yield "a ProfileProto has no place for shapes of the run, from which MACs are counted."
    if not profile.counts_whole_micros:
        yield "a ProfileProto has no place for times below a microsecond."


class _Writer:
    """Columns turned back into nodes."""

    def __init__(self, profile: ProfileColumns) -> None:
        self.profile = profile
        # The format has no trip counts, so the numbers include all iterations of loops.
        once = float_ops_per_run(profile).per_run
        repeated = sums.product(once, repeats(profile))
        self.float_ops = np.where(seen_running(profile), once, repeated)
        self.has_messages = _has_messages(profile.ops)
        records = profile.records
        self.record_bounds = _bounds(records.op, len(profile.ops))
        self.slot_bounds = _bounds(profile.executions.record, len(records))
        self.use_bounds = _bounds(profile.memory.record, len(records))
        self.allocation_bounds = _bounds(profile.allocations.record, len(records))
        self.outputs_order = np.argsort(profile.output_memory.use, kind="stable")
        self.output_bounds = _bounds(
            profile.output_memory.use[self.outputs_order], len(profile.memory)
        )
        starts = np.where(records.first_start_ns == NO_TIME, 0, records.first_start_ns)
        self.first_start: list[int] = micros_of_nanos(starts).tolist()
        self.last_end: list[int] = last_end_micros(profile).tolist()
        self.start_micros: list[int] = micros_of_nanos(profile.executions.start_ns).tolist()
        self.run_micros: list[int] = exported_micros(profile).tolist()
        code = profile.code
        texts = [*code.file.values, *code.function.values, *code.text.values]
        self.ids = {text: number for number, text in enumerate(dict.fromkeys(texts))}

    def rest(self) -> Message:
        """All but the nodes."""
        return message_class(PROFILE)(
            has_trace=self.profile.has_code,
            miss_accelerator_stream=self.profile.lacks_accelerator_time,
            steps=self.profile.steps.numbers(),
            id_to_string={number: text for text, number in self.ids.items()},
            copies=self._copies(),
        )

    def _copies(self) -> list[dict[str, Any]]:
        """The transfers between devices, which belong to no node."""
        copies, devices = self.profile.copies, self.profile.devices
        return [
            {
                "step": int(self.profile.steps.number[copies.step[row]]),
                "name": copies.name[row],
                "device": devices.name[int(copies.device[row])],
                "start_micros": int(copies.start_ns[row]) // NANOS_PER_MICRO,
                "micros": int(copies.duration_ns[row]) // NANOS_PER_MICRO,
            }
            for row in range(len(copies))
        ]

    def fill(self, op: int, node: Message) -> None:
        ops = self.profile.ops
        node.name = ops.name[op]
        node.op = ops.kind[op]
        node.id = int(ops.defined[op])
        node.float_ops = int(self.float_ops[op])
        node.op_types.extend(ops.types.of(op))
        node.shape.extend(_dims(ops.shape[op]))
        for slot in range(ops.outputs.count(op)):
            node.output_shapes[slot].int64_values.extend(_dims(ops.outputs.of(op, slot)))
        self._fill_inputs(op, node)
        self._fill_device(op, node)
        self._fill_code(op, node)
        if self.has_messages[ops.origins.input[op]]:
            for name, encoded in ops.origins.encoded_attributes(op).items():
                _copy_attribute(name, encoded, node)
        for record in range(self.record_bounds[op], self.record_bounds[op + 1]):
            number = int(self.profile.steps.number[self.profile.records.step[record]])
            self._fill_record(record, node.execs[number])

    def _fill_inputs(self, op: int, node: Message) -> None:
        ops = self.profile.ops
        for place, source in enumerate(ops.inputs.source[ops.inputs.of(op)].tolist()):
            # An op that the graph names but does not define has no id.
            number = int(ops.defined[source]) if source >= 0 else -1
            node.inputs[place] = number
            if source >= 0:
                node.src_output_index[number] = 0

    def _fill_device(self, op: int, node: Message) -> None:
        for device in self.profile.op_devices[op][:1].tolist():
            node.canonical_device = self.profile.devices.name[device]
            node.host_device = self.profile.devices.host[device]

    def _fill_code(self, op: int, node: Message) -> None:
        row = int(self.profile.ops.code[op])
        for frame in self.profile.code.stack(row) if row >= 0 else ():
            node.trace.traces.add(
                file_id=self.ids[frame.file],
                lineno=frame.line,
                function_id=self.ids[frame.function],
                line_id=self.ids[frame.text],
                func_start_line=frame.function_line,
            )

    def _fill_record(self, record: int, execution: Message) -> None:
        records, devices = self.profile.records, self.profile.devices
        execution.run_count = int(records.runs[record])
        execution.all_start_micros = self.first_start[record]
        execution.latest_end_micros = self.last_end[record]
        execution.devices.extend(sorted(devices.name.take(records.devices[record])))
        slots = self.profile.executions
        for slot in range(self.slot_bounds[record], self.slot_bounds[record + 1]):
            device = int(slots.device[slot])
            is_lane = devices.is_accelerator_lane[device]
            times = execution.accelerator_execs if is_lane else execution.cpu_execs
            pair = [self.start_micros[slot], self.run_micros[slot]]
            times[devices.name[device]].times.add(int64_values=pair)
        for use in range(self.use_bounds[record], self.use_bounds[record + 1]):
            self._fill_memory(use, execution.memory_execs.add())
        allocations = self.profile.allocations
        for row in range(self.allocation_bounds[record], self.allocation_bounds[record + 1]):
            execution.allocations.add(
                alloc_micros=int(allocations.time_ns[row]) // NANOS_PER_MICRO,
                alloc_bytes=int(allocations.bytes[row]),
            )

    def _fill_memory(self, use: int, message: Message) -> None:
        memory, outputs = self.profile.memory, self.profile.output_memory
        for fact, field in MEMORY_FIELDS.items():
            if fact == "micros":
                message.memory_micros = int(memory.time_ns[use]) // NANOS_PER_MICRO
            else:
                setattr(message, field, int(getattr(memory, fact)[use]))
        for place in range(self.output_bounds[use], self.output_bounds[use + 1]):
            row = self.outputs_order[place]
            entry: Any = message.output_memory[int(outputs.slot[row])]
            entry.bytes = int(outputs.bytes[row])
            entry.ptr = int(outputs.address[row]) % 2**64


def _has_messages(ops: Ops) -> list[bool]:
    """For each input that defined ops, whether the values of their attributes are messages."""
    nothing = ints([])
    readers = [origin.attributes for origin in ops.origins.inputs]
    return [one is not None and one.table(nothing).encoding == _ATTRIBUTE for one in readers]


def _copy_attribute(name: str, encoded: bytes, node: Message) -> None:
    try:
        node.attrs[name].MergeFromString(encoded)
    except messages.DecodeError:
        raise OutputError(
            f"The attribute `{name}` of the op {node.name} is damaged, so it cannot be saved."
        ) from None


def _bounds(owner: Ints, count: int) -> list[int]:
    """Where the rows of each owner begin in sorted `owner`, and the last ones end."""
    bounds: list[int] = np.searchsorted(owner, np.arange(count + 1)).tolist()
    return bounds


def _dims(shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """A shape as the format has it: a scalar as 1, an unknown rank as nothing."""
    return () if shape is None else shape or (1,)
