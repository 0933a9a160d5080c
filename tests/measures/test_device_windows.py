"""What accelerators do in steps: on the device, in the time on the host, and in all their time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from h200 import gpt
from kineto_programs import annotation, copy, kernel, launch, loaded, module, op
from tfprof.measures.device_timeline import covered_within, uncovered


def accelerators(profile, step=0):
    return profile.step_times().times.steps[step].accelerators


def total(time):
    """The sum of the parts of a window."""
    return (
        sum(time.computing_ns.values())
        + time.exposed_communication_ns
        + time.exposed_copies_ns
        + sum(time.idle_ns.values())
        + time.unassigned_ns
    )


def sync(ts, dur):
    return launch(0, ts) | {"name": "cudaStreamSynchronize", "dur": dur, "args": {}}


@pytest.fixture
def program(tmp_path):
    """A step of 100 us: input, ops that launch kernels, a copy, a wait, and Python in between."""
    return loaded(
        tmp_path,
        annotation("ProfilerStep#4", 0, 100),
        annotation("forward", 10, 55),
        annotation("enumerate(DataLoader)#_Iter.__next__", 0, 10),
        module("Net_0", 10, 30),
        op("aten::mm", 12, 18),
        launch(1, 20),
        kernel("gemm", 1, 25, 20),
        op("aten::to", 50, 10),
        launch(2, 51) | {"name": "cudaMemcpyAsync"},
        copy("Memcpy HtoD (Pinned -> Device)", 2, 55, 10),
        annotation("Optimizer.step#SGD.step", 70, 20),
        op("aten::_foreach_add_", 71, 10),
        launch(3, 75),
        kernel("add", 3, 80, 5),
        op("aten::item", 85, 10),
        sync(86, 8),
    )


def test_idle_time_is_divided_by_what_the_host_did_meanwhile(program):
    (found,) = accelerators(program)

    assert (found.device, found.kernels, found.own.busy_ns) == ("cuda:0", 2, 35_000)
    assert found.kernel_ns == {"forward": 20_000, "optimizer": 5_000}
    assert (found.transfers, found.transfer_ns) == (1, {"forward": 10_000})
    assert found.own.computing_ns == found.kernel_ns
    assert found.own.exposed_copies_ns == 10_000
    assert found.own.idle_ns == {
        "input": 10_000,
        "waiting": 8_000,
        "forward": 13_000 + 5_000,  # until kernel and copy start
        "other": 2_000,  # around the wait, which is in no known phase
        "optimizer": 9_000,
        "nothing": 2_000 + 5_000 + 6_000 + 5_000,
    }
    assert total(found.own) == found.own.wall_ns == 100_000
    assert found.on_host == found.own


def test_a_step_has_the_work_that_it_launched_wherever_that_ran(tmp_path):
    """The host is ahead: both steps take 10 us on it, and their kernels run one after the other."""
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 10),
        op("aten::mm", 1, 5),
        launch(1, 2),
        annotation("ProfilerStep#1", 10, 10),
        op("aten::mm", 11, 5),
        launch(2, 12),
        kernel("gemm", 1, 4, 50),
        kernel("gemm", 2, 54, 40),
    )
    (first,), (second,) = accelerators(profile, 0), accelerators(profile, 1)

    assert (first.own.wall_ns, first.own.busy_ns) == (54_000, 50_000)
    assert (second.own.start_ns - first.own.start_ns, second.own.wall_ns) == (54_000, 40_000)
    assert (first.on_host.wall_ns, first.on_host.busy_ns) == (10_000, 6_000)
    # The kernel of the first step runs in all the time of the second one.
    assert (second.on_host.wall_ns, second.on_host.busy_ns) == (10_000, 10_000)
    times = profile.step_times()
    assert [(step.step_ns, step.busy_ns) for step in times] == [(54_000, 6_000), (40_000, 10_000)]
    assert "74us after the host" in times.report


def test_idle_time_after_the_end_of_the_recorded_host_is_unassigned(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 10),
        op("aten::mm", 1, 5),
        launch(1, 2),
        op("aten::mm", 6, 3),
        launch(2, 7),
        kernel("gemm", 1, 4, 50),
        kernel("gemm", 2, 60, 40),
    )
    (found,) = accelerators(profile)

    assert (found.own.wall_ns, found.own.unassigned_ns) == (100_000, 6_000)


def test_communication_while_something_computes_is_no_part_of_the_step(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 100),
        op("nccl:all_reduce", 1, 5),
        launch(1, 2),
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 10, 50, stream=20),
        op("aten::mm", 6, 5),
        launch(2, 7),
        kernel("gemm", 2, 20, 10),
        copy("Memcpy DtoD (Device -> Device)", 2, 50, 20),
    )
    (found,) = accelerators(profile)

    assert found.own.computing_ns == {"forward": 10_000}
    assert found.own.exposed_communication_ns == 40_000
    assert found.own.overlapped_communication_ns == 10_000
    assert found.own.exposed_copies_ns == 10_000
    assert total(found.own) == 100_000


def test_a_long_copy_beside_the_kernels_does_not_move_the_next_step(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 50),
        op("aten::copy_", 1, 2),
        launch(1, 2) | {"name": "cudaMemcpyAsync"},
        copy("Memcpy DtoH (Device -> Pinned)", 1, 5, 80),
        op("aten::mm", 4, 5),
        launch(2, 5),
        kernel("gemm", 2, 6, 20, stream=9),
        annotation("ProfilerStep#1", 50, 50),
        op("aten::mm", 51, 5),
        launch(3, 52),
        kernel("gemm", 3, 60, 20, stream=9),
    )
    (first,), (second,) = accelerators(profile, 0), accelerators(profile, 1)

    assert (first.own.wall_ns, second.own.wall_ns) == (50_000, 50_000)
    assert (first.own.exposed_copies_ns, second.own.exposed_copies_ns) == (25_000, 15_000)
    assert (first.transfer_ns, second.transfer_ns) == ({"forward": 80_000}, {})


def test_kernels_that_were_launched_before_the_recording_belong_to_no_step(tmp_path):
    profile = loaded(
        tmp_path,
        kernel("gemm", 90, -40, 30),
        kernel("gemm", 91, -10, 30),
        annotation("ProfilerStep#0", 0, 50),
        op("aten::mm", 1, 5),
        launch(1, 2),
        kernel("gemm", 1, 20, 40),
    )
    (found,) = accelerators(profile)

    assert (found.own.wall_ns, found.own.busy_ns, found.kernels) == (40_000, 40_000, 1)
    whole = profile.step_times().summaries[0].accelerators["cuda:0"]
    assert (whole.wall_ns, whole.busy_ns) == (100_000, 100_000)


def test_streams_of_one_accelerator_count_together_and_accelerators_apart(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        launch(1, 1),
        launch(2, 2),
        launch(3, 3),
        kernel("a", 1, 10, 10, stream=7),
        kernel("b", 2, 15, 10, stream=20),
        kernel("c", 3, 30, 10, device=1),
    )

    assert [(one.device, one.kernels, one.own.busy_ns) for one in accelerators(profile)] == [
        ("", 3, 25_000),
        ("cuda:0", 2, 15_000),
        ("cuda:1", 1, 10_000),
    ]


def test_without_an_accelerator_there_is_none(tmp_path):
    assert accelerators(loaded(tmp_path, op("aten::mm", 0, 10))) == ()


@pytest.mark.parametrize("row", [0, 1])
def test_the_parts_of_a_recorded_step_add_up(row):
    (found,) = accelerators(gpt(), row)

    assert total(found.own) == found.own.wall_ns
    assert total(found.on_host) == found.on_host.wall_ns
    assert found.kernels == 206


def test_the_kernels_of_a_recorded_program_have_the_phases_that_were_measured():
    found = [one for row in (0, 1) for one in accelerators(gpt(), row)]
    sums = {
        phase: sum(one.kernel_ns[phase] for one in found)
        for phase in ("forward", "backward", "optimizer")
    }
    fills = sum(sum(one.transfer_ns.values()) for one in found)
    whole = sum(sum(one.kernel_ns.values()) for one in found)

    assert whole == 13_481_025
    # All fills are in the backward pass. The shares that were measured contain them.
    assert fills == sum(one.transfer_ns.get("backward", 0) for one in found) == 25_088
    sums["backward"] += fills
    shares = {phase: 100 * nanos / (whole + fills) for phase, nanos in sums.items()}
    assert shares == pytest.approx({"forward": 31.3, "backward": 60.2, "optimizer": 8.5}, abs=0.05)


_INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=8)


def columns(intervals):
    start = np.array([begin for begin, _ in intervals], np.int64)
    return start, start + np.array([length for _, length in intervals], np.int64)


def points(intervals):
    return {time for begin, length in intervals for time in range(begin, begin + length)}


@given(_INTERVALS, _INTERVALS)
def test_covered_time_equals_a_count_of_its_instants(intervals, windows):
    start, end = columns(intervals)
    begin, finish = columns(windows)

    assert covered_within(start, end, begin, finish).tolist() == [
        len(points(intervals) & set(range(first, last)))
        for first, last in zip(begin.tolist(), finish.tolist(), strict=True)
    ]


@given(_INTERVALS, _INTERVALS)
def test_uncovered_time_is_the_difference_of_instants(intervals, others):
    start, end = uncovered(columns(intervals), columns(others))
    found = zip(start.tolist(), end.tolist(), strict=True)

    assert {time for begin, finish in found for time in range(begin, finish)} == points(
        intervals
    ) - points(others)
