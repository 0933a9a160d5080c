"""What the host waits for: an accelerator, a copy, or data; and when each op itself ran."""

from h200 import ddp, gpt
from kineto_programs import (
    MAIN,
    annotation,
    copy,
    event,
    kernel,
    launch,
    loaded,
    module,
    nanos,
    op,
)
from tfprof.model.ops import Phase

STEPS = [annotation("ProfilerStep#3", 0, 100), annotation("ProfilerStep#4", 100, 100)]


def call(name, ts, dur, number=0, tid=MAIN):
    """A call of the driver."""
    return event(
        name, cat="cuda_runtime", ts=ts, dur=dur, tid=tid, args={"correlation": number or 9999}
    )


# Calls that wait


def test_a_synchronisation_is_an_op_inside_the_one_that_waits(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 100),
        op("aten::item", 10, 50),
        op("aten::_local_scalar_dense", 12, 46),
        call("cudaMemcpyAsync", 14, 3, number=4),
        call("cudaStreamSynchronize", 18, 38),
        copy("Memcpy DtoH (Device -> Pinned)", 4, 40, 2),
    )

    assert nanos(profile, on_accelerator=False) == {
        "Net/aten::item": 4_000,
        "Net/aten::item/aten::_local_scalar_dense": 8_000,
        "Net/aten::item/aten::_local_scalar_dense/cudaStreamSynchronize": 38_000,
    }


def test_a_copy_of_memory_that_is_not_pinned_is_an_op(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::copy_", 0, 50),
        call("cudaMemcpyAsync", 5, 30, number=4),
        copy("Memcpy HtoD (Pageable -> Device)", 4, 10, 20),
        op("aten::copy_", 100, 50),
        call("cudaMemcpyAsync", 105, 30, number=5),
        copy("Memcpy HtoD (Pinned -> Device)", 5, 110, 20),
    )

    assert nanos(profile, on_accelerator=False) == {
        "aten::copy_": 70_000,
        "aten::copy_/cudaMemcpyAsync": 30_000,
    }


def test_a_synchronisation_outside_of_ops_counts_but_not_the_one_that_ends_the_recording(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 10),
        op("aten::mm", 1, 5),
        call("cudaDeviceSynchronize", 20, 7),
        call("cudaDeviceSynchronize", 40, 9),
    )

    assert nanos(profile, on_accelerator=False) == {
        "Net/aten::mm": 5_000,
        "outside_modules/cudaDeviceSynchronize": 7_000,
    }


def test_waiting_inside_a_collective_is_part_of_the_collective():
    columns = ddp().columns

    is_wait = columns.ops.kind.values.find("Synchronize") >= 0

    assert is_wait.any()
    assert not (columns.phase[is_wait[columns.ops.kind.codes]] == Phase.COMMUNICATION).any()


# Placement


def test_an_op_that_only_launches_copies_is_placed_on_the_accelerator(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::to", 0, 60),
        op("aten::copy_", 1, 50),
        call("cudaMemcpyAsync", 5, 30, number=4),
        copy("Memcpy HtoD (Pageable -> Device)", 4, 10, 20),
    )

    columns = profile.columns
    home = columns.home(0)
    where = {
        name: columns.devices.name[device]
        for name, device in zip(columns.ops.name, home.tolist(), strict=True)
    }
    assert where == {
        "aten::to": "cpu",
        "aten::to/aten::copy_": "cuda:0",
        "aten::to/aten::copy_/cudaMemcpyAsync": "cpu",
    }


# Waiting for data


def test_the_time_inside_the_data_loader_is_a_wait_for_input(tmp_path):
    profile = loaded(
        tmp_path,
        *STEPS,
        annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 40),
        op("aten::stack", 20, 10),
        op("aten::mm", 60, 20),
        op("aten::mm", 160, 20),
    )

    steps = profile.step_times().times.steps

    assert [step.input_wait_ns for step in steps] == [40_000, 0]
    assert [step.idle_input_wait_ns for step in steps] == [30_000, 0]
    assert steps[0].phases["input"] == 10_000


# Own time


def intervals(profile, name):
    columns = profile.columns
    runs, row = columns.executions, list(columns.ops.name).index(name)
    chosen = columns.records.op[runs.record] == row
    start = runs.start_ns[chosen]
    return sorted(zip(start.tolist(), (start + runs.duration_ns[chosen]).tolist(), strict=True))


def test_the_own_time_of_an_op_is_when_no_op_inside_it_runs(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::linear", 0, 100),
        op("aten::t", 10, 20),
        op("aten::addmm", 50, 30),
    )

    assert intervals(profile, "aten::linear") == [(0, 10_000), (30_000, 50_000), (80_000, 100_000)]
    assert profile.columns.records.runs.tolist() == [1, 1, 1]
    (step,) = profile.step_times().times.steps
    assert (step.busy_ns, step.parallel_ns, step.idle_ns) == (100_000, 0, 0)


def test_ops_that_overlap_on_a_thread_are_not_divided(tmp_path):
    profile = loaded(
        tmp_path, op("aten::linear", 0, 100), op("aten::t", 10, 50), op("aten::addmm", 40, 30)
    )

    assert sum(nanos(profile, on_accelerator=False).values()) == 100_000
    assert len(intervals(profile, "aten::linear")) == 1


def test_ops_run_in_parallel_to_kernels_only():
    for step in gpt().step_times().times.steps:
        assert step.parallel_ns <= step.devices["cuda:0"] == step.busy_ns


def test_a_kernel_that_is_launched_by_a_divided_op_is_still_its_kernel(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::addmm", 0, 50),
        op("aten::expand", 5, 10),
        launch(3, 30),
        kernel("gemm", 3, 60, 7),
    )

    assert nanos(profile, on_accelerator=True) == {"aten::addmm/gemm": 7_000}
    assert intervals(profile, "aten::addmm") == [(0, 5_000), (15_000, 50_000)]
