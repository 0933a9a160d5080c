"""Simulated jobs on GPUs are possible, their traces say the same, and answers are judged rightly.

`benchmarks/fleets.py` asks tfprof about many of them.
"""

from dataclasses import replace

import gpu_findings
import gpu_traces
import pytest
from gpu_findings import CLEAN, KINDS, SMALL
from gpu_job import Collective, Fault, Job, Op
from gpu_times import Simulation, lost

from independent import device_timeline

PLANS = ("ddp", "hsdp", "tp")
TINY = Job(ranks=4, node=2, steps=3, layers=2)
SLOW = replace(TINY, fault=Fault("host", 1, 0.3))


def ran(job, kind):
    return [one for one in Simulation(job).run().ran if isinstance(one.part, kind)]


@pytest.mark.parametrize("plan", PLANS)
def test_a_collective_ends_together_after_all_ranks_of_its_group_have_started(plan):
    job = replace(TINY, plan=plan)

    for one in ran(job, Collective):
        start, end = one.kernel[0]
        assert (start >= one.launch[0][1]).all()
        for ranks in job.groups(one.part.group):
            assert end[ranks].max() - end[ranks].min() <= 1
            assert end[ranks].min() > start[ranks].max()


@pytest.mark.parametrize("plan", PLANS)
def test_kernels_run_after_their_launch_and_one_after_the_other(plan):
    kernels = [
        (launch[1], start, end)
        for one in ran(replace(TINY, plan=plan), Op)
        for launch, (start, end) in zip(one.launch, one.kernel, strict=True)
    ]

    assert all((start > launch).all() for launch, start, _ in kernels)
    assert all((kernels[i][1] > kernels[i - 1][2]).all() for i in range(1, len(kernels)))


def test_a_host_that_reads_the_loss_waits_for_the_gpu_in_each_step():
    times = Simulation(replace(TINY, reads_loss=True)).run()
    ended = [one.kernel[-1][1] for one in times.ran if isinstance(one.part, Op)]

    assert (times.step_begin[-1] > ended[-1]).all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != CLEAN])
def test_a_fault_costs_some_time_in_most_steps(kind):
    job = gpu_findings.random_job(kind, 3, SMALL)

    assert lost(job) >= gpu_findings.LEAST_LOSS


def test_the_same_job_gives_the_same_traces(tmp_path):
    first = gpu_traces.generate(tmp_path / "a", TINY)
    second = gpu_traces.generate(tmp_path / "b", TINY)

    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_traces_have_the_simulated_kernels(tmp_path):
    times = Simulation(TINY).run()
    sums = sum(
        end - start
        for one in times.ran
        if isinstance(one.part, Op | Collective)
        for start, end in one.kernel
    )

    for rank, path in enumerate(gpu_traces.generate(tmp_path, TINY)):
        (found,) = device_timeline.devices(path).values()
        assert found["kernel_sum"] == pytest.approx(sums[rank] * 1000, rel=1e-6)
        assert len(found["steps"]) == TINY.steps


def test_longer_sequences_are_more_work():
    job = replace(TINY, sequence=512, fault=Fault("work", 1, 0.25))

    assert [job.sequence_of(rank) for rank in range(4)] == [512, 640, 512, 512]


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ([(1, "host")], "right"),
        ([(1, "device")], "wrong cause"),
        ([(0, "host")], "wrong rank"),
        ([(1, "host"), (2, "host")], "also others"),
        ([], "missed"),
    ],
)
def test_a_claim_is_right_if_rank_and_cause_are(found, word):
    assert gpu_findings.verdict_on(SLOW, found) == word


def test_any_claim_about_a_clean_fleet_is_wrong():
    assert gpu_findings.verdict_on(TINY, []) == "right"
    assert gpu_findings.verdict_on(TINY, [(1, "host")]) == "claimed"
