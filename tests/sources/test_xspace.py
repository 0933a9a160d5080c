"""Reading profiler recordings (XSpace): the time, steps, devices and memory of ops."""

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from floors import checked, floor
from sources.tf_files import graph, node
from sources.xplane_files import START_NS, Plane, event, host, recording, span
from tfprof.errors import InputError
from tfprof.formats import xplane
from tfprof.formats.recognise import MessageKind, recognise
from tfprof.formats.records import Records
from tfprof.model.ops import Phase
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


# Ops


def test_the_name_of_an_op_does_not_include_the_call_of_its_function(load):
    profile = load(host(t=[event(f"{CALL}/net/conv/Relu:Relu", 0, 5)]))

    assert list(profile.columns.ops.name) == ["net/conv/Relu"]
    assert micros(profile, "net/conv/Relu") == 5


def test_the_name_of_an_op_does_not_include_nested_calls(load):
    profile = load(host(t=[event(f"{CALL}/PartitionedCall_3/net/Mul:Mul", 0, 5)]))

    assert list(profile.columns.ops.name) == ["net/Mul"]


def test_the_number_of_an_inlined_body_is_removed(load):
    profile = load(host(t=[event(f"{CALL}/while/body/_12/while/cell/MatMul:MatMul", 0, 5)]))

    assert list(profile.columns.ops.name) == ["while/body/while/cell/MatMul"]


def test_a_branch_of_a_case_is_named_as_in_the_graph(load):
    profile = load(host(t=[event(f"{CALL}/net/case/branch1/_7/net/Relu:Relu", 0, 5)]))

    assert list(profile.columns.ops.name) == ["net/case/branch_1/net/Relu"]


def test_without_a_graph_an_op_has_the_kind_of_its_kernel(load):
    profile = load(host(t=[event("net/conv/Relu:_FusedConv2D", 0, 5)]))

    assert list(profile.columns.ops.kind.values) == ["_FusedConv2D"]


def test_ops_that_ran_as_fused_kernels_are_noted(tmp_path):
    defined = tmp_path / "graph.pb"
    defined.write_bytes(graph(node("conv/Conv2D", "Conv2D"), node("conv/Relu", "Relu")))
    trace = tmp_path / "host.xplane.pb"
    trace.write_bytes(recording(host(t=[event("conv/Relu:_FusedConv2D", 0, 5)])))
    profile = tfprof.load(defined, trace)
    kernels = "Relu as _FusedConv2D 1"
    note = f"1 op ran as a fused kernel, whose time includes that of other ops ({kernels})."

    assert note in profile.op(select=["micros"]).notes
    assert note not in profile.op(select=["params"]).notes


@pytest.mark.parametrize(
    "name",
    [
        "ExecutorState::Process",
        "EagerKernelExecute",
        "KernelAndDeviceFunc::Run",
        "MakeIterator::PrefetchDataset",
        "ThreadpoolListener::Record",
        "TensorDataset:16",
        "multi_step_on_iterator",
    ],
)
def test_events_that_are_not_ops_add_no_time(load, name):
    profile = load(host(t=[event(name, 0, 100), event("net/a:Mul", 10, 5)]))

    assert list(profile.columns.ops.name) == ["net/a"]
    assert total(profile, "_TFProfRoot") == 5


def test_the_time_of_an_op_excludes_ops_inside_it_on_the_same_thread(load):
    profile = load(host(t=[event("loop:While", 0, 100), event("body/a:Mul", 10, 30)]))

    assert micros(profile, "loop") == 70
    assert micros(profile, "body/a") == 30


def test_the_time_of_an_op_includes_ops_on_other_threads(load):
    profile = load(host(t=[event("loop:While", 0, 100)], u=[event("body/a:Mul", 10, 30)]))

    assert micros(profile, "loop") == 100


def test_ops_of_the_input_pipeline_have_their_own_scope(load):
    profile = load(host(**{"tf_data_private_threadpool/1": [event("GatherV2:GatherV2", 0, 5)]}))

    assert list(profile.columns.ops.name) == ["tf_data/GatherV2"]


PIPELINE = "tf_data_iterator_resource/1"
ITERATOR = "Iterator::Root::Prefetch::Batch"


def test_an_iterator_of_tf_data_is_an_op_below_the_one_that_calls_it(load):
    profile = load(host(**{PIPELINE: [event(ITERATOR, 0, 5)]}))

    assert list(profile.columns.ops.name) == ["tf_data/Root/Prefetch/Batch"]
    assert list(profile.columns.ops.kind.values) == ["Iterator::Batch"]
    assert profile.columns.phase.tolist() == [Phase.INPUT]


def test_the_time_of_an_iterator_excludes_the_iterators_that_it_calls(load):
    thread = [event(ITERATOR, 0, 50), event(f"{ITERATOR}::Map", 5, 30)]
    profile = load(host(**{PIPELINE: thread}))

    assert micros(profile, "tf_data/Root/Prefetch/Batch") == 20
    assert total(profile, "tf_data/Root/Prefetch/Batch") == 50


def test_the_time_of_an_iterator_excludes_the_ops_of_its_function(load):
    profile = load(host(**{PIPELINE: [event(f"{ITERATOR}::Map", 0, 50), event("mul:Mul", 5, 30)]}))

    assert micros(profile, "tf_data/Root/Prefetch/Batch/Map") == 20
    assert micros(profile, "tf_data/mul") == 30


def test_the_elements_of_a_nested_dataset_share_an_iterator(load):
    names = [f"Iterator::Root::FlatMap[{element}]::Range" for element in (0, 1, 12)]
    thread = [event(name, 10 * place, 5) for place, name in enumerate(names)]
    profile = load(host(**{PIPELINE: thread}))

    assert list(profile.columns.ops.name) == ["tf_data/Root/FlatMap/Range"]
    assert micros(profile, "tf_data/Root/FlatMap/Range") == 15


def test_an_iterator_has_no_float_operations(load):
    profile = load(host(**{PIPELINE: [event(ITERATOR, 0, 5)]}))

    assert not profile.flops().uncounted


def test_waiting_for_the_next_element_is_recorded_with_its_step(load):
    python = [
        function_call(0, 10),
        event("IteratorGetNextOp::DoCompute", 12, 7),
        function_call(20, 10),
        event("IteratorGetNextOp::DoCompute", 31, 3),
    ]
    profile = load(host(python=python, t=[event("a:Mul", at, 1) for at in (1, 21)]))
    waits = profile.columns.waits

    assert waits.step.tolist() == [0, 1]
    assert waits.start_ns.tolist() == [START_NS + 12_000, START_NS + 31_000]
    assert waits.duration_ns.tolist() == [7_000, 3_000]


def test_an_iterator_inside_the_pipeline_does_not_make_the_step_wait(load):
    name = "IteratorGetNextOp::DoCompute"
    lines = {"tf_data_private_threadpool/1": 0, "tf_data_iterator_get_next/2": 20}
    work = {line: [event(name, at, 5)] for line, at in lines.items()}
    profile = load(host(t=[event("a:Mul", 0, 1)], **work))

    assert profile.columns.waits.start_ns.tolist() == [START_NS + 20_000]


def test_an_eager_op_has_the_time_of_its_kernel(load):
    thread = [
        event("EagerLocalExecute: Mul", 0, 50),
        event("EagerKernelExecute", 10, 30),
        event("EagerLocalExecute: __inference_step_1", 60, 50),
        event("EagerKernelExecute", 70, 30),
    ]
    profile = load(host(python=thread))

    assert list(profile.columns.ops.name) == ["eager/Mul"]
    assert micros(profile, "eager/Mul") == 30


def eager(kind, start=0, duration=40):
    return [
        event(f"EagerLocalExecute: {kind}", start, duration),
        event("EagerKernelExecute", start + 5, duration - 10),
    ]


def test_an_eager_op_that_creates_a_dataset_does_no_arithmetic(load):
    profile = load(host(python=[*eager("MapDataset"), *eager("MakeIterator", 50)]))

    found = profile.flops().ledger
    assert found.uncounted == ()
    assert found.idle_kinds == (("MakeIterator", 1), ("MapDataset", 1))
    assert {*profile.columns.phase.tolist()} == {Phase.INPUT}


def test_ops_that_are_not_counted_are_listed_by_kind_with_the_reason(load):
    python = [*eager("MatMul"), *eager("Zork", 50, 35)]
    pipeline = {"tf_data_private_threadpool/1": [event("Mul:Mul", 0, 5)]}
    profile = load(host(python=python, t=[event("a/b:Sqrt", 90, 10)], **pipeline))

    assert [(one.kind, one.reason) for one in profile.flops().ledger.uncounted] == [
        ("MatMul", "ran outside functions: its shapes are not recorded"),
        ("Zork", "no rule for this kind"),
        ("Sqrt", "not in the graph, and its shapes are not recorded"),
        ("Mul", "in a function of tf.data: its shapes are not recorded"),
    ]


def test_code_compiled_by_xla_is_an_op_and_noted(load):
    run = event("CpuExecutable::ExecuteAsyncOnStream", 10, 30)
    profile = load(host(t=[run, event("ThunkExecutor::Execute", 15, 20)]))

    assert list(profile.columns.ops.name) == ["xla/CpuExecutable"]
    assert micros(profile, "xla/CpuExecutable") == 30
    assert profile.flops().ledger.uncounted == ()
    assert any("XLA compiled have no times" in note for note in profile.notes)


def test_a_recording_without_ops_is_noted(load):
    profile = load(host(t=[event("ExecutorState::Process", 0, 5)]))

    assert "contains no ops: nothing ran during the recording" in profile.notes[0]


# Time


def test_sums_of_short_runs_are_accurate_to_a_microsecond(load):
    shuffled = random.Random(7)  # noqa: S311 -- reproducible, not a secret
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


def test_times_count_from_the_start_of_the_recording(load):
    profile = load(host(t=[event("a:Mul", 3, 5)]))

    assert profile.columns.executions.start_ns.tolist() == [START_NS + 3000]


def test_the_times_of_a_line_may_count_from_1970(load):
    plane = Plane("/host:CPU").line("t", event("a:Mul", 3, 5), timestamp_ns=START_NS)

    assert load(plane).columns.executions.start_ns.tolist() == [START_NS + 3000]


def test_a_recording_without_a_start_time_is_noted(load):
    profile = load(host(t=[event("a:Mul", 0, 5)]), start_ns=0)

    assert any("does not state when it was recorded" in note for note in profile.notes)
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
def test_impossible_times_are_rejected(load, plane):
    with pytest.raises(InputError, match=r"is damaged: .* more than 50 days"):
        load(plane)


@pytest.mark.parametrize(
    "events",
    [
        [event("Iterator::Model", 0, 5)],
        [event("Iterator::Model", 0, 5), event("train", 0, 5, step_num=3)],
        [event("train", 0, 5, step_num=3)],
        [event("a:Mul", 0, 0)],
        [event("a:Mul", 5, 1), event("train", 9, 5, step_num=2**62)],
    ],
)
def test_advice_on_a_recording_with_hardly_any_op_is_possible(load, events):
    profile = load(host(t=events))

    assert profile.advise().text() is not None
    assert profile.report().to_html()


def test_timelines_are_compared_without_wrapping_around(load):
    plane = Plane("/host:CPU")
    for name, stamp in (("t", -(2**63)), ("u", 2**63 - 1)):
        plane.line(name, event("a:Mul", 0, 1), timestamp_ns=stamp)

    with pytest.raises(InputError, match="its timelines are more than 50 days apart"):
        load(plane)


# Steps


def test_each_call_of_the_longest_running_function_is_a_step(load):
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


def test_steps_marked_by_the_program_keep_their_numbers(load):
    python = [event("train", 10, 20, step_num=41), event("train", 40, 20, step_num=42)]
    profile = load(host(python=python, t=[event("a:Mul", 12, 2), event("a:Mul", 41, 3)]))

    assert profile.steps == [41, 42]
    assert micros(profile, "a", step=42) == 3


def test_a_step_lasts_until_the_next_one_starts(load):
    python = [event("train", 10, 20, step_num=41), event("train", 40, 20, step_num=42)]
    profile = load(host(python=python, t=[event("a:Mul", 12, 2), event("a:Mul", 41, 25)]))
    steps = profile.columns.steps

    assert (steps.start_ns - START_NS).tolist() == [10_000, 40_000]
    assert (steps.end_ns - START_NS).tolist() == [40_000, 66_000]  # the end of the last op


def test_a_step_whose_number_is_marked_twice_has_no_bounds(load):
    python = [event("train", at, 5, step_num=number) for at, number in ((0, 1), (10, 2), (20, 1))]
    profile = load(host(python=python, t=[event("a:Mul", at, 1) for at in (1, 11, 21)]))

    assert (profile.columns.steps.start_ns == -1).tolist() == [True, False]


def test_a_recording_without_step_markers_is_one_step(load):
    profile = load(host(t=[event("a:Mul", 0, 5)]))

    assert profile.steps == [0]
    assert any("has no step markers" in note for note in profile.notes)


# Accelerators

STREAM = "Stream #13(Kernel)"


def gpu(*events, line=STREAM):
    return Plane("/device:GPU:0").line(line, *events)


def test_the_time_of_kernels_is_accelerator_time_and_that_of_launches_cpu_time(load):
    profile = load(
        host(t=[event(f"{CALL}/net/conv:Conv2D", 0, 2)]),
        gpu(event("sgemm", 1, 40, tf_op=f"{CALL}/net/conv:Conv2D")),
    )
    row = profile.scope(select=["micros", "device"], max_depth=9)["net/conv"]

    assert (row["accelerator_micros"], row["cpu_micros"]) == (40, 2)
    assert "/device:gpu:0" in profile.columns.devices.name


def test_transfers_are_not_ops(load):
    profile = load(
        host(t=[event("net/a:Mul", 0, 2)]),
        gpu(
            event("MemcpyH2D", 0, 9, tf_op="net/a:Mul", memcpy_details="kind:h2d size:4"),
            line="Stream #14(MemcpyH2D)",
        ),
    )

    assert total(profile, "_TFProfRoot") == 2
    assert profile.columns.copies.duration_ns.tolist() == [9_000]


def test_kernels_that_belong_to_no_op_are_noted_with_their_time(load):
    profile = load(host(t=[event("net/a:Mul", 0, 2)]), gpu(event("stray", 0, 9)))

    expected = "1 kernel that belongs to no op is not counted (9 microseconds)."
    assert any(note.endswith(expected) for note in profile.notes)


def test_lines_added_by_a_viewer_are_not_counted_again(load):
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


def test_an_allocation_belongs_to_the_running_op_even_if_another_op_releases_it(load):
    ops = [event("net/a:Mul", 0, 10), allocation(1, 1000, 64, in_use=1500)]
    other = [event("net/b:Mul", 0, 30), allocation(25, 1000, 64, "MemoryDeallocation")]
    profile = load(host(t=ops, u=other), gpu(event("k", 0, 9, tf_op="net/a:Mul")))
    memory = profile.memory()

    assert memory.allocators[0].allocator == "GPU_0_bfc"
    assert memory.allocators[0].peak_bytes == 1000
    assert profile.columns.allocator_events.bytes.tolist() == [1000, -1000]
    row = profile.scope(select=["bytes", "peak_bytes", "residual_bytes"], max_depth=9)["net/a"]
    assert (row["bytes"], row["peak_bytes"], row["residual_bytes"]) == (1000, 1000, 1000)


def test_allocations_outside_ops_are_noted(load):
    profile = load(host(t=[event("net/a:Mul", 0, 1), allocation(9, 1000, 64)]))

    assert any("1 allocation outside ops is not counted" in note for note in profile.notes)


# Files


def test_a_recording_may_be_gzipped(load, tmp_path):
    load(host(t=[event("net/a:Mul", 0, 1)]))
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress((tmp_path / "host.xplane.pb").read_bytes()))

    assert open_file(str(path)).source.name == "xspace"
    assert list(tfprof.load(path).columns.ops.name) == ["net/a"]


def test_a_truncated_recording_is_rejected_or_noted_as_possibly_incomplete(tmp_path):
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
            assert any("is it complete?" in note for note in profile.notes)

    assert any("cut short or damaged" in trouble for trouble in troubles)
    assert not any("\n" in trouble for trouble in troubles)


@floor(0.1)  # measured: 0.5
def test_a_damaged_recording_is_rejected_or_loads(tmp_path):
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
                checked(False)
                troubles.add(str(error))
            else:
                checked()

    assert troubles
    assert not any("\n" in trouble for trouble in troubles)


def test_scanning_and_parsing_give_the_same_columns():
    data = recording(
        host(python=[function_call(1, 9)], t=[event("net/a:Mul", 2, 3), allocation(3, 9, 1)])
    )
    scanned, parsed = xplane._scanned(data), xplane._parsed(Records("file", data))

    assert scanned is not None
    for name, table in parsed.tables.items():
        for column in table.columns:
            assert scanned[name][column].tolist() == table[column].tolist(), (name, column)


@floor(0.1)  # measured: 0.3
@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4))
def test_scanning_a_damaged_recording_gives_the_same_columns_as_parsing_or_none(damage):
    data = bytearray(
        recording(
            host(python=[function_call(1, 9)], t=[event("net/a:Mul", 2, 3), allocation(3, 9, 1)])
        )
    )
    for place, value in damage:
        data[place % len(data)] = value
    scanned = xplane._scanned(bytes(data))
    checked(scanned is not None)
    if scanned is not None:
        parsed = xplane._parsed(Records("file", bytes(data)))

        for name, table in parsed.tables.items():
            for column in table.columns:
                assert scanned[name][column].tolist() == table[column].tolist(), (name, column)


def test_warnings_of_the_profiler_are_passed_on_as_notes(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(recording(host(t=[event("a:Mul", 0, 1)])) + span(3, "dropped 7 events"))

    assert f"{path}: the profiler reported: dropped 7 events" in tfprof.load(path).notes


def test_a_recording_is_not_mistaken_for_a_saved_profile():
    assert recognise(recording(host(t=[])))[0] is MessageKind.XSPACE


def test_the_latest_recording_in_a_folder_is_loaded(tmp_path):
    for run in ("2024_01_01", "2024_01_02"):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        plane = host(t=[event(f"{run}/a:Mul", 0, 1)])
        (folder / "host.xplane.pb").write_bytes(recording(plane))

    assert list(tfprof.load(tmp_path).columns.ops.name) == ["2024_01_02/a"]


def test_a_folder_without_a_recording_is_rejected(tmp_path):
    with pytest.raises(InputError, match="is an empty folder; check the path"):
        tfprof.load(tmp_path)


# Coverage


def test_an_answer_notes_how_much_of_the_run_is_covered(load):
    profile = load(host(t=[event("net/a:Mul", 0, 30), event("b:Whatever", 50, 10)]))

    note = next(note for note in profile.notes if note.startswith("coverage:"))
    assert note == (
        "coverage: 0 of 2 ops that ran are in the graph; of 40 microseconds of op time in all "
        "steps, 75.0 % is under a scope of the model, 0.0 % has a code line, 0.0 % has a float-op "
        "count."
    )
    assert note in profile.scope().notes


@pytest.mark.parametrize(
    ("facts", "model"),
    [
        ({}, ""),
        ({"device_type_string": "NVIDIA H200"}, "NVIDIA H200"),
        ({"device_vendor": "&Nvidia", "compute_cap_major": 9}, "Nvidia, compute capability 9.0"),
        ({"compute_cap_major": 8, "compute_cap_minor": 6}, "compute capability 8.6"),
        ({"device_vendor": "AMD", "core_count": 304}, "AMD, 304 cores"),
    ],
)
def test_the_kind_of_a_gpu_is_read_from_its_plane(facts, model, tmp_path):
    gpu = Plane("/device:GPU:0").line("Stream #1", event("kernel", 0, 5, tf_op="a:MatMul"))
    for name, value in facts.items():
        gpu.stat(name, value)
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(recording(gpu))
    devices = tfprof.load(path).columns.devices

    models = dict(zip(devices.name, devices.model, strict=True))
    assert models["/device:gpu:0/stream:all"] == model


def test_kernels_of_another_kind_than_the_op_are_kept_for_each_recording(tmp_path):
    for name, kinds in (("a", "MatMul"), ("b", "_FusedMatMul"), ("c", "MatMul")):
        runs = [event(f"x:{kinds}", 0, 5), event("y:Relu", 10, 5)]
        (tmp_path / f"{name}.xplane.pb").write_bytes(recording(host(t=runs)))
    other = tfprof.load(*sorted(tmp_path.iterdir())).columns.other_kernels

    assert (other.op.tolist(), other.recording.tolist()) == ([0], [1])
    assert other.kind[0] == "_FusedMatMul"


def test_kernels_are_kept_when_recordings_are_saved_one_by_one(tmp_path):
    for name, kinds in (("a", "MatMul"), ("b", "_FusedMatMul")):
        path = tmp_path / f"{name}.xplane.pb"
        path.write_bytes(recording(host(t=[event(f"x:{kinds}", 0, 5)])))
        tfprof.load(path).save(tmp_path / f"{name}.tfprof")
    both = tfprof.load(tmp_path / "a.tfprof", tmp_path / "b.tfprof")
    both.save(tmp_path / "both.tfprof")

    for profile in (both, tfprof.load(tmp_path / "both.tfprof")):
        other = profile.columns.other_kernels
        assert (other.recording.tolist(), other.kind[0]) == ([1], "_FusedMatMul")


# Kernels

DETAILS = "regs:32 static_shared:8 dynamic_shared:1024 grid:8,4,1 block:64,1,1 occ_pct:50"


def test_kernels_are_listed_with_their_configuration_and_op(load):
    profile = load(
        host(t=[event(f"{CALL}/net/conv:Conv2D", 0, 2)]),
        gpu(
            event("sgemm", 1, 40, tf_op=f"{CALL}/net/conv:Conv2D", kernel_details=DETAILS),
            event("sgemm", 50, 20, tf_op=f"{CALL}/net/conv:Conv2D", kernel_details=DETAILS),
        ),
    )
    (row,) = profile.kernels()

    assert (row.name, row.launches, row.total_ns, row.ops) == ("sgemm", 2, 60_000, ("Conv2D",))
    assert (row.grids, row.blocks) == (((8, 4, 1),), ((64, 1, 1),))
    assert (row.registers, row.shared_memory) == ((32,), (1032,))
    assert row.occupancy is None  # `occ_pct` is the theoretical one
    assert row.streams == ("/device:gpu:0/stream:all",)


def test_kernels_of_no_op_are_listed_too_but_no_fills_and_copies(load):
    profile = load(
        host(t=[event("net/a:Mul", 0, 2)]),
        gpu(
            event("stray", 3, 9, kernel_details="regs:many grid:1,2,3,4"),
            event("Memset", 20, 5, Memset_details="kind:device"),
            event("MemcpyH2D", 30, 5, memcpy_details="kind:h2d size:4"),
        ),
    )
    (row,) = profile.kernels()

    assert (row.name, row.total_ns, row.ops) == ("stray", 9000, ("unattributed",))
    assert (row.registers, row.shared_memory, row.grids) == ((), (), ())


def test_a_kernel_after_the_last_op_belongs_to_the_last_step_with_ops(load):
    profile = load(
        host(
            t=[
                event("train", 0, 10, step_num=1),
                event("net/a:Mul", 1, 2),
                event("train", 10, 10, step_num=2),
            ]
        ),
        gpu(event("stray", 12, 3)),
    )

    assert profile.steps == [1]
    assert [one.total_ns for one in profile.kernels(step=1)] == [3000]


# Setup


def test_a_step_traces_until_the_constant_parts_of_its_function_ran(load):
    marks = [event("train", start, 90, step_num=n) for n, start in enumerate((0, 100, 200))]
    folded = event("_send_ConstantFolding/range/start_0:_Send", 40, 0)
    ops = [event("a:Mul", start + 50, 5) for start in (0, 100, 200)]

    profile = load(host(main=marks, pool=[folded, *ops]))

    assert profile.columns.steps.setup_ns.tolist() == [40_000, 0, 0]


@pytest.mark.parametrize(
    "name",
    ["CpuCompiler::RunBackend", "JitCompiler::Compile", "HLO passes after layout assignment"],
)
def test_compiling_is_setup(load, name):
    marks = [event("train", start, 90, step_num=n) for n, start in enumerate((0, 100))]
    compiles = event(name, 10, 30)

    profile = load(
        host(main=[*marks, event("a:Mul", 150, 5)], pool=[compiles, event("a:Mul", 50, 5)])
    )

    assert profile.columns.steps.setup_ns.tolist() == [30_000, 0]
