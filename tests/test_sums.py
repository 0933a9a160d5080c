"""Sums and products are exact, or the largest 64-bit number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof import sums
from tfprof.columns import ints
from tfprof.sums import LARGEST

NUMBERS = st.one_of(
    st.integers(-(2**63), LARGEST), st.integers(-9, 9), st.sampled_from([2**62, -(2**62), LARGEST])
)
COLUMNS = st.lists(NUMBERS, max_size=6)


def limited(number):
    return max(min(number, LARGEST), -LARGEST)


@given(COLUMNS)
def test_a_column_fits_only_if_all_its_magnitudes_add_up_to_64_bits(numbers):
    magnitudes = sum(map(abs, numbers))

    if sums.fits(ints(numbers)):
        assert magnitudes <= LARGEST
    else:
        assert magnitudes > LARGEST - 2**12  # compared as doubles


@given(COLUMNS)
def test_a_total_is_exact(numbers):
    assert sums.total(ints(numbers)) == sum(numbers)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=6))
def test_columns_are_added_and_multiplied_row_by_row(rows):
    first, second, third = (ints([row[place] for row in rows]) for place in range(3))

    added = sums.added(first, second, third)
    product = sums.product(first, second)

    assert [limited(number) for number in added.tolist()] == [limited(sum(row)) for row in rows]
    assert [limited(number) for number in product.tolist()] == [
        limited(left * right) for left, right, _ in rows
    ]


@given(st.lists(st.tuples(st.integers(0, 2), NUMBERS), max_size=6))
def test_groups_are_summed(rows):
    owner, column = (ints([row[place] for row in rows]) for place in range(2))

    found = sums.group_sums(owner, column, 4).tolist()

    assert [limited(number) for number in found] == [
        limited(sum(number for one, number in rows if one == group)) for group in range(4)
    ]


@pytest.mark.parametrize(("numbers", "largest"), [([], 0), ([3, -5], 5), ([-(2**63)], 2**63)])
def test_the_magnitude_of_a_column_is_its_largest_absolute_value(numbers, largest):
    assert sums.magnitude(np.array(numbers, np.int64)) == largest
