"""Hosts side by side: parts of steps, slow hosts, and waiting in collectives."""

import pytest

from build import GPU_STREAM, op, profile, run
from fleets import Fault, Job, loaded, loaded_servers
from tfprof.api import Profile

JOB = Job(hosts=5, steps=10, layers=2)
PARTS = ("compute_ns", "communication_ns", "input_wait_ns", "transfers_ns", "idle_ns")


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return loaded(tmp_path_factory.mktemp("clean"), JOB)


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Host 3 is slow in one layer from its fifth step on."""
    fault = Fault("straggler", 3, 2.0, "model/layer_1", since=4)
    return loaded(tmp_path_factory.mktemp("slow"), JOB.but(faults=(fault,)))


def synchronised(*own, steps=3):
    """Hosts that compute for some time in each step and then wait for each other."""
    facts = [op("sum", kind="CollectiveReduceV2")]
    for step in range(steps):
        begin = 1000 * (step + 1)
        for host, micros in enumerate(own):
            label = f"h{host}"
            facts += [
                run("a", micros, step=step, start=begin, recording=label),
                run("sum", 110 - micros, step=step, start=begin + micros, recording=label),
            ]
    return Profile(profile(*facts))


def test_every_recording_has_a_row_the_slowest_first(slow):
    found = slow.ranks()

    assert {one.recording for one in found} == {f"host-{host}" for host in range(5)}
    assert [one.own_ns for one in found] == sorted((one.own_ns for one in found), reverse=True)
    assert next(iter(found)).recording == "host-3"
    assert {one.steps for one in found} == {10}


def test_the_parts_of_a_row_add_up_to_its_average_step(clean, slow):
    for found in (clean.ranks(), slow.ranks(), slow.ranks(step=105)):
        for one in found:
            assert sum(getattr(one, part) for part in PARTS) == one.mean_ns
            assert min(getattr(one, part) for part in PARTS) >= 0


def test_the_own_time_of_a_host_has_no_communication():
    found = synchronised(100, 60, 60, 70).ranks()

    assert {one.recording: one.own_ns for one in found} == {
        "h0": 100_000,
        "h1": 60_000,
        "h2": 60_000,
        "h3": 70_000,
    }
    assert {one.mean_ns for one in found} == {110_000}
    assert found["h0"].deviation == pytest.approx(35 / 65)


def test_waiting_is_the_part_of_communication_until_the_last_host_arrives():
    found = synchronised(100, 60, 60, 70).ranks()

    assert (found["h0"].communication_ns, found["h0"].waiting_ns) == (10_000, 0)
    assert (found["h1"].communication_ns, found["h1"].waiting_ns) == (50_000, 40_000)
    (collective,) = found.times.collectives
    assert (collective.op, collective.hosts, collective.runs) == ("sum", 4, 3)
    assert (collective.transfer_ns, collective.waiting_ns) == (10_000, 27_500)
    assert (collective.longest_ns, collective.last, collective.last_share) == (40_000, "h0", 1)


def test_communication_during_other_ops_is_not_exposed():
    facts = [op("sum", kind="CollectiveReduceV2"), run("a", 100), run("sum", 60, start=1080)]
    (one,) = Profile(profile(*facts)).ranks()

    assert one.compute_ns == 100_000
    assert one.communication_ns == 40_000
    assert one.all_communication_ns == 60_000


def test_ops_that_fetch_input_count_as_waiting_for_input():
    facts = [op("next", kind="QueueDequeueV2"), run("next", 30), run("a", 50, start=1030)]
    (one,) = Profile(profile(*facts)).ranks()

    assert (one.input_wait_ns, one.compute_ns) == (30_000, 50_000)


def test_a_clean_fleet_gives_no_claim(clean):
    found = clean.ranks()

    assert found.slow == ()
    assert found.times.inconclusive == ()
    assert "None of 5 recordings is clearly slower than the others." in found.report


def test_a_slow_host_is_named_with_when_and_where_it_loses_time(slow):
    (one,) = slow.ranks().slow

    assert (one.recording, one.when) == ("host-3", "from step 104 on")
    assert one.steps == tuple(range(104, 110))
    assert {(loss.part, loss.scope) for loss in one.losses} == {
        ("compute", "model/layer_1"),
        ("compute", "gradient_tape/model/layer_1"),
    }
    assert one.excess == pytest.approx(0.49, abs=0.06)
    assert sum(loss.nanos for loss in one.losses) == pytest.approx(one.excess_ns, rel=0.1)
    assert one.awaited > 0.8
    assert not one.waits_for_input


def test_a_host_that_waits_for_input_loses_its_time_there(tmp_path):
    found = loaded(tmp_path, JOB.but(faults=(Fault("input", 2, 0.4),))).ranks()

    (one,) = found.slow
    assert (one.recording, one.when) == ("host-2", "in all steps")
    assert [loss.part for loss in one.losses] == ["input_wait"]
    assert one.waits_for_input
    assert "lost in waiting for input (" in found.report


def test_a_host_that_is_slow_everywhere_loses_its_time_in_no_particular_scope(tmp_path):
    found = loaded(tmp_path, JOB.but(faults=(Fault("hardware", 2, 1.5),))).ranks()

    assert [(loss.part, loss.scope) for loss in found.slow[0].losses] == [("compute", "")]


def test_clocks_that_differ_and_drift_change_nothing(tmp_path):
    job = JOB.but(clock_seconds=3600.0, drift=1e-4)
    usual = loaded(tmp_path / "a", JOB).ranks()
    found = loaded(tmp_path / "b", job).ranks()

    assert found.times.inconclusive == ()
    for one in usual:
        assert found[one.recording].waiting_ns == pytest.approx(one.waiting_ns, abs=1e5)


def test_ends_that_do_not_agree_are_inconclusive():
    facts = [op("sum", kind="CollectiveReduceV2")]
    for step in range(6):
        for host in range(4):
            start = 10_000 * step + 1000 * ((7 * step + 3 * host) % 5)
            facts.append(run("sum", 500, step=step, start=1 + start, recording=f"h{host}"))
    found = Profile(profile(*facts)).ranks()

    assert found.times.collectives == ()
    assert "the ends of a collective differ by" in found.times.inconclusive[0]
    assert {one.waiting_ns for one in found} == {None}


def test_unequal_numbers_of_collectives_are_reported():
    facts = [
        run("sum", 10, step=step, start=1000 * (step + 1), recording=f"h{host}")
        for host in range(3)
        for step in range(4 - host)
    ]
    found = Profile(profile(op("sum", kind="CollectiveReduceV2"), *facts)).ranks()

    assert "unequal numbers of collectives (from 2 in h2 to 3)" in found.report


@pytest.mark.parametrize(
    ("own", "steps", "reason"),
    [
        ((100,), 3, "there is only one recording"),
        ((100, 60), 3, "of two recordings neither is the usual one"),
        ((100, 60, 60), 2, "2 steps may be slow by chance"),
    ],
)
def test_too_little_to_compare_is_inconclusive(own, steps, reason):
    found = synchronised(*own, steps=steps).ranks()

    assert found.slow == ()
    assert f"Inconclusive: slow hosts: {reason}" in found.report
    assert "clearly slower" not in found.report


def test_recordings_and_ranks_can_be_chosen(slow):
    assert {one.recording for one in slow.ranks(recording="host-[12]")} == {"host-1", "host-2"}
    p = profile(run("a", recording="worker:1"), run("a", recording="worker:2"))
    assert [one.rank for one in Profile(p).ranks(rank=2)] == [2]


def test_only_so_many_rows_are_shown_slow_hosts_first(slow):
    found = slow.ranks(max_rows=1)

    assert [one.recording for one in found.times.shown] == ["host-3"]
    assert len(found) == 5
    assert "… 4 more; -max_rows -1 shows all" in found.report


def test_the_memory_peak_is_the_highest_level_of_an_allocator(tmp_path):
    job = JOB.but(has_gpu=True, faults=(Fault("memory", 1, 2.0),))
    found = loaded(tmp_path, job).ranks()

    assert found["host-1"].peak_bytes == 2 * found["host-0"].peak_bytes
    assert "memory peak" in found.report


def test_collectives_on_an_accelerator_count_there(tmp_path):
    job = JOB.but(has_gpu=True, faults=(Fault("straggler", 1, 3.0, "model/layer_0"),))
    found = loaded(tmp_path, job).ranks()

    assert [one.recording for one in found.slow] == ["host-1"]
    assert len(found.times.collectives) == 2
    assert found["host-0"].waiting_ns > 5 * found["host-1"].waiting_ns


def test_parameter_servers_have_their_variables_and_their_time(tmp_path):
    found = loaded_servers(tmp_path, skew=0.5).ranks()
    servers = found.times.servers

    assert [one.task for one in servers] == [f"/job:ps/replica:0/task:{n}" for n in range(3)]
    assert sum(one.variables for one in servers) == 40
    assert servers[0].params > 2 * servers[1].params
    assert servers[0].nanos > 2 * servers[1].nanos
    assert "parameter server" in found.report


def test_what_hosts_with_accelerators_compute_is_what_those_compute():
    p = profile(run("a", 10), run("a", 30, start=1010, device=GPU_STREAM))
    (one,) = Profile(p).ranks()

    assert (one.compute_ns, one.idle_ns) == (30_000, 10_000)
