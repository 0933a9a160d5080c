"""The parts of steps add up to the nanosecond, in files of all kinds."""

from pathlib import Path

import pytest

import tfprof

ROOT = Path(__file__).parents[2]
RECORDINGS = {
    "gpt": [ROOT / "tests/samples/h200/gpt.json.gz"],
    "ddp": sorted((ROOT / "tests/samples/h200").glob("ddp_rank*.json.gz")),
    "eight_hosts": sorted((ROOT / "examples/eight_hosts").glob("*.xplane.pb.gz")),
    "gpu_synth": sorted((ROOT / "tests/samples/tensorflow/gpu_synth").glob("run_meta*")),
    "two_workers": [
        ROOT / "examples/two_workers/graph.pb.gz",
        *sorted((ROOT / "examples/two_workers").glob("worker*/*.gz")),
    ],
}


def total(time):
    return (
        sum(time.computing_ns.values())
        + time.exposed_communication_ns
        + time.exposed_copies_ns
        + sum(time.idle_ns.values())
        + time.unassigned_ns
    )


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_parts_of_each_step_add_up_to_its_time(name):
    steps = list(tfprof.load(*RECORDINGS[name]).step_times())

    assert steps
    for step in steps:
        assert sum(step.phases.values()) == step.step_ns
        assert step.busy_ns + step.idle_ns == step.wall_ns
        for one in step.accelerators:
            assert total(one.own) == one.own.wall_ns
            assert total(one.on_host) == one.on_host.wall_ns


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_parts_of_an_average_step_of_each_host_add_up_to_it(name):
    for one in tfprof.load(*RECORDINGS[name]).ranks():
        parts = (one.compute_ns, one.communication_ns, one.input_wait_ns)

        assert sum(parts) + one.transfers_ns + one.idle_ns == one.mean_ns


def test_only_recordings_with_kernels_have_accelerators():
    with_kernels = {
        name
        for name, paths in RECORDINGS.items()
        if tfprof.load(*paths).step_times().times.steps[0].accelerators
    }

    assert with_kernels == {"gpt", "ddp", "gpu_synth"}
