"""Whatever is added, in whatever order, the built profile is valid."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tfprof.columns import Coded, ints
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NO_TIME
from tfprof.model.code import Frame
from tfprof.model.collector import Runs
from tfprof.model.devices import Device, Role
from tfprof.model.executions import MEMORY_FACTS
from tfprof.model.ops import OutputShapes
from tfprof.model.recordings import Recording

NAMES = st.sampled_from(["a", "a/b", "b", "b/c/d", "ä", "z", ""])
SHAPES = st.none() | st.lists(st.integers(-1, 4), max_size=3).map(tuple)
EDGES = st.lists(st.tuples(NAMES, st.integers(-1, 2)), max_size=3)
FRAMES = st.lists(st.builds(Frame, NAMES, st.integers(1, 3), NAMES, NAMES, st.just(-1)), max_size=3)
DEVICES = ["/device:cpu:0", "/device:gpu:0", "/device:gpu:0/stream:all", "/sync"]
NUMBERS = st.integers(0, 1000)
STEPS = st.integers(-1, 4)


@st.composite
def batches(draw):
    rows = draw(st.lists(st.tuples(NAMES, NAMES, EDGES, SHAPES, st.lists(SHAPES, max_size=2))))
    names, kinds, inputs, shapes, outputs = zip(*rows, strict=True) if rows else [()] * 5
    return OpColumns.of(names, kinds, inputs, shapes, outputs)


@st.composite
def steps_of_runs(draw, ops, devices):
    count = draw(st.integers(0, 6))

    def column(values, length=count):
        return ints(draw(st.lists(values, min_size=length, max_size=length)))

    outputs, allocations = draw(st.integers(0, 3 if count else 0)), draw(NUMBERS) % 3 * bool(count)
    owners = st.integers(0, max(count - 1, 0))
    return Runs(
        op=column(st.integers(0, ops - 1)),
        device=column(devices),
        start_ns=column(st.just(NO_TIME) | NUMBERS),
        duration_ns=column(NUMBERS),
        memory={fact: column(NUMBERS) for fact in MEMORY_FACTS},
        output_run=column(owners, outputs),
        output_slot=column(st.integers(0, 3), outputs),
        output_bytes=column(NUMBERS, outputs),
        output_address=column(NUMBERS, outputs),
        allocator_run=column(owners, allocations),
        allocator_name=Coded.of(["x", "y"][:allocations]),
        allocator_level=column(NUMBERS, allocations),
        allocator_is_accelerator=column(st.booleans(), allocations) != 0,
        allocation_allocator=column(st.integers(0, max(allocations - 1, 0)), allocations),
        allocation_ns=column(NUMBERS, allocations),
        allocation_bytes=column(st.integers(-1000, 1000), allocations),
    )


class Building(RuleBasedStateMachine):
    """Builder calls in any order that a source could make."""

    @initialize()
    def start(self):
        self.builder = ProfileBuilder()
        for label in ("here", "there"):
            self.builder.add_recording(Recording(label))
        self.devices = {0: [], 1: []}

    @rule(batch=batches())
    def add_ops(self, batch):
        self.builder.add_ops(batch)

    @rule(names=st.lists(NAMES, max_size=4))
    def ensure_ops(self, names):
        assert (self.builder.ensure_ops(names) >= 0).all()

    @rule(name=st.sampled_from(DEVICES), recording=st.integers(0, 1))
    def add_device(self, name, recording):
        device = Device(
            name,
            Role.HOST,
            is_placement=name[:-1].endswith(":"),
            is_accelerator_lane="stream" in name,
            host="",
        )
        self.devices[recording].append(self.builder.add_device(recording, device))

    @rule(step=STEPS, recording=st.integers(0, 1))
    def add_step(self, step, recording):
        self.builder.runs.add_step(recording, step)

    @precondition(lambda self: len(self.builder) and self.devices[0])
    @rule(step=STEPS, data=st.data())
    def add_runs(self, step, data):
        recording = data.draw(st.integers(0, int(bool(self.devices[1]))))
        devices = st.sampled_from(self.devices[recording])
        self.builder.add_runs(recording, step, data.draw(steps_of_runs(len(self.builder), devices)))

    @precondition(lambda self: len(self.builder))
    @rule(data=st.data(), types=st.lists(NAMES), stack=FRAMES, shapes=st.lists(SHAPES, max_size=3))
    def describe(self, data, types, stack, shapes):
        op = data.draw(st.integers(0, len(self.builder) - 1))
        self.builder.add_types([op] * len(types), Coded.of(types))
        self.builder.set_float_ops([op], [len(types)])
        self.builder.set_code([op], [self.builder.add_stack(stack)])
        self.builder.see_outputs([op], OutputShapes.of_rows([shapes]))

    @precondition(lambda self: len(self.builder) and self.devices[0])
    @rule(data=st.data())
    def place(self, data):
        op = data.draw(st.integers(0, len(self.builder) - 1))
        self.builder.place(0, ints([op]), ints([data.draw(st.sampled_from(self.devices[0]))]))

    def teardown(self):
        """The built profile is valid."""
        count = len(self.builder)
        built = self.builder.build()
        built.check()
        assert len(built.ops) == count
        assert np.all(built.records.runs >= 0)


Building.TestCase.settings = settings(max_examples=100, stateful_step_count=12)
TestBuilding = Building.TestCase
