"""Builds profiles for tests: `profile(op("a/w", shape=(3, 3)), run("a/w", micros=12))`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tfprof.columns import Coded, Ints, ints, offsets_of
from tfprof.model.attributes import AttributeTable, AttributeValue
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NO_TIME, nanos_of_micros
from tfprof.model.code import Frame
from tfprof.model.collector import Runs
from tfprof.model.devices import Device, Role
from tfprof.model.executions import MEMORY_FACTS
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.model.ops import Ops, OutputShapes, Phase
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Recording
from tfprof.sources.registry import remedies
from tfprof.sources.tf_names import TENSORFLOW_NAMES

CPU = "/job:localhost/replica:0/task:0/device:cpu:0"
GPU = "/job:localhost/replica:0/task:0/device:gpu:0"
GPU_STREAM = "/device:gpu:0/stream:all"
MEMCPY = "/device:gpu:0/memcpy"


@dataclass(frozen=True)
class OpFact:
    """An op of a test profile."""

    name: str
    kind: str = "Op"
    shape: tuple[int, ...] | None = None
    inputs: Sequence[str] = ()
    outputs: Sequence[tuple[int, ...] | None] = ()
    types: Sequence[str] = ()
    float_ops: int = 0
    code: Sequence[str] = ()  # `file.py:line:function`, outermost first
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    layer: str = ""  # the path of a layer, which must be one of `layers`
    stated_inputs: Sequence[tuple[int, ...] | None] = ()
    phase: Phase | None = None  # by default that of its name in TensorFlow
    part_of: str = ""  # the op inside which it runs


@dataclass(frozen=True)
class LayerFact:
    """A layer of a test profile, with its path; the layer that contains it must come first."""

    path: str
    kind: str = ""
    output_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RunFact:
    """One run of an op of a test profile."""

    name: str
    micros: float = 1
    step: int = 0
    start: float = 1000  # in microseconds; 0: unknown
    device: str = CPU
    memory: Mapping[str, int] = field(default_factory=dict)
    allocators: Sequence[AllocatorFact] = ()
    allocations: Sequence[tuple[int, int]] = ()  # shortcut for a single allocator of an accelerator
    outputs: Sequence[tuple[int, int, int]] = ()  # slot, bytes, address
    recording: str = "here"

    @property
    def nanos(self) -> int:
        return _nanos(self.micros)

    @property
    def used(self) -> list[AllocatorFact]:
        """All allocators of the run."""
        if not self.allocations:
            return list(self.allocators)
        return [*self.allocators, AllocatorFact("gpu", self.allocations, is_accelerator=True)]


@dataclass(frozen=True)
class AllocatorFact:
    """An allocator of a run; an event is a time and the bytes allocated (negative: freed)."""

    name: str
    events: Sequence[tuple[int, int]] = ()
    level: int = 0
    is_accelerator: bool = False


@dataclass(frozen=True)
class CopyFact:
    """One transfer between devices of a test profile."""

    name: str
    micros: float = 1
    step: int = 0
    start: float = 1000
    device: str = MEMCPY
    recording: str = "here"
    op: str = ""  # which launched it, and ran in the same step; unknown if empty

    @property
    def nanos(self) -> int:
        return _nanos(self.micros)


op = OpFact
layer = LayerFact
run = RunFact
allocator = AllocatorFact
copy = CopyFact


def profile(
    *facts: OpFact | LayerFact | RunFact | CopyFact,
    counts_float_ops: bool = False,
    counts_whole_micros: bool = True,
) -> ProfileColumns:
    """A profile of these facts; an op that is only run has just a name."""
    builder = ProfileBuilder(counts_float_ops=counts_float_ops)
    builder.remedies |= remedies([])
    ops = [fact for fact in facts if isinstance(fact, OpFact)]
    _define(builder, ops)
    runs = [fact for fact in facts if isinstance(fact, RunFact)]
    builder.ensure_ops([fact.name for fact in runs], TENSORFLOW_NAMES)
    copies = [fact for fact in facts if isinstance(fact, CopyFact)]
    for label in dict.fromkeys(fact.recording for fact in (*runs, *copies)):
        builder.add_recording(
            Recording(label, rank=_rank(label), counts_whole_micros=counts_whole_micros)
        )
    for place in dict.fromkeys((fact.recording, fact.step) for fact in runs):
        row = _row(builder, place[0])
        found = [fact for fact in runs if (fact.recording, fact.step) == place]
        builder.add_runs(row, place[1], _runs(builder, row, found))
    for fact in copies:
        row = _row(builder, fact.recording)
        builder.runs.add_copies(
            Coded.of([fact.name]),
            op=builder.ids([fact.op] if fact.op else [""]),
            step=ints([builder.runs.add_step(row, fact.step)]),
            device=ints([_device(builder, row, fact.device)]),
            start_ns=ints([_start_ns(fact)]),
            duration_ns=ints([fact.nanos]),
        )
    _describe(builder, ops)
    _set_layers(builder, [fact for fact in facts if isinstance(fact, LayerFact)], ops)
    built = builder.build()
    built.check()
    return built


class Attributes:
    """The attributes of the ops of a test profile."""

    def __init__(self, ops: Sequence[OpFact]) -> None:
        self.ops = ops

    def get(self, position: int, name: str) -> AttributeValue:
        return self.ops[position].attributes.get(name)

    def encoded(self, position: int) -> Mapping[str, bytes]:
        return {
            name: json.dumps(value).encode()
            for name, value in sorted(self.ops[position].attributes.items())
        }

    def encoded_values(
        self, positions: Ints, names: Sequence[str]
    ) -> list[tuple[bytes | None, ...]]:
        found = [self.encoded(position) for position in positions.tolist()]
        return [tuple(one.get(name) for name in names) for one in found]

    def table(self, positions: Ints) -> AttributeTable:
        found = [self.encoded(position) for position in positions.tolist()]
        values = Coded.of([value.decode() for one in found for value in one.values()])
        return AttributeTable(
            offsets_of(ints([len(one) for one in found])),
            Coded.of([name for one in found for name in one]),
            values.codes,
            values.values,
            "json",
        )


class Facts:
    """The phases of ops, as stated or by their names in TensorFlow."""

    def __init__(self, ops: Sequence[OpFact]) -> None:
        self.stated = [fact.phase for fact in ops]

    def phases(self, ops: Ops, rows: Ints) -> Ints:
        named = TENSORFLOW_NAMES.phases(ops, rows).tolist()
        stated = [self.stated[place] for place in ops.origins.position[rows].tolist()]
        pairs = zip(stated, named, strict=True)
        return ints([name if phase is None else phase for phase, name in pairs])

    def forward_of(self, ops: Ops, rows: Ints) -> Ints:
        return TENSORFLOW_NAMES.forward_of(ops, rows)


def _define(builder: ProfileBuilder, ops: Sequence[OpFact]) -> None:
    columns = OpColumns.of(
        names=[fact.name for fact in ops],
        kinds=[fact.kind for fact in ops],
        inputs=[[_edge(text) for text in fact.inputs] for fact in ops],
        shapes=[fact.shape for fact in ops],
        outputs=[list(fact.outputs) for fact in ops],
        attributes=Attributes(ops),
        conventions=Facts(ops),
    )
    stated = OutputShapes.of_rows([fact.stated_inputs for fact in ops])
    builder.add_ops(replace(columns, stated_inputs=stated))


def _edge(text: str) -> tuple[str, int]:
    """An input: `a`, `a:1`, or `^a` for a control input."""
    name, _, slot = text.partition(":")
    return (name[1:], -1) if name.startswith("^") else (name, int(slot or 0))


def _describe(builder: ProfileBuilder, ops: Sequence[OpFact]) -> None:
    for fact, number in zip(ops, builder.ids(fact.name for fact in ops), strict=True):
        builder.add_types([number] * len(fact.types), Coded.of(fact.types))
        if fact.part_of:
            builder.set_part_of([number], builder.ids([fact.part_of]))
        if fact.float_ops:
            builder.set_float_ops([number], [fact.float_ops])
        if fact.code:
            builder.mark_has_code()
            builder.set_code([number], [builder.add_stack([_frame(text) for text in fact.code])])


def _set_layers(
    builder: ProfileBuilder, layers: Sequence[LayerFact], ops: Sequence[OpFact]
) -> None:
    places = {fact.path: place for place, fact in enumerate(layers)}
    rows = []
    for fact in layers:
        above, _, name = fact.path.rpartition("/")
        rows.append(Layer(name, places.get(above, NO_LAYER), fact.kind, fact.output_shape))
    added = builder.add_layers(rows)
    owned = [fact for fact in ops if fact.layer]
    ids = builder.ids([fact.name for fact in owned])
    builder.set_layer(ids, added[ints([places[fact.layer] for fact in owned])])


def _frame(text: str) -> Frame:
    file, line, function = text.split(":")
    return Frame(file, int(line), function, "", -1)


def _row(builder: ProfileBuilder, label: str) -> int:
    """The row of the recording with that label."""
    return [one.label for one in builder.recordings].index(label)


def _rank(label: str) -> int:
    """The rank at the end of a label such as `worker:3`; -1 if there is none."""
    *_, last = label.split(":")
    return int(last) if last.isdigit() else -1


def _runs(builder: ProfileBuilder, row: int, runs: Sequence[RunFact]) -> Runs:
    allocators = [used for fact in runs for used in fact.used]
    outputs = [(row, *output) for row, fact in enumerate(runs) for output in fact.outputs]
    run, slot, size, address = ints(outputs).reshape(-1, 4).T
    return Runs(
        op=ints(builder.ids(fact.name for fact in runs)),
        device=ints([_device(builder, row, fact.device) for fact in runs]),
        start_ns=ints([_start_ns(fact) for fact in runs]),
        duration_ns=ints([fact.nanos for fact in runs]),
        memory={fact: _memory(runs, fact) for fact in MEMORY_FACTS},
        output_run=run,
        output_slot=slot,
        output_bytes=size,
        output_address=address,
        allocator_run=np.repeat(np.arange(len(runs)), [len(fact.used) for fact in runs]),
        allocator_name=Coded.of([used.name for used in allocators]),
        allocator_level=ints([used.level for used in allocators]),
        allocator_is_accelerator=np.array([used.is_accelerator for used in allocators], np.bool_),
        allocation_allocator=np.repeat(
            np.arange(len(allocators)), [len(used.events) for used in allocators]
        ),
        allocation_ns=nanos_of_micros(
            ints([micros for used in allocators for micros, _ in used.events])
        ),
        allocation_bytes=ints([size for used in allocators for _, size in used.events]),
    )


def _start_ns(fact: RunFact | CopyFact) -> int:
    return _nanos(fact.start) if fact.start else NO_TIME


def _nanos(micros: float) -> int:
    """Microseconds as nanoseconds; whole ones are limited as when a file is read."""
    whole = nanos_of_micros(ints([int(micros)]))
    return int(whole[0]) + round(1000 * (micros - int(micros)))


def _memory(runs: Sequence[RunFact], fact: str) -> Ints:
    if fact == "time_ns":
        return np.array([_nanos(run.memory.get("micros", 0)) for run in runs], np.int64)
    return np.array([run.memory.get(fact, 0) for run in runs], np.int64)


def _device(builder: ProfileBuilder, row: int, name: str) -> int:
    is_lane = "stream:all" in name
    is_copy = name == MEMCPY
    role = Role.ACCELERATOR if "gpu" in name else Role.HOST
    return builder.add_device(
        row,
        Device(
            name,
            role=Role.COPY_ENGINE if is_copy else role,
            is_placement=not is_lane and not is_copy,
            is_accelerator_lane=is_lane,
            host=name.replace("gpu", "cpu"),
        ),
    )
