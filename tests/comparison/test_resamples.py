"""The bootstrap interval of a difference of medians."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.comparison.resamples import intervals

CONFIDENCE = 0.95


def interval(before, after, *, is_sequence=False):
    sides = (np.array([side], float) for side in (before, after))
    low, high = intervals(*sides, CONFIDENCE, is_sequence=is_sequence)
    return float(low[0]), float(high[0])


def every_median(times):
    """The median of each possible resample."""
    return [float(np.median(drawn)) for drawn in product(times, repeat=len(times))]


@pytest.mark.parametrize(
    ("before", "after"),
    [([5.0, 1.0, 3.5], [9.0, 2.0, 4.0, 11.0, 6.5]), ([3.0, 3.0, 8.0], [1.0, 2.5, 2.5])],
)
def test_the_interval_is_that_of_all_resamples(before, after):
    differences = np.subtract.outer(every_median(after), every_median(before)).ravel()
    differences.sort()
    tail = int((1 - CONFIDENCE) / 2 * len(differences))

    assert interval(before, after) == (differences[tail], differences[-1 - tail])


@pytest.mark.parametrize("steps", [(9, 15), (31, 21)])
def test_the_interval_is_that_of_random_resamples(steps):
    random = np.random.default_rng(3)
    sides = [random.lognormal(3, 0.3, count) for count in steps]
    drawn = [np.median(random.choice(side, (40_000, len(side))), axis=1) for side in sides]
    low, high = np.quantile(drawn[1] - drawn[0], [0.025, 0.975])

    assert interval(*sides) == pytest.approx((low, high), abs=0.02 * (high - low))


def test_an_even_number_of_steps_gives_a_slightly_wider_interval():
    random = np.random.default_rng(3)
    sides = random.lognormal(3, 0.3, (2, 20))
    drawn = [np.median(random.choice(side, (40_000, 20)), axis=1) for side in sides]
    low, high = np.quantile(drawn[1] - drawn[0], [0.025, 0.975])
    found = interval(*sides)

    assert 1 <= (found[1] - found[0]) / (high - low) < 1.15


_times = st.lists(st.integers(0, 10**12).map(float), min_size=1, max_size=12)


@given(_times, _times, st.booleans())
def test_the_interval_is_never_wider_than_what_was_measured(before, after, is_sequence):
    low, high = interval(before, after, is_sequence=is_sequence)

    assert min(after) - max(before) <= low <= high <= max(after) - min(before)


def test_rows_do_not_depend_on_each_other():
    random = np.random.default_rng(5)
    before, after = random.lognormal(3, 0.3, (2, 50, 11))
    low, high = intervals(before, after, CONFIDENCE, is_sequence=True)

    for row in range(50):
        assert interval(before[row], after[row], is_sequence=True) == (low[row], high[row])


def test_steps_that_resemble_their_neighbours_tell_less():
    mixed = [1.0, 8.0, 3.0, 6.0, 2.0, 7.0, 4.0, 5.0, 1.5]
    low, high = interval(mixed, mixed, is_sequence=True)
    drifting_low, drifting_high = interval(sorted(mixed), sorted(mixed), is_sequence=True)

    assert drifting_low < low < high < drifting_high


def test_the_interval_covers_the_truth_in_nine_of_ten_comparisons_of_eight_steps():
    random = np.random.default_rng(1)
    before, after = random.lognormal(0, 0.3, (2, 1_000, 8))
    low, high = intervals(before, after, CONFIDENCE, is_sequence=True)

    assert ((low <= 0) & (high >= 0)).mean() > 0.9
