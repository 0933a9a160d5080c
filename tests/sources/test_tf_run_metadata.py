"""Reading RunMetadata: the runs of ops, their devices, times and memory."""

import pytest

from sources.tf_files import (
    CPU,
    GPU,
    GPU_LANE,
    add,
    content,
    graph,
    node,
    output,
    read,
    row,
    run_metadata,
    shape,
    stats,
)
from tfprof.model.builder import ProfileBuilder
from tfprof.model.executions import MEMORY_FACTS

SYNC = "/device:GPU:0/sync"
MEMCPY = "/device:GPU:0/memcpy"


def ran(*devices, graph=None):
    """The profile of one step with these runs."""
    return read(graph, [(0, run_metadata(*devices))])


def ran_on_cpu(*runs):
    return ran((CPU, runs))


def memory(device=CPU, **fields):
    """The memory of a single run, without facts that are 0."""
    uses = ran((device, [stats("a", **fields)])).memory
    found = {fact: getattr(uses, fact).tolist() for fact in MEMORY_FACTS}
    assert all(len(column) == 1 for column in found.values())
    return {fact: column[0] for fact, column in found.items() if column[0]}


# The op of an entry


def test_the_name_of_an_entry_is_cut_at_its_first_colon():
    profile = ran_on_cpu(stats("a:Add"), stats("a:b:c"))

    assert list(profile.ops.name) == ["a"]
    assert profile.records.runs.tolist() == [2]


def test_an_op_that_is_not_in_the_graph_has_its_name_as_kind():
    profile = read(graph(node("a", "Add")), [(0, run_metadata((CPU, [stats("b")])))])

    assert [profile.ops.kind[op] for op in range(2)] == ["Add", "b"]
    assert profile.ops.inputs.of(1) == slice(0, 0)


@pytest.mark.parametrize(
    "name", ["RecvTensor", "_SOURCE", "MEMCPYHtoD", "edge_MEMCPY", "_SOURCE:x"]
)
def test_entries_of_the_runtime_are_dropped(name):
    profile = ran_on_cpu(stats(name), stats("a"))

    assert list(profile.ops.name) == ["a"]
    assert len(profile.records) == 1


@pytest.mark.parametrize("name", ["RecvTensor", "_SOURCE", "MEMCPY"])
def test_an_op_of_the_graph_may_be_named_like_an_entry_of_the_runtime(name):
    profile = read(graph(node(name)), [(0, run_metadata((CPU, [stats(name)])))])

    assert profile.records.runs.tolist() == [1]


@pytest.mark.parametrize("name", ["_SINK", "recvtensor", "RecvTensor2", "memcpy"])
def test_entries_with_other_names_are_ops(name):
    assert list(ran_on_cpu(stats(name)).ops.name) == [name]


def test_ops_of_the_graph_that_ran_are_covered():
    nodes = graph(node("a"), node("b"), node("c"))
    profile = read(nodes, [(0, run_metadata((CPU, [stats("a"), stats("b"), stats("a")])))])

    assert profile.covered_ops == 2


def test_an_op_that_is_not_in_the_graph_is_covered_by_its_second_entry():
    assert ran_on_cpu(stats("a"), stats("b")).covered_ops == 0
    assert ran_on_cpu(stats("a"), stats("b"), stats("a")).covered_ops == 1


def test_entries_of_the_runtime_cover_no_op():
    assert ran_on_cpu(stats("_SOURCE"), stats("_SOURCE"), stats("RecvTensor")).covered_ops == 0


# Time


def test_a_run_has_its_start_and_duration():
    profile = ran_on_cpu(stats("a", 100, 7))

    assert profile.executions.start_ns.tolist() == [100_000]
    assert profile.executions.duration_ns.tolist() == [7_000]
    assert profile.records.first_start_ns.tolist() == [100_000]
    assert profile.records.last_end_ns.tolist() == [107_000]


def test_nanoseconds_are_used_if_they_were_recorded():
    entry = stats("a", 100, 2, all_start_nanos=100_800, op_end_rel_nanos=1400)
    profile = ran_on_cpu(entry)

    assert profile.executions.start_ns.tolist() == [100_800]
    assert profile.executions.duration_ns.tolist() == [1400]
    assert profile.memory.time_ns.tolist() == [102_200]


@pytest.mark.parametrize(
    ("start_nanos", "end_nanos"), [(0, 1400), (99_999, 1400), (100_800, 2400), (2**62, 2**62)]
)
def test_nanoseconds_that_contradict_the_microseconds_are_ignored(start_nanos, end_nanos):
    entry = stats("a", 100, 2, all_start_nanos=start_nanos, op_end_rel_nanos=end_nanos)
    profile = ran_on_cpu(entry)

    assert profile.executions.start_ns.tolist() == [100_000]
    assert profile.executions.duration_ns.tolist() == [2000]


def test_nanoseconds_are_ignored_if_the_microseconds_are_impossible():
    nanos = 2**63 - 1
    entry = stats("a", nanos // 1000, 2, all_start_nanos=nanos, op_end_rel_nanos=2000)

    assert ran_on_cpu(entry).executions.start_ns.tolist() == [2**62]


def test_the_memory_of_a_run_does_not_wrap_around():
    used = [{"allocator_name": name, "total_bytes": 2**62} for name in ("cpu", "gpu")]

    assert memory(memory=used)["requested"] == 2**63 - 1


def test_a_run_of_zero_microseconds_counts_as_one_microsecond():
    profile = ran_on_cpu(stats("a", 100, 0))

    assert profile.executions.duration_ns.tolist() == [1_000]
    assert profile.records.last_end_ns.tolist() == [101_000]


def test_an_entry_without_a_start_creates_a_record_without_time():
    profile = ran_on_cpu(stats("a", 0, 7))

    assert profile.records.runs.tolist() == [0]
    assert len(profile.executions) == len(profile.memory) == 0


def test_entries_without_a_start_are_noted():
    notes = []

    read(runs=[(0, run_metadata((CPU, [stats("a", 0, 7), stats("b", 5, 7)])))], notes=notes)

    assert notes == [
        "run_meta has 1 entry without a start time; its time and memory are not counted."
    ]


def test_each_iteration_of_a_loop_is_a_run():
    profile = ran_on_cpu(*(stats("loop/a", 100 * n, n) for n in (1, 2, 3)))

    assert profile.records.runs.tolist() == [3]
    assert profile.executions.duration_ns.tolist() == [1_000, 2_000, 3_000]


def test_times_come_from_the_device_of_the_op_and_from_the_lane_of_all_streams():
    profile = ran(
        (GPU, [stats("a", micros=1)]),
        ("/device:GPU:0/stream:13", [stats("a:Add", micros=2)]),
        (GPU_LANE, [stats("a:Add", micros=4)]),
        (SYNC, [stats("a", micros=8)]),
    )

    names = profile.devices.name.take(profile.executions.device)

    assert list(zip(names, profile.executions.duration_ns.tolist(), strict=True)) == [
        (GPU.lower(), 1000),
        (GPU_LANE.lower(), 4000),
    ]
    assert profile.records.runs.tolist() == [1]


def test_a_record_has_every_device_on_which_the_op_was_seen():
    profile = ran((GPU, [stats("a")]), (SYNC, [stats("a", start=90)]))

    names = profile.devices.name.take(profile.records.devices[0])

    assert list(names) == [GPU.lower(), SYNC.lower()]
    assert profile.records.first_start_ns.tolist() == [90_000]


def test_an_op_is_placed_on_the_first_placement_device_where_it_ran():
    profile = ran((SYNC, [stats("a")]), (GPU, [stats("a")]), (CPU, [stats("a")]))

    assert profile.devices.name[profile.home(0)[0]] == GPU.lower()
    assert profile.ops.types.of(0) == [GPU.lower(), "a"]


def test_an_entry_on_a_second_placement_device_is_dropped():
    profile = ran((GPU, [stats("a", micros=1)]), (CPU, [stats("a", micros=2)]))

    assert profile.executions.duration_ns.tolist() == [1_000]
    assert profile.records.runs.tolist() == [1]


def test_placement_also_applies_to_later_steps():
    steps = [(0, run_metadata((CPU, [stats("a")]))), (1, run_metadata((GPU, [stats("a")])))]
    profile = read(runs=steps)

    assert profile.steps.numbers() == [0, 1]
    assert profile.steps.number[profile.records.step].tolist() == [0]


def test_ops_are_not_placed_on_a_device_without_a_name():
    profile = ran(("", [stats("a")]))

    assert profile.home(0).tolist() == [-1]
    assert profile.records.runs.tolist() == [0]


def test_device_names_ignore_case():
    profile = ran((CPU, [stats("a")]), (CPU.lower(), [stats("a")]))

    assert len(profile.devices) == 1
    assert profile.records.runs.tolist() == [2]


def test_accelerator_time_is_missing_if_a_gpu_has_no_lane_of_all_streams():
    assert ran((GPU, [stats("a")])).lacks_accelerator_time
    assert not ran((GPU, [stats("a")]), (GPU_LANE, [stats("a")])).lacks_accelerator_time
    assert not ran((CPU, [stats("a")])).lacks_accelerator_time


# Steps


def test_a_step_has_the_given_number():
    profile = read(runs=[(7, run_metadata((CPU, [stats("a")])))])

    assert (profile.steps.numbers(), profile.steps.number[profile.records.step].tolist()) == (
        [7],
        [7],
    )


def test_a_step_added_twice_to_a_recording_has_the_runs_of_both():
    one = run_metadata((CPU, [stats("a", micros=5, memory=[{"total_bytes": 8}])]))
    builder = ProfileBuilder()
    for _ in range(2):
        add("run_meta", "run_meta", one, builder, step=3, recording="session")
    profile = builder.build()

    assert profile.records.runs.tolist() == [2]
    assert profile.executions.duration_ns.tolist() == [5_000, 5_000]
    assert profile.memory.requested.tolist() == [8, 8]


def test_a_step_without_runs_is_a_step():
    assert read(runs=[(2, run_metadata())]).steps.numbers() == [2]


def test_a_file_without_step_statistics_is_skipped_and_noted():
    notes = []

    profile = read(runs=[(4, b"\x1a\x00")], notes=notes)

    assert profile.steps.numbers() == []
    (note,) = notes
    assert note == (
        "run_meta contains no step statistics and is skipped; "
        "record the step with RunOptions(trace_level=FULL_TRACE)."
    )


# Memory


def test_the_memory_of_all_allocators_is_added_up():
    allocators = [
        {"allocator_name": "cpu", "total_bytes": 1, "peak_bytes": 10, "live_bytes": 100},
        {"allocator_name": "other", "total_bytes": 2, "peak_bytes": 20, "live_bytes": -30},
    ]

    assert memory(memory=allocators) == {
        "time_ns": 105_000,
        "requested": 3,
        "peak": 30,
        "residual": 70,
    }


def test_memory_kept_by_a_kernel_on_a_cpu_is_host_memory():
    kept = {"temp_memory_size": 3, "persistent_memory_size": 5}

    assert memory(CPU, memory_stats=kept, memory=[{"total_bytes": 100}]) == {
        "time_ns": 105_000,
        "host_temp": 3,
        "host_persistent": 5,
        "requested": 108,
        "peak": 8,
        "residual": 5,
    }


def test_memory_kept_by_a_kernel_on_a_gpu_is_accelerator_memory():
    kept = {"temp_memory_size": 3, "persistent_memory_size": 5}

    assert memory(GPU, memory_stats=kept) == {
        "time_ns": 105_000,
        "accelerator_temp": 3,
        "accelerator_persistent": 5,
        "requested": 8,
        "peak": 8,
        "residual": 5,
    }


def test_the_size_of_an_output_is_the_larger_of_requested_and_allocated_bytes():
    outputs = [output(0, requested=24, allocated=256), output(1, requested=64, allocated=0)]

    assert memory(output=outputs)["output"] == 320


def test_an_output_without_a_description_of_its_memory_has_no_size():
    assert "output" not in memory(output=[{"slot": 0, "tensor_description": {"shape": shape(9)}}])


def test_bytes_in_use_are_the_maximum_over_gpu_allocators():
    allocators = [
        {"allocator_name": "GPU_0_bfc", "allocator_bytes_in_use": 50},
        {"allocator_name": "GPU_1_bfc", "allocator_bytes_in_use": 70},
        {"allocator_name": "cpu", "allocator_bytes_in_use": 900},
    ]

    assert memory(GPU, memory=allocators)["in_use"] == 70


def test_the_memory_of_a_run_of_zero_microseconds_is_measured_at_its_start():
    assert memory(start=100, micros=0)["time_ns"] == 100_000


def test_memory_counts_only_on_the_device_of_the_op():
    used = {"memory": [{"total_bytes": 8}]}
    profile = ran((GPU, [stats("a", **used)]), (GPU_LANE, [stats("a", **used)]), (SYNC, []))

    assert profile.memory.requested.tolist() == [8]


def test_allocations_on_a_gpu_are_kept_individually():
    records = [{"alloc_micros": 10, "alloc_bytes": 64}, {"alloc_micros": 20, "alloc_bytes": -64}]
    allocators = [
        {"allocator_name": "cpu", "allocation_records": [{"alloc_micros": 5, "alloc_bytes": 1}]},
        {"allocator_name": "GPU_0_bfc", "allocation_records": records},
    ]
    allocations = ran((GPU, [stats("b"), stats("a", memory=allocators)])).allocations

    assert allocations.record.tolist() == [0, 0]
    assert allocations.time_ns.tolist() == [10_000, 20_000]
    assert allocations.bytes.tolist() == [64, -64]


def test_allocators_of_any_kind_are_kept_if_they_have_allocations_or_a_level():
    given = [{"alloc_micros": 5, "alloc_bytes": 1}]
    allocators = [
        {"allocator_name": "idle", "total_bytes": 1},
        {"allocator_name": "cpu", "allocation_records": given},
        {"allocator_name": "GPU_0_bfc", "allocator_bytes_in_use": 70},
    ]
    profile = ran(
        (CPU, [stats("_SOURCE", memory=allocators)]), (GPU, [stats("a", memory=allocators)])
    )
    uses, events = profile.allocator_uses, profile.allocator_events

    assert [uses.allocator[row] for row in range(len(uses))] == ["cpu", "GPU_0_bfc"]
    assert [profile.devices.name[device] for device in uses.device] == [GPU.lower()] * 2
    assert uses.level.tolist() == [0, 70]
    assert events.use.tolist() == [0]
    assert (events.time_ns.tolist(), events.bytes.tolist()) == ([5000], [1])


def test_allocations_outside_ops_are_noted():
    memory = [{"allocation_records": [{"alloc_micros": 5, "alloc_bytes": 1}] * 2}]
    notes = []

    read(runs=[(0, run_metadata((CPU, [stats("_SOURCE", memory=memory)])))], notes=notes)

    assert notes == ["run_meta: 2 allocations outside ops are not counted."]


def test_the_memory_of_an_entry_without_a_start_is_ignored():
    memory = [{"allocation_records": [{"alloc_micros": 5, "alloc_bytes": 1}]}]

    assert len(ran_on_cpu(stats("a", 0, 7, memory=memory)).allocator_events) == 0


def test_outputs_are_kept_with_their_addresses():
    outputs = [output(1, allocated=32, address=4096), {"slot": 0}]
    profile = ran_on_cpu(
        stats("_SOURCE", output=[output(0, allocated=9)]), stats("a", output=outputs)
    )

    assert profile.output_memory.slot.tolist() == [1]
    assert profile.output_memory.bytes.tolist() == [32]
    assert profile.output_memory.address.tolist() == [4096]


# Shapes of outputs


def seen(*outputs):
    """The output shapes that a run of an op recorded."""
    found = ran_on_cpu(stats("a", output=outputs)).ops.seen_outputs
    return [found.of(0, slot) for slot in range(found.count(0))]


def test_recorded_outputs_are_sorted_by_slot():
    assert seen(output(1, (5,)), output(0, (2, 3))) == [(2, 3), (5,)]


def test_an_output_that_was_not_recorded_has_no_shape():
    assert seen(output(2, (5,)), output(0, ())) == [(), None, (5,)]


def test_impossible_slots_are_ignored():
    assert seen(output(2**31 - 1, (5,)), output(-1, (6,)), output(0, (7,))) == [(7,)]


def test_output_shapes_are_those_of_the_first_entry_with_outputs():
    entries = [
        stats("a"),
        stats("a", output=[output(0, (2,))]),
        stats("a", output=[output(0, (3,))]),
    ]

    assert ran_on_cpu(*entries).ops.seen_outputs.of(0, 0) == (2,)


# Real files


def test_a_real_cpu_trace_is_read():
    profile = read(content("mlp_tiny/graph.pb"), [(1, content("mlp_tiny/run_meta_1"))])
    matmul = row(profile, "fc1/MatMul")

    assert profile.covered_ops == 10
    assert profile.devices.name[profile.home(0)[matmul]] == CPU.lower()
    assert profile.ops.seen_outputs.of(matmul, 0) == (2, 3)


def test_a_real_gpu_trace_is_read():
    profile = read(content("gpu_synth/graph.pb"), [(0, content("gpu_synth/run_meta_0"))])

    assert not profile.lacks_accelerator_time
    assert profile.devices.is_accelerator_lane.sum() == 1
    assert len(profile.allocations.record) > 0
    assert profile.memory.in_use.max() > 0


# Copies


def copies(profile):
    found = profile.copies
    rows = range(len(found))
    return [
        (found.name[row], found.start_ns[row] // 1000, found.duration_ns[row] // 1000)
        for row in rows
    ]


def test_transfers_are_copies_and_belong_to_no_op():
    profile = ran((CPU, [stats("RecvTensor", 10, 7)]), (MEMCPY, [stats("a:MEMCPYDtoH", 20, 3)]))

    assert copies(profile) == [("RecvTensor", 10, 7), ("a", 20, 3)]
    assert profile.steps.number[profile.copies.step].tolist() == [0, 0]
    assert [profile.devices.name[code] for code in profile.copies.device] == [
        CPU.lower(),
        MEMCPY.lower(),
    ]
    assert len(profile.executions) == 0


def test_a_transfer_that_is_also_on_a_stream_counts_once():
    lanes = [MEMCPY, "/device:GPU:0/stream:14<MemcpyH2D>"]

    assert len(ran(*((lane, [stats("a:MEMCPYHtoD")]) for lane in lanes)).copies) == 1


def test_a_transfer_without_a_start_is_ignored():
    assert copies(ran((MEMCPY, [stats("a", 0, 7)]))) == []


def test_an_op_named_similarly_to_a_transfer_is_not_a_copy():
    assert copies(ran_on_cpu(stats("RecvTensorNot"), stats("my/RecvTensor"))) == []
