"""Slow hosts are found by comparing them with the median host."""

import numpy as np
import pytest

from tfprof.measures.stragglers import Straggler, deviations, find, relative_excess


def fleet(hosts=8, steps=20, noise=0.03, seed=0):
    """Times of hosts in steps of about 100 ms, which all get slower at step 5."""
    rng = np.random.default_rng(seed)
    own = 1e8 * rng.lognormal(0.0, noise, (hosts, steps))
    own[:, 5:] *= 1.5
    return own


def test_hosts_that_differ_by_chance_are_not_stragglers():
    assert [find(fleet(seed=seed)) for seed in range(20)] == [[]] * 20


def test_a_host_that_is_always_slow_is_a_straggler_in_all_steps():
    own = fleet()
    own[3] *= 1.3

    (found,) = find(own)

    assert (found.host, found.since, found.is_some) == (3, 0, False)
    assert found.steps == tuple(range(20))
    assert found.excess == pytest.approx(0.3, abs=0.05)


def test_a_host_that_becomes_slow_is_a_straggler_from_that_step_on():
    own = fleet()
    own[3, 8:] *= 1.3

    (found,) = find(own)

    assert (found.host, found.since, found.steps) == (3, 8, tuple(range(8, 20)))


def test_a_host_that_is_slow_now_and_then_is_a_straggler_in_these_steps():
    own = fleet()
    own[3, [2, 6, 9, 15]] *= 2

    (found,) = find(own)

    assert found.is_some
    assert (found.host, found.steps) == (3, (2, 6, 9, 15))


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_hosts_of_which_some_steps_take_longer_by_chance_are_not_stragglers(share):
    claimed = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 1])
        own = fleet(hosts=32, steps=int(rng.integers(5, 40)), seed=seed)
        own[rng.random(own.shape) < share] *= 2
        claimed += bool(find(own))

    assert claimed <= 2


def test_steps_that_are_slow_on_any_host_are_chance():
    own = fleet(hosts=6)
    for host in range(6):
        own[host, [host, host + 6, host + 12]] *= 2

    assert find(own) == []


def test_hosts_that_all_differ_are_not_slow_now_and_then():
    own = np.repeat([[0.9e8], [1e8], [1.1e8], [1.5e8]], 10, axis=1)

    assert find(own) == []


def test_a_fast_host_is_not_a_straggler():
    own = fleet()
    own[3] *= 0.5

    assert find(own) == []


def test_the_straggler_that_loses_most_comes_first():
    own = fleet()
    own[3] *= 1.3
    own[5] *= 2

    assert [one.host for one in find(own)] == [5, 3]


def test_steps_that_a_host_did_not_record_are_left_out():
    own = fleet()
    own[3] *= 1.3
    own[3, :4] = np.nan
    own[2, 1:] = np.nan

    (found,) = find(own)

    assert found.host == 3
    assert found.steps == tuple(range(4, 20))


def test_two_hosts_or_two_steps_are_too_few():
    own = fleet()
    own[0] *= 2

    assert find(own[:2]) == []
    assert find(own[:, :2]) == []


def test_the_deviation_of_a_host_is_relative_to_the_median_host():
    own = np.array([[100.0, 200.0], [110.0, 220.0], [150.0, 300.0]])

    assert deviations(relative_excess(own)) == pytest.approx([-1 / 11, 0, 4 / 11])


def test_equal_times_without_any_noise_are_no_claim():
    assert find(np.full((4, 4), 1e8)) == []
    assert find(np.zeros((4, 4))) == []


def test_a_straggler_among_hosts_without_noise_is_found():
    own = np.full((4, 4), 1e8)
    own[1] = 1.2e8

    assert find(own) == [Straggler(1, (0, 1, 2, 3), 0, is_some=False, excess=pytest.approx(0.2))]
