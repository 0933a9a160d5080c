"""What a profiler's recording says of ops: their time, steps, devices and memory."""

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from sources.xplane_files import START_NS, Plane, event, host, recording, span
from tfprof.errors import InputError
from tfprof.formats import xplane
from tfprof.formats.recognise import MessageKind, recognise
from tfprof.formats.records import Records
from tfprof.sources.registry import open_file

CALL = "StatefulPartitionedCall"


@pytest.fixture
def load(tmp_path):
    def loaded(*planes, **options):
        path = tmp_path / "host.xplane.pb"
        path.write_bytes(recording(*planes, **options))
        profile = tfprof.load(path)
        profile.columns.check()
        return profile

    return loaded


def micros(profile, name, **options):
    return profile.scope(select=["micros"], max_depth=100, **options)[name]["micros"]


def total(profile, name, **options):
    return profile.scope(select=["micros"], max_depth=100, **options)[name]["total_micros"]


def function_call(start, duration, name="__inference_step_1"):
    return event("EagerExecute", start, duration, eager_op=f"&{name}", is_func=1)


# What is an op


def test_an_op_is_named_within_the_function_that_was_called(load):
    profile = load(host(t=[event(f"{CALL}/net/conv/Relu:Relu", 0, 5)]))

    assert list(profile.columns.ops.name) == ["net/conv/Relu"]
    assert micros(profile, "net/conv/Relu") == 5


def test_a_function_called_by_a_function_leaves_no_scope(load):
    profile = load(host(t=[event(f"{CALL}/PartitionedCall_3/net/Mul:Mul", 0, 5)]))

    assert list(profile.columns.ops.name) == ["net/Mul"]


def test_a_body_that_was_put_in_place_of_its_call_has_no_number(load):
    profile = load(host(t=[event(f"{CALL}/while/body/_12/while/cell/MatMul:MatMul", 0, 5)]))

    assert list(profile.columns.ops.name) == ["while/body/while/cell/MatMul"]


def test_a_branch_of_a_case_is_named_as_in_a_graph(load):
    profile = load(host(t=[event(f"{CALL}/net/case/branch1/_7/net/Relu:Relu", 0, 5)]))

    assert list(profile.columns.ops.name) == ["net/case/branch_1/net/Relu"]


def test_without_a_graph_an_op_has_the_kind_that_ran(load):
    profile = load(host(t=[event("net/conv/Relu:_FusedConv2D", 0, 5)]))

    assert list(profile.columns.ops.kind.values) == ["_FusedConv2D"]


@pytest.mark.parametrize(
    "name",
    [
        "ExecutorState::Process",
        "EagerKernelExecute",
        "KernelAndDeviceFunc::Run",
        "Iterator::Root::Prefetch",
        "ThreadpoolListener::Record",
        "TensorDataset:16",
        "multi_step_on_iterator",
    ],
)
def test_what_encloses_ops_or_is_none_adds_nothing(load, name):
    profile = load(host(t=[event(name, 0, 100), event("net/a:Mul", 10, 5)]))

    assert list(profile.columns.ops.name) == ["net/a"]
    assert total(profile, "_TFProfRoot") == 5


def test_an_op_within_an_op_on_the_same_thread_keeps_its_own_time(load):
    profile = load(host(t=[event("loop:While", 0, 100), event("body/a:Mul", 10, 30)]))

    assert micros(profile, "loop") == 70
    assert micros(profile, "body/a") == 30


def test_what_another_thread_did_meanwhile_is_not_subtracted(load):
    profile = load(host(t=[event("loop:While", 0, 100)], u=[event("body/a:Mul", 10, 30)]))

    assert micros(profile, "loop") == 100


def test_ops_of_the_input_pipeline_have_a_scope_of_their_own(load):
    profile = load(host(**{"tf_data_private_threadpool/1": [event("GatherV2:GatherV2", 0, 5)]}))

    assert list(profile.columns.ops.name) == ["tf_data/GatherV2"]


def test_a_single_op_outside_of_functions_is_told_by_its_kernel(load):
    thread = [
        event("EagerLocalExecute: Mul", 0, 50),
        event("EagerKernelExecute", 10, 30),
        event("EagerLocalExecute: __inference_step_1", 60, 50),
        event("EagerKernelExecute", 70, 30),
    ]
    profile = load(host(python=thread))

    assert list(profile.columns.ops.name) == ["eager/Mul"]
    assert micros(profile, "eager/Mul") == 30


def test_a_recording_without_an_op_says_so(load):
    profile = load(host(t=[event("ExecutorState::Process", 0, 5)]))

    assert "has no event of an op" in profile.notes[0]


# Time


def test_sums_of_short_runs_are_true_to_a_microsecond(load):
    shuffled = random.Random(7)  # noqa: S311 -- the same numbers each time, and no secret
    names = [f"net/{layer}/{op}" for layer in "abc" for op in range(100)]
    lengths = {name: shuffled.uniform(0.05, 0.9) for name in names}
    moments = range(0, 1000, 2)
    events = [
        event(f"{name}:Mul", at, lengths[name]) for name, at in zip(names, moments, strict=False)
    ]
    shuffled.shuffle(events)

    profile = load(host(t=events))

    for scope in ("net", "net/a", "net/b", "net/c"):
        true = sum(length for name, length in lengths.items() if name.startswith(f"{scope}/"))
        assert abs(total(profile, scope) - true) <= 1
    assert abs(micros(profile, "net/a/7") - lengths["net/a/7"]) <= 1


def test_times_count_from_when_the_recording_began(load):
    profile = load(host(t=[event("a:Mul", 3, 5)]))

    assert profile.columns.executions.start_ns.tolist() == [START_NS + 3000]


def test_a_line_that_counts_from_1970_does_so(load):
    plane = Plane("/host:CPU").line("t", event("a:Mul", 3, 5), timestamp_ns=START_NS)

    assert load(plane).columns.executions.start_ns.tolist() == [START_NS + 3000]


def test_a_recording_that_does_not_say_when_it_began_is_noted(load):
    profile = load(host(t=[event("a:Mul", 0, 5)]), start_ns=0)

    assert any("does not say when it was recorded" in note for note in profile.notes)
    assert micros(profile, "a") == 5


@pytest.mark.parametrize(
    "plane",
    [
        Plane("/host:CPU").line("t", ("a:Mul", 0, 2**63 - 1, {}), ("b:Mul", 0, 2**63 - 1, {})),
        Plane("/host:CPU").line("t", ("a:Mul", 2**63 - 1, 1, {})),
        Plane("/host:CPU")
        .line("t", event("a:Mul", 0, 1), timestamp_ns=0)
        .line("u", event("a:Mul", 0, 1), timestamp_ns=2**62),
    ],
)
def test_times_that_no_clock_gives_are_refused(load, plane):
    with pytest.raises(InputError, match="it is damaged"):
        load(plane)


# Steps


def test_each_call_of_the_function_that_took_longest_is_a_step(load):
    python = [
        function_call(10, 20),
        function_call(32, 3, "__inference_small_2"),
        function_call(40, 20),
    ]
    work = [event("a:Mul", at, 1) for at in (0, 12, 33, 41)]
    profile = load(host(python=python, t=work))

    assert profile.steps == [0, 1]
    assert micros(profile, "a", step=0) == 3
    assert micros(profile, "a", step=1) == 1


def test_steps_that_the_program_numbered_keep_their_numbers(load):
    python = [event("train", 10, 20, step_num=41), event("train", 40, 20, step_num=42)]
    profile = load(host(python=python, t=[event("a:Mul", 12, 2), event("a:Mul", 41, 3)]))

    assert profile.steps == [41, 42]
    assert micros(profile, "a", step=42) == 3


def test_a_recording_without_steps_is_one(load):
    profile = load(host(t=[event("a:Mul", 0, 5)]))

    assert profile.steps == [0]
    assert any("marks no steps" in note for note in profile.notes)


# Accelerators

STREAM = "Stream #13(Kernel)"


def gpu(*events, line=STREAM):
    return Plane("/device:GPU:0").line(line, *events)


def test_kernels_are_accelerator_time_and_their_launch_is_cpu_time(load):
    profile = load(
        host(t=[event(f"{CALL}/net/conv:Conv2D", 0, 2)]),
        gpu(event("sgemm", 1, 40, tf_op=f"{CALL}/net/conv:Conv2D")),
    )
    row = profile.scope(select=["micros", "device"], max_depth=9)["net/conv"]

    assert (row["accelerator_micros"], row["cpu_micros"]) == (40, 2)
    assert "/device:gpu:0" in profile.columns.devices.name


def test_transfers_are_no_op(load):
    profile = load(
        host(t=[event("net/a:Mul", 0, 2)]),
        gpu(
            event("MemcpyH2D", 0, 9, tf_op="net/a:Mul", memcpy_details="kind:h2d size:4"),
            line="Stream #14(MemcpyH2D)",
        ),
    )

    assert total(profile, "_TFProfRoot") == 2
    assert profile.columns.copies.duration_ns.tolist() == [9_000]


def test_kernels_of_no_op_are_noted_with_their_time(load):
    profile = load(host(t=[event("net/a:Mul", 0, 2)]), gpu(event("stray", 0, 9)))

    assert any("1 kernels (9 microseconds) of no op" in note for note in profile.notes)


def test_lines_that_a_viewer_added_are_not_counted_again(load):
    profile = load(
        host(t=[event("net/a:Mul", 0, 2)]),
        gpu(event("k", 0, 9, tf_op="net/a:Mul")).line(
            "TensorFlow Ops", event("net/a:Mul", 0, 9, tf_op="net/a:Mul")
        ),
    )

    assert total(profile, "_TFProfRoot") == 11


# Memory


def allocation(at, size, address, name="MemoryAllocation", in_use=0):
    return event(
        name,
        at,
        0,
        allocator_name="&GPU_0_bfc",
        allocation_bytes=size,
        bytes_allocated=in_use,
        addr=address,
    )


def test_an_allocation_belongs_to_the_op_that_ran_then_until_somebody_gives_it_back(load):
    ops = [event("net/a:Mul", 0, 10), allocation(1, 1000, 64, in_use=1500)]
    other = [event("net/b:Mul", 0, 30), allocation(25, 1000, 64, "MemoryDeallocation")]
    profile = load(host(t=ops, u=other), gpu(event("k", 0, 9, tf_op="net/a:Mul")))
    memory = profile.memory()

    assert memory.allocators[0].allocator == "GPU_0_bfc"
    assert memory.allocators[0].peak_bytes == 1000
    assert profile.columns.allocator_events.bytes.tolist() == [1000, -1000]
    row = profile.scope(select=["bytes", "peak_bytes", "residual_bytes"], max_depth=9)["net/a"]
    assert (row["bytes"], row["peak_bytes"], row["residual_bytes"]) == (1000, 1000, 1000)


def test_allocations_outside_of_ops_are_noted(load):
    profile = load(host(t=[event("net/a:Mul", 0, 1), allocation(9, 1000, 64)]))

    assert any("1 allocation outside of ops" in note for note in profile.notes)


# Files


def test_a_recording_may_be_gzipped(load, tmp_path):
    load(host(t=[event("net/a:Mul", 0, 1)]))
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress((tmp_path / "host.xplane.pb").read_bytes()))

    assert open_file(str(path)).source.name == "xspace"
    assert list(tfprof.load(path).columns.ops.name) == ["net/a"]


def test_a_recording_cut_anywhere_is_refused_or_says_that_it_may_not_be_whole(tmp_path):
    data = recording(host(t=[event(f"net/{op}:Mul", op, 1) for op in range(20)]))
    path = tmp_path / "cut"
    troubles = set()
    for end in range(1, len(data), 3):
        path.write_bytes(data[:end])
        try:
            profile = tfprof.load(path)
        except InputError as error:
            troubles.add(str(error))
        else:
            assert any("is it whole?" in note for note in profile.notes)

    assert any("cut short or damaged" in trouble for trouble in troubles)
    assert not any("\n" in trouble for trouble in troubles)


def test_a_damaged_recording_is_refused_or_loads(tmp_path):
    data = recording(
        host(python=[function_call(1, 9)], t=[event("net/a:Mul", 2, 3), allocation(3, 9, 1)]),
        gpu(event("k", 0, 9, tf_op="net/a:Mul")),
    )
    path = tmp_path / "damaged"
    troubles = set()
    for place in range(0, len(data), 4):
        for flip in (0xFF, 1 << place % 8):
            damaged = bytearray(data)
            damaged[place] ^= flip
            path.write_bytes(damaged)
            try:
                tfprof.load(path).columns.check()
            except tfprof.TfprofError as error:
                troubles.add(str(error))

    assert troubles
    assert not any("\n" in trouble for trouble in troubles)


def test_a_scan_and_a_walk_find_the_same():
    data = recording(
        host(python=[function_call(1, 9)], t=[event("net/a:Mul", 2, 3), allocation(3, 9, 1)])
    )
    scanned, walked = xplane._scanned(data), xplane._parsed(Records("file", data))

    assert scanned is not None
    for name, table in walked.tables.items():
        for column in table.columns:
            assert scanned[name][column].tolist() == table[column].tolist(), (name, column)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4))
def test_a_scan_finds_in_a_damaged_recording_what_a_walk_does_or_leaves_it_to_that(damage):
    data = bytearray(
        recording(
            host(python=[function_call(1, 9)], t=[event("net/a:Mul", 2, 3), allocation(3, 9, 1)])
        )
    )
    for place, value in damage:
        data[place % len(data)] = value
    scanned = xplane._scanned(bytes(data))
    if scanned is not None:
        walked = xplane._parsed(Records("file", bytes(data)))

        for name, table in walked.tables.items():
            for column in table.columns:
                assert scanned[name][column].tolist() == table[column].tolist(), (name, column)


def test_what_the_profiler_complained_of_is_passed_on(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(recording(host(t=[event("a:Mul", 0, 1)])) + span(3, "dropped 7 events"))

    assert f"{path} warns: dropped 7 events" in tfprof.load(path).notes


def test_a_plane_is_told_from_an_entry_of_a_saved_profile():
    assert recognise(recording(host(t=[])))[0] is MessageKind.XSPACE


def test_a_folder_gives_the_latest_recording(tmp_path):
    for run in ("2024_01_01", "2024_01_02"):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        plane = host(t=[event(f"{run}/a:Mul", 0, 1)])
        (folder / "host.xplane.pb").write_bytes(recording(plane))

    assert list(tfprof.load(tmp_path).columns.ops.name) == ["2024_01_02/a"]


def test_a_folder_without_a_recording_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder; pass the files in it"):
        tfprof.load(tmp_path)


# Coverage


def test_an_answer_says_how_much_of_what_ran_is_known(load):
    profile = load(host(t=[event("net/a:Mul", 0, 30), event("b:Whatever", 50, 10)]))

    note = next(note for note in profile.notes if note.startswith("coverage:"))
    assert note == (
        "coverage: 0 of 2 ops that ran are in the graph; of 40 microseconds of op time in all "
        "steps, 75.0 % is under a scope of the model, 0.0 % has a code line, 0.0 % has a float-op "
        "count."
    )
    assert note in profile.scope().notes
