"""Reading ProfileProto files: ops, runs, memory and code are restored, float ops are final."""

import pytest

from sources.tf_files import CPU, GPU, GPU_LANE, add, content, saved
from tfprof.formats.messages import message_class
from tfprof.model.builder import ProfileBuilder

DEVICE = CPU.lower()


def read(data, builder=None):
    builder = ProfileBuilder() if builder is None else builder
    add("profile_proto", "profile.pb", data, builder)
    profile = builder.build()
    profile.check()
    return profile


def ran(**execution):
    """The profile of one op with one record, in step 3."""
    return read(saved({"name": "a", "execs": {3: execution_message(**execution)}}, steps=[3]))


def execution_message(**fields):
    return message_class("tensorflow.tfprof.ExecProfile")(**fields)


def shapes(by_slot):
    kind = message_class("tensorflow.tfprof.Tuple")
    return {slot: kind(int64_values=dims) for slot, dims in by_slot.items()}


def times(*pairs):
    rows = [{"int64_values": pair} for pair in pairs]
    return message_class("tensorflow.tfprof.ExecTime")(times=rows)


def test_ops_are_defined_in_the_order_of_their_ids():
    ops = read(saved({"name": "a", "id": 5}, {"name": "b", "id": 2})).ops

    assert ops.defined.tolist() == [1, 0]


def test_an_op_has_its_kind_types_and_float_ops():
    node = {"name": "a", "op": "Add", "op_types": ["Add", "mine"], "float_ops": 7}
    ops = read(saved(node)).ops

    assert ops.kind[0] == "Add"
    assert ops.types.of(0) == ["Add", "mine"]
    assert ops.logged_float_ops.tolist() == [7]


def test_float_ops_are_not_computed_again():
    assert not read(saved({"name": "a"})).counts_float_ops


def test_inputs_are_found_by_id_and_sorted():
    nodes = [{"name": "c", "inputs": {1: 1, 0: 2}}, {"name": "a"}, {"name": "b"}]
    ops = read(saved(*nodes)).ops

    assert ops.inputs.source.tolist() == [1, 0]


@pytest.mark.parametrize("number", [-1, 99])
def test_an_input_with_an_unknown_id_is_kept_as_unknown(number):
    ops = read(saved({"name": "a", "inputs": {0: number}})).ops

    assert ops.inputs.source.tolist() == [-1]


def test_a_shape_without_dims_is_unknown():
    ops = read(saved({"name": "a", "shape": [3, 4]}, {"name": "b"})).ops

    assert (ops.shape[0], ops.shape[1]) == ((3, 4), None)


def test_output_shapes_are_found_by_slot():
    outputs = read(saved({"name": "a", "output_shapes": shapes({2: [5], 0: [2, 3]})})).ops.outputs

    assert [outputs.of(0, slot) for slot in range(3)] == [(2, 3), None, (5,)]


def test_an_impossible_output_slot_is_ignored():
    found = read(saved({"name": "a", "output_shapes": shapes({2**31 - 1: [5]})}))

    assert found.ops.outputs.count(0) == 10_000


def test_the_placement_of_an_op_is_restored():
    profile = read(saved({"name": "a", "canonical_device": CPU}, {"name": "b"}))

    assert profile.home(0).tolist() == [0, -1]
    assert list(profile.devices.name) == [DEVICE]


def test_code_is_read_with_the_strings_of_the_file():
    traces = [{"file_id": 1, "lineno": 7, "function_id": 2, "line_id": 3, "func_start_line": 5}]
    nodes = [{"name": "a", "trace": {"traces": traces}}, {"name": "b", "trace": {}}]
    profile = read(saved(*nodes, has_trace=True, strings={1: "x.py", 2: "f", 3: "y"}))

    assert profile.has_code
    assert profile.ops.code.tolist() == [0, -1]
    assert tuple(profile.code.frame(0)) == ("x.py", 7, "f", "y", 5)


def test_flags_are_restored():
    profile = read(saved({"name": "a"}, miss_accelerator_stream=True))

    assert profile.lacks_accelerator_time
    assert not profile.has_code


def test_steps_without_runs_are_restored():
    assert read(saved({"name": "a"}, steps=[9, 2])).steps.numbers() == [2, 9]


def test_a_step_that_only_a_node_mentions_is_restored():
    node = {"name": "a", "execs": {3: execution_message(run_count=1)}}

    assert read(saved(node)).steps.numbers() == [3]


def test_the_run_count_and_times_of_a_record_are_restored():
    records = ran(
        run_count=2, all_start_micros=100, latest_end_micros=150, devices=[DEVICE, "/sync"]
    ).records

    assert (records.op.tolist(), records.step.tolist()) == ([0], [0])
    assert records.runs.tolist() == [2]
    assert (records.first_start_ns.tolist(), records.last_end_ns.tolist()) == ([100_000], [150_000])
    assert records.devices[0].tolist() == [0, 1]


def test_a_record_may_have_no_device():
    records = ran(run_count=1, all_start_micros=100, latest_end_micros=150).records

    assert records.runs.tolist() == [1]
    assert records.devices[0].tolist() == []


def test_times_are_restored_for_each_device():
    profile = ran(
        devices=[GPU],
        cpu_execs={GPU: times((100, 5), (200, 6))},
        accelerator_execs={GPU_LANE: times((101, 3))},
    )
    names = profile.devices.name.take(profile.executions.device)

    assert sorted(zip(names, profile.executions.duration_ns.tolist(), strict=True)) == [
        (GPU_LANE.lower(), 3000),
        (GPU.lower(), 5000),
        (GPU.lower(), 6000),
    ]


def test_a_time_without_a_duration_is_ignored():
    profile = ran(devices=[CPU], cpu_execs={CPU: times((), (100,), (200, 6))})

    assert profile.executions.start_ns.tolist() == [200_000]


def test_all_facts_about_memory_are_restored():
    use = {
        "memory_micros": 1,
        "host_temp_bytes": 2,
        "host_persistent_bytes": 3,
        "accelerator_temp_bytes": 4,
        "accelerator_persistent_bytes": 5,
        "requested_bytes": 6,
        "peak_bytes": 7,
        "residual_bytes": -8,
        "output_bytes": 9,
        "allocator_bytes_in_use": 10,
    }
    memory = ran(memory_execs=[use]).memory

    assert memory.record.tolist() == [0]
    assert (memory.time_ns.tolist(), memory.in_use.tolist()) == ([1000], [10])
    assert (memory.host_temp.tolist(), memory.host_persistent.tolist()) == ([2], [3])
    assert (memory.accelerator_temp.tolist(), memory.accelerator_persistent.tolist()) == ([4], [5])
    assert (memory.requested.tolist(), memory.peak.tolist()) == ([6], [7])
    assert (memory.residual.tolist(), memory.output.tolist()) == ([-8], [9])


def test_allocations_are_restored():
    allocations = ran(allocations=[{"alloc_micros": 10, "alloc_bytes": -64}]).allocations

    assert allocations.record.tolist() == [0]
    assert (allocations.time_ns.tolist(), allocations.bytes.tolist()) == ([10_000], [-64])


def test_allocators_are_restored_without_their_names():
    use = message_class("tensorflow.tfprof.ExecMemory")(memory_micros=9, allocator_bytes_in_use=70)
    profile = ran(memory_execs=[use], allocations=[{"alloc_micros": 10, "alloc_bytes": 64}] * 2)
    uses = profile.allocator_uses

    assert profile.lacks_host_allocations
    assert [uses.allocator[row] for row in range(len(uses))] == ["", ""]
    assert (uses.time_ns.tolist(), uses.level.tolist()) == ([0, 9000], [0, 70])
    assert uses.device.tolist() == [-1, -1]
    assert profile.allocator_events.use.tolist() == [0, 0]


def test_outputs_in_memory_are_added_after_those_of_other_files():
    address = message_class("tensorflow.tfprof.Memory")(bytes=32, ptr=2**64 - 1)
    use = message_class("tensorflow.tfprof.ExecMemory")(output_memory={1: address})
    node = {"name": "a", "execs": {3: execution_message(memory_execs=[use])}}
    builder = ProfileBuilder()
    add("profile_proto", "saved", saved(node), builder)
    profile = read(saved(node | {"name": "b"}), builder)

    assert profile.output_memory.use.tolist() == [0, 1]
    assert profile.output_memory.slot.tolist() == [1, 1]
    assert profile.output_memory.bytes.tolist() == [32, 32]
    assert profile.output_memory.address.tolist() == [-1, -1]


def test_attributes_are_read_by_name():
    value = message_class("tensorflow.AttrValue")(i=3)
    origins = read(saved({"name": "b", "attrs": {"k": value}}, {"name": "a"})).ops.origins

    assert (origins.attribute(0, "k"), origins.attribute(1, "k")) == (None, 3)


def test_two_nodes_with_the_same_name_are_one_op():
    profile = read(saved({"name": "a", "op": "First"}, {"name": "a", "op": "Second"}))

    assert list(profile.ops.name) == ["a"]
    assert profile.ops.kind[0] == "First"


def test_a_profile_saved_by_tensorflow_is_restored():
    profile = read(content("mlp_tiny/profile.pb"))

    assert len(profile.ops) == 19
    assert profile.steps.numbers() == [1, 2, 5, 9]
    assert profile.has_code
    assert list(profile.devices.name) == [DEVICE]
    assert profile.records.runs.sum() == len(profile.executions) == len(profile.memory)
