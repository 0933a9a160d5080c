"""Ranks on accelerators: who is slow and why, who waits for whom, and what collectives send."""

import numpy as np
import pytest

import tfprof
from device_fleets import STEPS, traces
from kineto_programs import annotation, kernel, launch, loaded, op
from tfprof.measures.collectives import collectives
from tfprof.measures.messages import message_times


def fleet(tmp_path, **facts):
    return tfprof.load(*traces(tmp_path, **facts))


def slow(profile):
    return [(one.recording, one.cause) for one in profile.ranks().slow]


@pytest.mark.parametrize("waits", [True, False])
def test_a_slow_accelerator_is_found_also_if_the_host_waits_for_it(tmp_path, waits):
    table = fleet(tmp_path, compute={2: 400}, waits=waits).ranks()

    assert [(one.recording, one.cause) for one in table.slow] == [("rank2", "device")]
    ranks = {one.rank: one for one in table}
    assert (ranks[2].compute_ns, ranks[0].compute_ns) == (400_000, 200_000)
    assert (ranks[2].waiting_ns, ranks[0].waiting_ns) == (0, 200_000)
    (collective,) = table.times.collectives
    assert (collective.last, collective.last_share) == ("rank2", 1.0)
    assert collective.transfer_ns == 50_000


def test_a_host_that_launches_late_is_the_cause_and_not_its_accelerator(tmp_path):
    assert slow(fleet(tmp_path, late={1: 150})) == [("rank1", "host")]


def test_equal_ranks_are_not_slow_whatever_their_clocks(tmp_path):
    table = fleet(tmp_path, waits=False).ranks()

    assert table.slow == ()
    assert {one.waiting_ns for one in table} == {0}


def test_groups_that_transfer_the_same_for_longer_have_a_slow_link(tmp_path):
    groups = [(0, 1), (2, 3)]
    table = fleet(tmp_path, groups=groups, transfer={(2, 3): 150}).ranks()

    assert [(one.recording, one.cause) for one in table.slow] == [
        ("rank2", "link"),
        ("rank3", "link"),
    ]
    assert table.slow[0].excess == pytest.approx(2.0)
    assert table.slow[0].excess_ns == 100_000
    assert "longer to transfer the same than those of other groups" in table.report


def test_only_ranks_of_the_same_group_wait_for_each_other(tmp_path):
    profile = fleet(tmp_path, groups=[(0, 1), (2, 3)], compute={3: 260})
    waiting = {one.rank: one.waiting_ns for one in profile.ranks()}

    assert waiting == {0: 0, 1: 0, 2: 60_000, 3: 0}


def test_waiting_is_a_part_of_exposed_communication_in_steps_too(tmp_path):
    steps = fleet(tmp_path, compute={3: 300}).step_times(step=2).times.steps
    own = {step.recording: step.accelerators[0].own for step in steps}

    assert own["rank0"].exposed_communication_ns == 150_000
    assert own["rank0"].waiting_ns == 100_000
    assert own["rank3"].waiting_ns == 0


def test_calls_that_start_a_collective_are_not_the_collective(tmp_path):
    found = collectives(fleet(tmp_path).columns)

    assert len(found) == 4 * STEPS
    assert np.unique(found.end_ns - found.start_ns).tolist() == [50_000]


def test_the_bandwidth_of_the_bus_follows_from_the_size_of_the_message(tmp_path):
    profile = fleet(tmp_path)
    (one,) = message_times(profile.columns, np.arange(len(profile.columns.steps)))

    assert (one.kind, one.group, one.runs, one.bytes) == ("allreduce", "[0, 1, 2, 3]", 24, 4000)
    # Each byte crosses the bus of each of four ranks 2 * 3 / 4 times, in 50 microseconds.
    assert one.bus_bytes == pytest.approx(4000 * 1.5 / 50e-6)


def test_messages_are_kept_in_a_saved_profile(tmp_path):
    profile = fleet(tmp_path)
    path = tmp_path / "saved.tfprof"
    profile.save(path)
    saved, known = tfprof.load(path).columns.messages, profile.columns.messages

    assert len(saved) == len(known) == 24
    assert saved.bytes.tolist() == known.bytes.tolist()
    assert [*saved.group.values] == [*known.group.values]


def test_advice_names_the_exposed_communication_and_who_is_waited_for(tmp_path):
    (finding,) = fleet(tmp_path, compute={3: 500}).advise()["CommunicationChecker"]

    assert "while nothing computes" in finding.sentence
    assert "look for what delays it" in finding.sentence
    assert 0 < finding.gain.share < 1


def test_the_utilization_is_the_union_of_the_streams(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 100),
        op("aten::mm", 1, 5),
        launch(1, 2),
        launch(2, 3),
        kernel("gemm", 1, 10, 60),
        kernel("gemm", 2, 10, 80, stream=8),
    )
    (finding,) = profile.advise()["AcceleratorUtilizationChecker"]

    assert finding.sentence == "cuda:0 was busy for 80% of 1 step."
