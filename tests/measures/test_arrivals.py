"""Waiting and transfer in collectives, with clocks that differ."""

import numpy as np
import pytest

from build import op, profile, run
from tfprof.measures.arrivals import meetings, waits
from tfprof.measures.collectives import collectives

HOUR_NS = 3_600_000_000_000
REDUCE = op("sum", kind="CollectiveReduceV2")


def met(*facts, steps=None):
    """The meetings of a profile of these runs."""
    p = profile(REDUCE, *facts, counts_whole_micros=False)
    return meetings(p, collectives(p), np.arange(len(p.steps)) if steps is None else steps)


def arrivals(*early, clocks=(0, 0, 0), transfer=10):
    """Runs of one collective in as many steps as `early` has rows; each has one number per host."""
    facts = []
    for step, row in enumerate(early):
        end = 10_000 * (step + 1)
        for host, (waited, clock) in enumerate(zip(row, clocks, strict=True)):
            micros = waited + transfer
            facts.append(
                run("sum", micros, step=step, start=end - micros + clock, recording=f"h{host}")
            )
    return met(*facts)


def test_the_time_until_the_last_arrival_is_waiting_and_the_rest_transfer():
    found = waits(arrivals([0, 5, 20], [30, 0, 1]))

    assert found.wait_ns.tolist() == [[0, 30_000], [5_000, 0], [20_000, 1_000]]
    assert found.transfer_ns.tolist() == [[10_000] * 2] * 3
    assert found.last.tolist() == [0, 1]


def test_clocks_that_differ_by_hours_change_nothing():
    clocks = (0, HOUR_NS // 1000, 250)
    found = waits(arrivals([0, 5, 20], [30, 0, 1], [2, 3, 0], clocks=clocks))

    assert found.offset_ns.tolist() == [0, HOUR_NS, 250_000]
    assert found.wait_ns[:, 1].tolist() == [30_000, 0, 1_000]
    assert found.residual_ns == 0


def test_a_clock_that_runs_faster_is_corrected():
    rng = np.random.default_rng(1)
    early = rng.integers(0, 50, (30, 3))
    early -= early.min(axis=1, keepdims=True)
    facts = [
        run("sum", 10 + waited, step=step, start=at, recording=f"h{host}")
        for step, row in enumerate(early.tolist())
        for host, waited in enumerate(row)
        for at in [(10_000 * (step + 1) - 10 - waited) * (1.0001 if host == 1 else 1)]
    ]
    found = waits(met(*facts))

    assert found.residual_ns < 100
    assert found.wait_ns == pytest.approx(1000 * early.T, abs=1000)


def test_ends_that_do_not_agree_leave_a_residual():
    rng = np.random.default_rng(1)
    facts = [
        run("sum", 10, step=step, start=10_000 * (step + 1) + rng.uniform(0, 5_000), recording=host)
        for step in range(20)
        for host in ("a", "b", "c")
    ]

    assert waits(met(*facts)).residual_ns > 1e6


def test_runs_meet_by_op_step_number_and_order():
    facts = [
        run("sum", start=start, step=step, recording=host)
        for host, steps in (("a", (3, 4)), ("b", (4, 5)))
        for step in steps
        for start in (1000 * step, 1000 * step + 10)
    ]
    found = met(*facts)

    assert found.number.tolist() == [4, 4]
    assert found.took_part.all()
    assert found.alone == 4


def test_only_the_chosen_steps_count():
    facts = [
        run("sum", start=1000 * step, step=step, recording=host) for host in "ab" for step in (1, 2)
    ]

    assert met(*facts, steps=np.array([0, 2])).number.tolist() == [1]


def test_a_host_that_takes_part_in_few_meetings_is_aligned_on_these():
    facts = [
        run("sum", 10, step=step, start=1000 * step + 5_000_000 * (host == "c"), recording=host)
        for host, steps in (("a", (1, 2)), ("b", (1, 2, 3)), ("c", (3,)))
        for step in steps
    ]
    found = waits(met(*facts))

    assert found.wait_ns.max() == 0
    assert found.offset_ns.tolist() == [0, 0, 5_000_000_000]


def test_without_collectives_there_is_nothing_to_wait_for():
    found = met(run("a"), run("a", recording="other"))

    assert len(found) == 0
    assert waits(found).wait_ns.size == 0


def test_hosts_that_never_meet_the_others_keep_their_meetings():
    pairs = [("h0", "h1")] * 3 + [("h2", "h3")] * 2
    found = met(
        *(
            run(
                "sum",
                10 + 5 * (host == "h3"),
                step=step,
                start=1000 - 5 * (host == "h3"),
                recording=host,
            )
            for step, pair in enumerate(pairs)
            for host in pair
        )
    )

    divided = waits(found)

    assert found.took_part.sum(axis=1).tolist() == [3, 3, 2, 2]
    assert divided.wait_ns[2:, 3:].tolist() == [[0, 0], [5_000, 5_000]]
