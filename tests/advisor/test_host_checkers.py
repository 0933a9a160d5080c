"""Checkers that compare hosts."""

import pytest

from build import GPU, GPU_STREAM, allocator, op, profile, run
from fleets import Fault, Job, loaded
from tfprof.advisor import fullest_host, skewed_input, slow_hosts, unlike_hosts
from tfprof.advisor.registry import advise

JOB = Job(hosts=5, steps=8, layers=2)
NAMES = ["SlowHostChecker", "SkewedInputChecker", "UnlikeHostChecker", "FullestHostChecker"]
MEGABYTES = 1_000_000


def fleet(folder, *faults, **changes):
    return loaded(folder, JOB.but(faults=faults, **changes)).columns


def test_a_slow_host_is_reported_with_the_scopes_in_which_it_loses_time(tmp_path):
    columns = fleet(tmp_path, Fault("straggler", 3, 2.0, "model/layer_1"))
    (found,) = slow_hosts.check(columns)

    assert found.sentence.startswith("host-3 takes ")
    assert (
        "longer than the other hosts in all steps, mostly in gradient_tape/model/layer_1 and "
        "model/layer_1" in found.sentence
    )
    assert found.ops == ("gradient_tape/model/layer_1", "model/layer_1")
    assert found.gain.share == pytest.approx(0.3, abs=0.05)
    assert list(skewed_input.check(columns)) == []


def test_a_host_that_waits_for_input_is_reported_as_skewed_input(tmp_path):
    columns = fleet(tmp_path, Fault("input", 1, 0.5))
    (found,) = skewed_input.check(columns)

    assert found.sentence.startswith("host-1 takes ")
    assert found.evidence.to_dicts()[0]["in"] == "waiting for input"
    assert found.command == ("steps", "-recording", r"host\-1")
    assert list(slow_hosts.check(columns)) == []


def test_a_host_with_another_accelerator_is_reported(tmp_path):
    found = list(unlike_hosts.check(fleet(tmp_path, Fault("hardware", 2, 1.0), has_gpu=True)))

    assert [one.sentence for one in found] == ["host-2 has other hardware than the other 4 hosts."]
    assert found[0].evidence.to_dicts() == [
        {"hosts": 4, "hardware": "Nvidia, compute capability 9.0, 132 cores", "such_as": "host-0"},
        {"hosts": 1, "hardware": "Nvidia, compute capability 8.0, 108 cores", "such_as": "host-2"},
    ]


def test_a_fleet_of_two_kinds_of_hosts_in_equal_numbers_has_no_usual_hardware(tmp_path):
    faults = [Fault("hardware", host, 1.0) for host in (0, 1)]

    assert list(unlike_hosts.check(fleet(tmp_path, *faults, hosts=4, has_gpu=True))) == []


def placed(*accelerated):
    """Hosts that run an op on a GPU, or on the CPU."""
    facts = []
    for host, is_accelerated in enumerate(accelerated):
        label = f"h{host}"
        facts.append(run("b", recording=label))
        if is_accelerated:
            facts.append(run("net/a", recording=label, device=GPU))
            facts.append(run("net/a", start=1001, recording=label, device=GPU_STREAM))
        else:
            facts.append(run("net/a", recording=label))
    return profile(op("net/a"), op("b"), *facts)


def test_an_op_on_the_cpu_of_one_host_and_on_the_accelerators_of_others_is_reported():
    (found,) = unlike_hosts.check(placed(True, True, False, True))

    assert found.sentence == "h2 runs 1 op on another kind of device than most hosts."
    assert found.evidence.to_dicts() == [{"op": "net/a", "runs_on": "CPU"}]


def test_an_op_on_the_accelerator_of_one_host_only_is_reported():
    (found,) = unlike_hosts.check(placed(False, False, True))

    assert found.sentence.startswith("h2 runs 1 op")
    assert found.evidence.to_dicts() == [{"op": "net/a", "runs_on": "accelerator"}]


def test_an_op_that_half_of_the_hosts_run_elsewhere_has_no_usual_device():
    assert list(unlike_hosts.check(placed(True, False, True, False))) == []


@pytest.mark.parametrize("host", [0, 2])
def test_a_host_that_runs_ops_as_another_kind_of_kernel_is_reported(host, tmp_path):
    fault = Fault("kernel", host, 1.0, "model/layer_0/mlp/gelu")
    (found,) = unlike_hosts.check(fleet(tmp_path, fault))

    assert found.sentence == (
        f"host-{host} runs 2 ops with another kind of kernel than most hosts."
    )
    assert found.evidence.to_dicts()[1] == {
        "op": "model/layer_0/mlp/gelu/Gelu",
        "kernel": "_FusedGelu",
        "on_most_hosts": "Gelu",
    }


def test_a_kernel_that_all_hosts_have_in_common_is_not_reported(tmp_path):
    scope = "model/layer_0/mlp/gelu"
    faults = [Fault("kernel", host, 1.0, scope) for host in range(5)]

    assert list(unlike_hosts.check(fleet(tmp_path, *faults))) == []


def holding(*sizes):
    """Hosts that allocate this much memory."""
    return profile(
        *(
            run("a", recording=f"h{host}", allocators=[allocator("gpu", [(1000, size)])])
            for host, size in enumerate(sizes)
        )
    )


def test_the_fullest_host_is_reported_if_it_is_far_above_the_median_host():
    (found,) = fullest_host.check(
        holding(500 * MEGABYTES, 500 * MEGABYTES, 900 * MEGABYTES, 510 * MEGABYTES)
    )

    assert found.sentence == (
        "h2 has a memory peak of 900.00MB, the median host 500.00MB: it runs out of memory first."
    )
    assert found.gain.amount == 400 * MEGABYTES
    assert found.command == ("memory", "-recording", "h2")


def test_similar_or_small_peaks_are_not_reported():
    similar = holding(500 * MEGABYTES, 500 * MEGABYTES, 590 * MEGABYTES)
    small = holding(1 * MEGABYTES, 1 * MEGABYTES, 50 * MEGABYTES)

    assert list(fullest_host.check(similar)) == []
    assert list(fullest_host.check(small)) == []


def test_a_clean_fleet_has_no_findings_on_hosts(tmp_path):
    found = advise(fleet(tmp_path, has_gpu=True), NAMES)

    assert [one.findings for one in found.reports] == [()] * 4
    assert found.notes == ()


def test_checkers_of_hosts_say_nothing_about_one_recording():
    found = advise(profile(op("a", shape=(3,))), NAMES)
    traced = advise(profile(run("a")), NAMES)

    assert [one.findings for one in (*found.reports, *traced.reports)] == [()] * 8
    assert found.notes == traced.notes == ()
