"""How likely differences are by chance: ranks of steps, medians of recordings, many rows."""

from itertools import combinations

import numpy as np
import pytest

from tfprof.comparison.chance import found_among, of_ranks, of_recordings


def chance_of_ranks(before, after):
    return float(of_ranks(np.array([before], float), np.array([after], float))[0])


def test_six_steps_that_are_all_slower_than_six_others_are_that_by_chance_in_2_of_924_orders():
    before, after = range(6), range(10, 16)

    assert chance_of_ranks(before, after) == pytest.approx(2 / 924)
    assert chance_of_ranks(after, before) == pytest.approx(2 / 924)
    assert chance_of_ranks([1] * 6, [2] * 6) == pytest.approx(2 / 924)


def test_three_steps_that_are_all_slower_than_three_others_may_be_chance():
    assert chance_of_ranks(range(3), range(10, 13)) == pytest.approx(0.1)


def test_the_chance_is_the_share_of_orders_that_are_as_uneven():
    before, after = [3, 9, 4, 12, 1], [8, 15, 5, 14, 16, 10, 11]
    values = before + after

    def wins(places):
        others = [values[place] for place in range(12) if place not in places]
        return sum(values[place] < other for place in places for other in others)

    uneven = abs(wins(range(5)) - 17.5)
    orders = [abs(wins(places) - 17.5) >= uneven for places in combinations(range(12), 5)]

    assert chance_of_ranks(before, after) == pytest.approx(sum(orders) / len(orders))


def test_equal_times_are_chance():
    assert chance_of_ranks([5] * 8, [5] * 8) == 1


def test_many_steps_are_compared_with_the_normal_distribution():
    random = np.random.default_rng(2)
    before, after = random.normal(0, 1, (2, 500, 50))

    assert (of_ranks(before, after) <= 0.05).mean() == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(
    ("recordings", "ratio", "chance"),
    [(2, 9.925, 0.01), (3, 4.604, 0.01), (3, 2.776, 0.05), (5, 3.355, 0.01)],
)
def test_the_chance_of_recordings_is_that_of_students_distribution(recordings, ratio, chance):
    side = np.linspace(-1, 1, recordings)
    error = side.std(ddof=1) * (2 / recordings) ** 0.5
    found = of_recordings(side[None], side[None] + ratio * error)

    assert found[0] == pytest.approx(chance, abs=5e-5)


def test_sides_may_have_different_numbers_of_recordings():
    before, after = np.array([[-1.0, 1.0]]), np.array([[-1.0, 0.0, 1.0]])
    error = (4 / 3 * (1 / 2 + 1 / 3)) ** 0.5

    assert of_recordings(before, after + 3.182 * error)[0] == pytest.approx(0.05, abs=5e-5)


def test_recordings_that_all_take_the_same_time_do_not_differ():
    same = np.ones((1, 3))

    assert of_recordings(same, same)[0] == 1
    assert of_recordings(same, same + 1)[0] == 0


def test_the_more_rows_there_are_the_less_likely_each_must_be():
    chances = np.array([0.004, 0.02, 0.5, 0.6, 0.7, 0.001])
    every = np.ones(6, np.bool_)

    assert found_among(chances, every, 0.05).tolist() == [True, True, False, False, False, True]
    assert found_among(chances, every, 0.01).tolist() == [False] * 5 + [True]
    assert not found_among(chances, ~every, 0.05).any()
    few = np.array([False, True, True, False, False, False])
    assert found_among(chances, few, 0.05).tolist() == [False, True, False, False, False, False]
