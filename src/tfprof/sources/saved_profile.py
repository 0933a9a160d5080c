"""A ProfileProto: a profile that was saved whole."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfprof.columns import Coded, Ints, ints
from tfprof.formats import profile_proto
from tfprof.formats.messages import Message
from tfprof.formats.op_log import StackReader
from tfprof.formats.profile_proto import MEMORY_FIELDS, SavedNode
from tfprof.formats.records import Records
from tfprof.formats.wire import signed
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.code import Frame
from tfprof.model.ops import MOST_OUTPUTS
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_devices import add_device

# The name under which an input is not found: no program gives an op this one.
_NO_OP = "\0"


def add(records: Records, builder: ProfileBuilder) -> None:
    """Add everything the saved profile holds; its float ops were settled when it was saved."""
    builder.settle_float_ops()
    header = profile_proto.header(records)
    nodes = sorted(profile_proto.nodes(records), key=lambda node: node.id)
    _define(records, nodes, builder)
    if header.has_trace:
        builder.mark_has_code()
    if header.misses_accelerator_stream:
        builder.mark_lacks_accelerator_time()
    for step in header.steps:
        builder.add_step(step)
    messages = [node.message for node in nodes]
    ops = builder.ids(message.name for message in messages)
    _describe(messages, ops, builder)
    _locate(messages, ops, StackReader(records.path, header.strings), builder)
    recordings = _Recordings(builder)
    for message, op in zip(messages, ops.tolist(), strict=True):
        for step, execution in sorted(message.execs.items()):
            recordings.collect(op, step, execution)
    recordings.add()


def _define(records: Records, nodes: list[SavedNode], builder: ProfileBuilder) -> None:
    name_of = {node.id: node.message.name for node in nodes}
    messages = [node.message for node in nodes]
    builder.add_ops(
        OpColumns.of(
            names=[message.name for message in messages],
            kinds=[message.op for message in messages],
            inputs=[_inputs(message, name_of) for message in messages],
            shapes=[_shape(message.shape) for message in messages],
            outputs=[_outputs(message) for message in messages],
            attributes=EncodedAttributes(
                records,
                ints([node.start for node in nodes]),
                ints([node.end for node in nodes]),
                profile_proto.RAW_NODE_ENTRY,
                ("value", "attrs"),
            ),
        )
    )


def _inputs(message: Message, name_of: dict[int, str]) -> list[tuple[str, int]]:
    # An id without a node stands for an op that the graph named but did not define.
    return [(name_of.get(message.inputs[place], _NO_OP), 0) for place in sorted(message.inputs)]


def _shape(dims: Iterable[int]) -> tuple[int, ...] | None:
    return tuple(dims) or None


def _outputs(message: Message) -> list[tuple[int, ...] | None]:
    shapes = message.output_shapes
    count = min(max(shapes, default=-1) + 1, MOST_OUTPUTS)
    return [_shape(shapes[slot].int64_values) if slot in shapes else None for slot in range(count)]


def _describe(messages: list[Message], ops: Ints, builder: ProfileBuilder) -> None:
    types = [list(message.op_types) for message in messages]
    given = Coded.of([type_ for row in types for type_ in row])
    builder.add_types(np.repeat(ops, [len(row) for row in types]), given)
    float_ops = ints([message.float_ops for message in messages])
    builder.set_float_ops(ops[float_ops != 0], float_ops[float_ops != 0])
    homes = [message.canonical_device for message in messages]
    devices = {home: add_device(builder, home) for home in dict.fromkeys(homes) if home}
    placed = [place for place, home in enumerate(homes) if home]
    builder.place(ops[placed], [devices[homes[place]] for place in placed])


def _locate(
    messages: list[Message], ops: Ints, reader: StackReader, builder: ProfileBuilder
) -> None:
    stacks: dict[bytes, int] = {}
    rows = []
    located = [place for place, message in enumerate(messages) if message.trace.traces]
    for place in located:
        code = messages[place].trace.SerializeToString()
        if code not in stacks:
            stacks[code] = builder.add_stack([Frame(*trace) for trace in reader.read([code])[0]])
        rows.append(stacks[code])
    builder.set_code(ops[located], rows)


class _Recordings:
    """Rows of what was recorded, collected over all nodes and added at once."""

    def __init__(self, builder: ProfileBuilder) -> None:
        self.builder = builder
        self.sightings: list[tuple[int, ...]] = []
        self.slots: list[tuple[int, ...]] = []
        self.uses: list[tuple[int, ...]] = []
        self.outputs: list[tuple[int, ...]] = []
        self.allocations: list[tuple[int, ...]] = []

    def collect(self, op: int, step: int, execution: Message) -> None:
        """Take one op in one step."""
        first, end, runs = (
            execution.all_start_micros,
            execution.latest_end_micros,
            execution.run_count,
        )
        # What is said of all devices together is booked on the first; the others only appear.
        for device in execution.devices or ("",):
            code = add_device(self.builder, device) if device else -1
            self.sightings.append((op, step, code, first, end, runs))
            first = end = runs = 0
        for devices in (execution.accelerator_execs, execution.cpu_execs):
            self._collect_slots(op, step, devices)
        for use in execution.memory_execs:
            self._collect_use(op, step, use)
        self.allocations.extend(
            (op, step, record.alloc_micros, record.alloc_bytes) for record in execution.allocations
        )

    def _collect_slots(self, op: int, step: int, devices: Message) -> None:
        for device, times in sorted(devices.items()):
            code = add_device(self.builder, device)
            self.slots.extend(
                (op, step, code, *time.int64_values[:2])
                for time in times.times
                if len(time.int64_values) > 1
            )

    def _collect_use(self, op: int, step: int, use: Message) -> None:
        place = len(self.uses)
        self.uses.append((op, step, *(getattr(use, field) for field in MEMORY_FIELDS.values())))
        self.outputs.extend(
            (place, slot, memory.bytes, signed(memory.ptr))
            for slot, memory in sorted(use.output_memory.items())
        )

    def add(self) -> None:
        """Hand everything to the builder."""
        recordings = self.builder.recordings
        steps = {row[1] for row in self.sightings}
        for step in steps:
            recordings.add_step(step)
        first_use = recordings.memory_count()
        key = ("op", "step")
        recordings.add_sightings(**_columns(self.sightings, *key, "device", "start", "end", "runs"))
        recordings.add_slots(**_columns(self.slots, *key, "device", "start", "duration"))
        recordings.add_memory(**_columns(self.uses, *key, *MEMORY_FIELDS))
        outputs = _columns(self.outputs, "use", "slot", "bytes", "address")
        recordings.add_output_memory(**outputs | {"use": outputs["use"] + first_use})
        recordings.add_allocations(**_columns(self.allocations, *key, "micros", "bytes"))


def _columns(rows: list[tuple[int, ...]], *names: str) -> dict[str, Ints]:
    """Rows of numbers as named columns."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: ints(column) for name, column in zip(names, columns, strict=True)}
