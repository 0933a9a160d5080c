"""Medians over steps, and whether they differ."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tfprof.comparison.times import Steps, compare_medians

_times = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(5, 9)),
    elements=st.integers(0, 10**12).map(float),
)


def compared(before, after):
    """The comparison of two recordings, each with a row per part and a column per step."""
    return compare_medians(Steps.of_one_run(before), Steps.of_one_run(after))


def runs(*recordings):
    """The steps of several recordings of a single part."""
    run = np.repeat(np.arange(len(recordings)), [len(times) for times in recordings])
    return Steps(np.concatenate(recordings)[None].astype(float), run)


@given(_times, st.integers(5, 9))
def test_times_are_summarized_by_their_medians(before, steps):
    after = np.repeat(before[:, :1], steps, axis=1)
    found = compared(before, after)

    assert found.before.tolist() == [statistics.median(row) for row in before.tolist()]
    assert found.after.tolist() == before[:, 0].tolist()
    assert (found.low <= found.change).all()
    assert (found.high >= found.change).all()


@given(_times)
def test_the_comparison_of_times_with_themselves_shows_nothing(times):
    found = compared(times, times)

    assert not found.is_shown.any()
    assert not found.change.any()


@given(_times, _times)
def test_comparing_in_the_other_direction_gives_the_mirror_image(one, other):
    rows = min(len(one), len(other))
    there, back = (
        compared(one[:rows], other[:rows]),
        compared(other[:rows], one[:rows]),
    )

    assert there.low.tolist() == (-back.high).tolist()
    assert there.chance.tolist() == back.chance.tolist()
    assert there.is_shown.tolist() == back.is_shown.tolist()


def test_too_few_steps_allow_no_conclusion():
    found = compared(np.array([[1.0, 1, 1]]), np.array([[9.0] * 9]))

    assert not found.is_conclusive
    assert not found.is_shown.any()
    assert np.isinf(found.high[0])


def test_six_steps_that_are_all_slower_than_six_others_are_a_difference():
    found = compared(np.arange(100, 106.0)[None], np.arange(110, 116.0)[None])

    assert found.is_shown[0]
    assert found.chance[0] == pytest.approx(2 / 924)
    assert (found.low[0], found.high[0]) == (5, 15)


def test_equal_medians_are_said_to_differ_in_less_than_2_of_100_comparisons():
    random = np.random.default_rng(1)
    before, after = random.lognormal(0, 0.1, (2, 2_000, 10))

    assert compared(before, after).is_shown.mean() < 0.02


def test_a_difference_of_five_percent_is_shown_by_ten_steps():
    random = np.random.default_rng(1)
    before, after = random.normal(100, 1.5, (500, 10)), random.normal(105, 1.5, (500, 10))

    assert compared(before, after).is_shown.mean() > 0.95


def test_a_difference_of_one_percent_is_certain_but_not_shown():
    steps = np.arange(30) % 3 / 100
    found = compared((100 + steps)[None], (101 + steps)[None])

    assert found.is_certain[0]
    assert not found.is_shown[0]


def test_recordings_that_differ_as_much_among_themselves_show_no_difference():
    base = [np.full(20, millis) for millis in (100.0, 104.0, 108.0)]
    new = [np.full(20, millis) for millis in (109.0, 112.0, 116.0)]

    assert compare_medians(runs(*base), runs(*new)).chance[0] > 0.01
    assert compared(np.array([np.concatenate(base)]), np.array([np.concatenate(new)])).is_shown[0]


def test_recordings_that_agree_show_a_difference():
    base = [100 + place / 10 + np.arange(10) % 3 for place in range(3)]
    new = [105 + place / 10 + np.arange(10) % 3 for place in range(3)]
    found = compare_medians(runs(*base), runs(*new))

    assert found.is_shown[0]
    assert found.change[0] == pytest.approx(5)
    assert (found.low[0], found.high[0]) == pytest.approx((4.8, 5.2))


def test_repetitions_of_one_side_count_too():
    base, new = np.arange(20) % 3 + 100.0, np.arange(20) % 3 + 110.0
    steady, unsteady = ([new + way * place for place in range(4)] for way in (0.1, 10))

    assert compare_medians(runs(base), runs(*steady)).is_shown[0]
    assert not compare_medians(runs(base), runs(*unsteady)).is_shown[0]


def test_only_rows_of_a_family_are_found_and_they_must_be_less_likely_together():
    before = np.repeat(np.arange(100, 105.0)[None], 12, axis=0)
    after = before.copy()
    after[3] += 10
    found = compared(before, after)
    every, one = np.ones(12, np.bool_), np.arange(12) == 3

    assert found.is_shown.tolist() == one.tolist()
    assert found.among(one).is_shown[3]
    assert not found.among(~one).is_shown.any()
    assert not found.among(every).is_shown.any()
