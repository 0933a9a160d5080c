"""What accelerators compute in a step, and what happens while they are idle."""

import pytest

from h200 import gpt
from kineto_programs import annotation, copy, kernel, launch, loaded, module, op
from tfprof.measures.accelerators import accelerator_times
from tfprof.measures.steps import step_of


def times(profile, row=0):
    return accelerator_times(profile.columns, step_of(profile.columns, row))


def sync(ts, dur):
    return launch(0, ts) | {"name": "cudaStreamSynchronize", "dur": dur, "args": {}}


@pytest.fixture
def program(tmp_path):
    """A step of 100 us: input, ops that launch kernels, a copy, a wait, and Python in between."""
    return loaded(
        tmp_path,
        annotation("ProfilerStep#4", 0, 100),
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


def test_idle_time_is_divided_by_what_happened_meanwhile(program):
    (found,) = times(program)

    assert (found.device, found.kernels, found.busy_ns) == ("cuda:0", 2, 25_000)
    assert found.kernel_ns == {"forward": 20_000, "optimizer": 5_000}
    assert (found.transfers, found.transfer_ns) == (1, {"forward": 10_000})
    assert found.idle_ns == {
        "input": 10_000,
        "transfers": 10_000,
        "waiting": 8_000,
        "forward": 13_000 + 5_000 + 2_000,  # until kernel and copy start, and around the wait
        "optimizer": 9_000,
        "nothing": 2_000 + 5_000 + 6_000 + 5_000,
    }
    assert sum(found.idle_ns.values()) + found.busy_ns == 100_000


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

    assert [(one.device, one.kernels, one.busy_ns) for one in times(profile)] == [
        ("cuda:0", 2, 15_000),
        ("cuda:1", 1, 10_000),
    ]


def test_without_an_accelerator_there_is_none(tmp_path):
    assert times(loaded(tmp_path, op("aten::mm", 0, 10))) == []


@pytest.mark.parametrize("row", [0, 1])
def test_the_parts_of_a_recorded_step_add_up(row):
    profile = gpt()
    (found,) = times(profile, row)

    assert sum(found.idle_ns.values()) + found.busy_ns == step_of(profile.columns, row).nanos
    assert found.kernels == 206


def test_the_kernels_of_a_recorded_program_have_the_phases_that_were_measured():
    found = [one for row in (0, 1) for one in times(gpt(), row)]
    sums = {
        phase: sum(one.kernel_ns[phase] for one in found)
        for phase in ("forward", "backward", "optimizer")
    }
    fills = sum(sum(one.transfer_ns.values()) for one in found)
    total = sum(sum(one.kernel_ns.values()) for one in found)

    assert total == 13_481_025
    # All fills are in the backward pass. The shares that were measured contain them.
    assert fills == sum(one.transfer_ns["backward"] for one in found) == 25_088
    sums["backward"] += fills
    shares = {phase: 100 * nanos / (total + fills) for phase, nanos in sums.items()}
    assert shares == pytest.approx({"forward": 31.3, "backward": 60.2, "optimizer": 8.5}, abs=0.05)
