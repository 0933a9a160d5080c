"""The builder keeps the first definition of an op and merges runs by op and step."""

from dataclasses import replace

import numpy as np
import pytest

from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.columns import Coded, Shapes, Strings, ints
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.clock import NO_TIME
from tfprof.model.code import Frame
from tfprof.model.collector import Runs
from tfprof.model.devices import Device, Role
from tfprof.model.executions import MEMORY_FACTS
from tfprof.model.ops import OutputShapes
from tfprof.model.recordings import Recording
from tfprof.model.tensors import Tensors

OTHER_CPU = "/job:worker/replica:0/task:1/device:cpu:0"
SYNC = "/device:gpu:0/sync"


@pytest.fixture
def builder():
    """A builder with one recording."""
    found = ProfileBuilder()
    found.add_recording(Recording("here"))
    return found


def batch(*names, kind="Op", **columns):
    """The columns of similar ops."""
    given = {
        "kinds": [kind] * len(names),
        "inputs": [()] * len(names),
        "shapes": [None] * len(names),
        "outputs": [()] * len(names),
    }
    return OpColumns.of(names, **given | columns)


def devices(builder):
    """The ids of three devices: one for placement, an accelerator lane, and neither."""
    return (
        builder.add_device(0, Device(CPU, Role.HOST, True, False, CPU)),
        builder.add_device(0, Device(GPU_STREAM, Role.ACCELERATOR, False, True, CPU)),
        builder.add_device(0, Device(SYNC, Role.HOST, False, False, CPU)),
    )


def runs(op, device, start=(), duration=(), **more):
    """Runs with times in nanoseconds; by default they start at 100 and take 1."""
    nothing = ints([])
    count = len(op)
    columns = {
        "start_ns": ints(list(start) or [100] * count),
        "duration_ns": ints(list(duration) or [1] * count),
        "memory": {fact: ints([0] * count) for fact in MEMORY_FACTS},
        **dict.fromkeys(("output_run", "output_slot", "output_bytes", "output_address"), nothing),
        **dict.fromkeys(("allocator_run", "allocator_level", "allocator_is_accelerator"), nothing),
        "allocator_name": Coded.of([]),
        **dict.fromkeys(("allocation_allocator", "allocation_ns", "allocation_bytes"), nothing),
    }
    return Runs(op=ints(op), device=ints(device), **columns | more)


# Ops


def test_a_profile_may_be_empty(builder):
    built = builder.build()
    built.check()

    assert len(built.ops) == len(built.records) == len(built.steps) == 0


def test_ops_have_ids_in_the_order_in_which_they_are_added(builder):
    builder.add_ops(batch("b", "a"))
    builder.ensure_ops(["c", "a"])

    assert builder.ids(["a", "b", "c", "d"]).tolist() == [1, 0, 2, -1]
    assert len(builder) == 3


def test_the_first_definition_of_an_op_counts(builder):
    builder.add_ops(batch("a", kind="First", shapes=[(1,)], inputs=[[("b", 0)]]))
    builder.add_ops(batch("a", "b", kind="Second", shapes=[(2,), (2,)]))
    ops = builder.build().ops

    assert [ops.kind[row] for row in range(2)] == ["First", "Second"]
    assert ops.shape[0] == (1,)
    assert ops.inputs.source[ops.inputs.of(0)].tolist() == [1]


def test_the_first_of_two_definitions_in_one_file_counts(builder):
    builder.add_ops(batch("a", "a", kinds=["First", "Second"]))
    ops = builder.build().ops

    assert list(ops.name) == ["a"]
    assert ops.kind[0] == "First"


def test_an_op_known_only_from_runs_has_its_name_as_kind(builder):
    assert builder.ensure_ops(["x", "y", "x"]).tolist() == [0, 1, 0]
    ops = builder.build().ops

    assert ops.kind[0] == "x"
    assert ops.types.of(0) == ["x"]
    assert ops.origins.attribute(0, "anything") is None
    assert ops.origins.encoded_attributes(0) == {}


def test_a_graph_does_not_redefine_an_op_that_a_run_added(builder):
    builder.ensure_ops(["x"])
    builder.add_ops(batch("x", kind="Add"))

    assert builder.build().ops.kind[0] == "x"


def test_an_input_may_be_defined_later():
    ops = profile(op("a", inputs=["z"]), op("z")).ops

    assert ops.inputs.source.tolist() == [1]


def test_an_undefined_input_is_kept_as_unknown():
    ops = profile(op("a", inputs=["nowhere", "a", "^gone"])).ops

    assert ops.inputs.source.tolist() == [-1, 0, -1]
    assert ops.inputs.slot.tolist() == [0, 0, -1]


def test_an_input_may_be_defined_by_a_run():
    ops = profile(op("b", inputs=["a"]), run("a")).ops

    assert ops.inputs.source.tolist() == [0]


# Facts about ops


def test_types_accumulate(builder):
    builder.add_ops(batch("a", kind="Add"))
    builder.add_types([0, 0], Coded.of(["x", "y"]))
    builder.add_types([0, 0], Coded.of(["z", "x"]))

    assert builder.build().ops.types.of(0) == ["Add", "x", "y", "z"]


def test_the_device_of_an_op_is_one_of_its_types():
    assert profile(run("a", device=CPU)).ops.types.of(0) == [CPU, "a"]


def test_later_float_ops_replace_earlier_ones(builder):
    builder.add_ops(batch("a", "b"))
    builder.set_float_ops([0], [5])
    builder.set_float_ops([0], [7])

    assert builder.build().ops.logged_float_ops.tolist() == [7, 0]


def test_the_first_stack_of_an_op_counts(builder):
    builder.add_ops(batch("a", "b"))
    first = builder.add_stack([Frame("x.py", 1, "f", "", -1)])
    builder.set_code([0], [first])
    builder.set_code([0], [builder.add_stack([Frame("y.py", 2, "g", "", -1)])])
    built = builder.build()

    assert built.ops.code.tolist() == [first, -1]
    assert built.code.frame(first).file == "x.py"


def test_the_first_stack_counts_even_if_it_is_empty(builder):
    builder.add_ops(batch("a"))
    builder.set_code([0], [builder.add_stack([])])
    builder.set_code([0], [builder.add_stack([Frame("y.py", 2, "g", "", -1)])])

    assert builder.build().ops.code.tolist() == [-1]


def test_a_profile_may_have_code_without_stacks(builder):
    assert not builder.build().has_code
    builder.mark_has_code()
    assert builder.build().has_code


def test_output_shapes_are_those_first_recorded(builder):
    builder.add_ops(batch("b", "a"))
    builder.see_outputs([0], OutputShapes.of_rows([[(2,), None]]))
    builder.see_outputs([0], OutputShapes.of_rows([[(3,)]]))
    seen = builder.build().ops.seen_outputs

    assert (seen.of(1, 0), seen.of(1, 1)) == ((2,), None)
    assert (seen.count(0), seen.count(1)) == (0, 2)


def test_float_ops_are_computed_from_shapes_unless_they_are_settled():
    builder = ProfileBuilder(counts_float_ops=True)

    assert builder.build().counts_float_ops
    builder.settle_float_ops()
    assert not builder.build().counts_float_ops
    assert not ProfileBuilder(counts_float_ops=False).build().counts_float_ops


def test_covered_ops_count_once(builder):
    builder.add_ops(batch("a", "b"))
    builder.mark_covered(ints([0, 1]))
    builder.mark_covered(ints([0]))

    assert builder.build().covered_ops == 2


def test_missing_accelerator_time_is_marked(builder):
    assert not builder.build().lacks_accelerator_time
    builder.mark_lacks_accelerator_time()
    assert builder.build().lacks_accelerator_time


def test_the_profile_has_the_tensors_that_were_set(builder):
    tensors = Tensors.none()
    builder.set_tensors(tensors)

    assert builder.build().tensors is tensors


# Devices and placement


def test_a_device_keeps_its_id_and_its_first_description(builder):
    codes = [devices(builder), devices(builder)]
    again = builder.add_device(0, Device(CPU, Role.NETWORK, False, True, "x"))
    found = builder.build().devices

    assert codes == [(0, 1, 2), (0, 1, 2)]
    assert again == 0
    assert list(found.name) == [CPU, GPU_STREAM, SYNC]
    assert found.is_placement.tolist() == [True, False, False]
    assert found.is_accelerator_lane.tolist() == [False, True, False]


def test_an_op_is_placed_where_it_first_ran():
    built = profile(run("a", device=OTHER_CPU), run("a", device=CPU), run("b", device=CPU))

    homes = [built.devices.name[device] for device in built.home(0)]

    assert homes == [OTHER_CPU, CPU]


def test_a_run_on_a_second_placement_device_is_dropped():
    built = profile(run("a", 5, device=CPU), run("a", 7, device=GPU))

    assert built.records.runs.tolist() == [1]
    assert built.executions.duration_ns.tolist() == [5000]
    assert [built.devices.name[code] for code in built.records.devices.values] == [CPU]


def test_placement_also_applies_to_later_steps():
    built = profile(run("a", step=0, device=CPU), run("a", step=1, device=GPU))

    assert built.steps.numbers() == [0, 1]
    assert built.steps.number[built.records.step].tolist() == [0]


def test_a_first_run_without_a_start_places_its_op():
    built = profile(run("a", 5, start=0, device=CPU), run("a", 7, device=GPU))

    assert built.devices.name[built.home(0)[0]] == CPU
    assert built.records.runs.tolist() == [0]


def test_a_lane_does_not_place_an_op():
    assert profile(run("a", device=GPU_STREAM)).home(0).tolist() == [-1]


# Records


def test_there_is_one_record_per_op_and_step(builder):
    builder.ensure_ops(["b", "a"])
    cpu, _, _ = devices(builder)
    builder.add_runs(0, 4, runs([0, 1, 0], [cpu] * 3, start=[50, 30, 20], duration=[5, 6, 9]))
    built = builder.build()
    records = built.records

    assert records.op.tolist() == [0, 1]
    assert built.steps.number[records.step].tolist() == [4, 4]
    assert records.runs.tolist() == [1, 2]
    assert records.first_start_ns.tolist() == [30, 20]
    assert records.last_end_ns.tolist() == [36, 55]


def test_records_are_sorted_by_op_then_step(builder):
    builder.ensure_ops(["b", "a"])
    cpu, _, _ = devices(builder)
    for step in (7, 2):
        builder.add_runs(0, step, runs([0, 1], [cpu, cpu]))
    built = builder.build()

    assert built.steps.numbers() == [2, 7]
    assert built.records.op.tolist() == [0, 0, 1, 1]
    assert built.steps.number[built.records.step].tolist() == [2, 7, 2, 7]


def test_a_step_added_twice_has_the_runs_of_both(builder):
    builder.ensure_ops(["a"])
    cpu, _, _ = devices(builder)
    for _ in range(2):
        builder.add_runs(0, 3, runs([0], [cpu], duration=[5]))
    built = builder.build()

    assert built.steps.numbers() == [3]
    assert built.records.runs.tolist() == [2]
    assert built.executions.duration_ns.tolist() == [5, 5]


def test_a_step_without_runs_is_a_step(builder):
    builder.add_runs(0, 3, runs([], []))

    assert builder.build().steps.numbers() == [3]


def test_a_run_without_a_start_creates_a_record_without_time(builder):
    builder.ensure_ops(["a"])
    cpu, _, _ = devices(builder)
    builder.add_runs(0, 0, runs([0], [cpu], start=[NO_TIME], duration=[5]))
    built = builder.build()

    assert (built.records.runs.tolist(), len(built.executions), len(built.memory)) == ([0], 0, 0)
    assert built.records.first_start_ns.tolist() == [NO_TIME]
    assert built.records.last_end_ns.tolist() == [0]
    assert built.records.devices[0].tolist() == [cpu]


def test_only_runs_on_the_device_of_the_op_count(builder):
    builder.ensure_ops(["a"])
    cpu, lane, sync = devices(builder)
    builder.add_runs(0, 0, runs([0, 0, 0], [cpu, lane, sync], duration=[5, 6, 7]))
    built = builder.build()

    assert built.records.runs.tolist() == [1]
    assert len(built.memory) == 1


def test_times_come_from_the_device_of_the_op_and_from_accelerator_lanes(builder):
    builder.ensure_ops(["a"])
    cpu, lane, sync = devices(builder)
    builder.add_runs(0, 0, runs([0, 0, 0], [cpu, lane, sync], duration=[5, 6, 7]))
    executions = builder.build().executions

    assert list(zip(executions.device, executions.duration_ns, strict=True)) == [
        (cpu, 5),
        (lane, 6),
    ]


def test_a_device_that_adds_no_time_still_extends_the_record(builder):
    builder.ensure_ops(["a"])
    cpu, _, sync = devices(builder)
    builder.add_runs(0, 0, runs([0, 0], [cpu, sync], start=[50, 20], duration=[5, 100]))
    records = builder.build().records

    assert records.devices[0].tolist() == [cpu, sync]
    assert (records.first_start_ns.tolist(), records.last_end_ns.tolist()) == ([20], [120])


def test_time_on_a_lane_named_like_a_device_is_not_a_run(builder):
    builder.ensure_ops(["a"])
    both = builder.add_device(0, Device("/stream:all/gpu:0", Role.ACCELERATOR, True, True, ""))
    builder.add_runs(0, 0, runs([0], [both]))
    built = builder.build()

    assert built.records.runs.tolist() == [0]
    assert (len(built.executions), len(built.memory)) == (1, 1)


def test_memory_belongs_to_its_record(builder):
    builder.ensure_ops(["b", "a"])
    cpu, _, _ = devices(builder)
    added = runs([0, 1, 0], [cpu] * 3)
    builder.add_runs(0, 0, replace(added, memory={**added.memory, "requested": ints([10, 20, 30])}))
    memory = builder.build().memory

    assert memory.record.tolist() == [0, 1, 1]
    assert memory.requested.tolist() == [20, 10, 30]
    assert memory.peak.tolist() == [0, 0, 0]


def test_outputs_belong_to_the_run_that_left_them(builder):
    builder.ensure_ops(["b", "a"])
    cpu, lane, _ = devices(builder)
    columns = {
        "output_run": ints([0, 1, 2, 2]),
        "output_slot": ints([0, 0, 0, 1]),
        "output_bytes": ints([10, 99, 20, 30]),
        "output_address": ints([1, 2, 3, 4]),
    }
    builder.add_runs(0, 0, runs([1, 0, 0], [cpu, lane, cpu], **columns))
    builder.add_runs(
        0, 1, runs([1], [cpu], **{name: column[:1] for name, column in columns.items()})
    )
    built = builder.build()

    owners = built.records.op[built.memory.record[built.output_memory.use]]

    assert owners.tolist() == [0, 1, 1, 0]
    assert built.output_memory.bytes.tolist() == [10, 20, 30, 10]
    assert built.output_memory.slot.tolist() == [0, 0, 1, 0]
    assert built.output_memory.address.tolist() == [1, 3, 4, 1]


def allocating(run, names, level, is_accelerator, **allocations):
    """The columns of allocators used by runs, and of their allocations."""
    return {
        "allocator_run": ints(run),
        "allocator_name": Coded.of(names),
        "allocator_level": ints(level),
        "allocator_is_accelerator": np.array(is_accelerator),
        **{f"allocation_{name}": ints(column) for name, column in allocations.items()},
    }


def test_allocations_on_accelerators_belong_to_the_record_of_their_run(builder):
    builder.ensure_ops(["b", "a"])
    cpu, lane, _ = devices(builder)
    columns = allocating(
        run=[0, 1, 2, 2],
        names=["gpu", "gpu", "gpu", "host"],
        level=[0, 0, 0, 0],
        is_accelerator=[True, True, True, False],
        allocator=[0, 1, 2, 3],
        ns=[10, 20, 30, 40],
        bytes=[64, 99, -64, 7],
    )
    builder.add_runs(0, 5, runs([0, 0, 1], [cpu, lane, cpu], **columns))
    allocations = builder.build().allocations

    assert allocations.record.tolist() == [0, 1]
    assert allocations.time_ns.tolist() == [30, 10]
    assert allocations.bytes.tolist() == [-64, 64]


def test_every_allocator_of_every_run_has_its_level_at_the_end_of_the_run(builder):
    builder.ensure_ops(["b", "a"])
    cpu, lane, _ = devices(builder)
    memory = {fact: ints([0, 0, 0]) for fact in MEMORY_FACTS} | {"time_ns": ints([7, 8, 9])}
    columns = allocating(
        run=[2, 0, 1],
        names=["host", "gpu", "host"],
        level=[50, 0, 60],
        is_accelerator=[False, True, False],
        allocator=[2, 0, 0],
        ns=[10, 20, 30],
        bytes=[1, 2, 3],
    )
    columns |= {"start_ns": ints([NO_TIME, 1, 1]), "memory": memory}
    builder.add_runs(0, 5, runs([0, 0, 1], [cpu, lane, cpu], **columns))
    built = builder.build()
    built.check()
    uses = built.allocator_uses

    assert list(built.ops.name.take(uses.op)) == ["a", "b", "b"]
    assert uses.device.tolist() == [cpu, cpu, lane]
    assert list(uses.allocator.values.take(uses.allocator.codes)) == ["host", "gpu", "host"]
    assert (uses.time_ns.tolist(), uses.level.tolist()) == ([9, 7, 8], [50, 0, 60])
    assert built.steps.number[uses.step].tolist() == [5, 5, 5]
    assert uses.record.tolist() == [-1, -1, -1]
    assert built.allocator_events.use.tolist() == [2, 0, 0]
    assert built.allocator_events.bytes.tolist() == [1, 2, 3]


def test_allocators_of_several_steps_keep_their_allocations(builder):
    builder.ensure_ops(["a"])
    cpu, _, _ = devices(builder)
    for step, name in ((0, "x"), (1, "y")):
        columns = allocating([0], [name], [0], [True], allocator=[0], ns=[1], bytes=[step + 5])
        builder.add_runs(0, step, runs([0], [cpu], **columns))
    built = builder.build()

    assert built.allocator_events.use.tolist() == [0, 1]
    assert [built.allocator_uses.allocator[row] for row in (0, 1)] == ["x", "y"]
    assert built.allocator_uses.record.tolist() == [0, 1]
    assert built.allocations.bytes.tolist() == [5, 6]


def test_the_columns_of_a_built_profile_are_read_only():
    built = profile(op("a", shape=(2,)), run("a"))

    for column in (
        built.steps.number,
        built.ops.defined,
        built.records.runs,
        built.executions.start_ns,
    ):
        assert not column.flags.writeable


def test_arrays_that_a_profile_was_built_from_become_read_only(builder):
    codes = np.zeros(3, np.int64)
    shapes = Shapes(ints(codes[:2]), ((4,),))
    builder.set_tensors(Tensors(Strings("ab"), Strings("ff"), shapes, lambda _: np.empty(4)))
    built = builder.build()

    assert np.shares_memory(built.tensors.shape.codes, codes)
    with pytest.raises(ValueError, match="read-only"):
        codes[0] = 1


def test_an_op_that_was_never_placed_may_have_runs(builder):
    builder.ensure_ops(["a"])
    _, lane, _ = devices(builder)
    builder.add_runs(0, 0, runs([0], [lane]))
    built = builder.build()

    assert built.records.op.tolist() == [0]
    assert np.all(built.executions.device == lane)


def test_ops_of_a_trace_have_stated_inputs_and_count_as_defined(builder):
    inputs = OutputShapes.of_rows([[(2, 3), (3, 4)], []])
    builder.add_ops(OpColumns.traced(["b", "a"], Coded.of(["aten::mm"] * 2), stated_inputs=inputs))
    builder.add_ops(batch("c"))
    built = builder.build()
    built.check()

    assert [built.ops.stated_inputs.of_op(row) for row in range(3)] == [[], [(2, 3), (3, 4)], []]
    assert built.ops.is_defined.all()
