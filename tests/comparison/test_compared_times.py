"""Medians over steps, and the interval for their change."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tfprof.comparison.times import compare_medians

_times = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 9)),
    elements=st.integers(0, 10**12).map(float),
)


def resampled(times, draws=40_000):
    """The variance of the median in random resamples."""
    random = np.random.default_rng(7)
    places = random.integers(0, len(times), (draws, len(times)))
    return np.median(np.array(times)[places], axis=1).var()


@given(_times, st.integers(1, 9))
def test_times_are_summarized_by_their_medians(before, steps):
    after = np.repeat(before[:, :1], steps, axis=1)
    found = compare_medians(before, after)

    assert found.before.tolist() == [statistics.median(row) for row in before.tolist()]
    assert found.after.tolist() == before[:, 0].tolist()
    assert (found.low <= found.change).all()
    assert (found.high >= found.change).all()


@given(_times)
def test_the_comparison_of_times_with_themselves_shows_nothing(times):
    found = compare_medians(times, times)

    assert not found.is_shown.any()
    assert not found.change.any()


@given(_times, _times)
def test_comparing_in_the_other_direction_gives_the_mirror_image(one, other):
    rows = min(len(one), len(other))
    there, back = (
        compare_medians(one[:rows], other[:rows]),
        compare_medians(other[:rows], one[:rows]),
    )

    assert there.low.tolist() == (-back.high).tolist()
    assert there.is_shown.tolist() == back.is_shown.tolist()


@pytest.mark.parametrize("steps", [5, 13, 31])
def test_the_interval_is_that_of_the_bootstrap(steps):
    times = np.random.default_rng(3).lognormal(3, 0.3, (1, steps))
    found = compare_medians(times, np.zeros((1, steps)))
    student = {5: 2.776, 13: 2.179, 31: 2.042}[steps]

    margin = float(found.high[0] - found.low[0]) / 2
    assert margin == pytest.approx(student * resampled(times[0].tolist()) ** 0.5, rel=0.03)


def test_one_step_allows_no_conclusion():
    found = compare_medians(np.array([[1.0]]), np.array([[9.0, 9.0, 9.0]]))

    assert not found.is_conclusive
    assert not found.is_shown.any()
    assert np.isinf(found.high[0])


def test_equal_medians_are_rarely_said_to_differ():
    random = np.random.default_rng(1)
    before, after = random.normal(100, 10, (2, 2_000, 10))

    assert compare_medians(before, after).is_shown.mean() < 0.05


def test_a_clear_difference_is_shown():
    random = np.random.default_rng(1)
    before, after = random.normal(100, 3, (500, 10)), random.normal(110, 3, (500, 10))

    assert compare_medians(before, after).is_shown.mean() > 0.95


def test_a_difference_of_one_percent_is_not_worth_a_remark():
    steps = np.arange(30) % 3 / 100
    found = compare_medians((100 + steps)[None], (101 + steps)[None])

    assert found.low[0] > 0
    assert not found.is_shown[0]
