"""Points in time are thinned out, and the largest amounts held at them are found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.plain_source import plain
from tfprof.columns import ints
from tfprof.kernels import timelines

PLAIN = plain(timelines)
KERNELS = [pytest.param(timelines, id="as installed"), pytest.param(PLAIN, id="plain")]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)

TIMES = st.integers(0, 12)


@each_kernel
def test_points_too_close_to_the_last_one_kept_are_dropped(kernel):
    assert kernel.spaced(ints([50, 100, 199, 200, 350]), 100).tolist() == [1, 3, 4]


def held_then(held, time, whole, most):
    """The rows chosen at one time, found by trying all of them."""
    found = []
    for row, (amount, begin, end) in enumerate(held):
        if begin < time <= end and amount <= whole and len(found) < most:
            found.append(row)
            whole -= amount
    return found


@each_kernel
@given(
    st.lists(st.tuples(st.integers(1, 9), TIMES, TIMES), max_size=9),
    st.lists(st.tuples(TIMES, st.integers(-1, 30)), max_size=4).map(sorted),
    st.integers(1, 3),
)
def test_the_largest_amounts_that_fit_are_taken(kernel, held, points, most):
    held = sorted(((size, *sorted(times)) for size, *times in held), key=lambda entry: -entry[0])
    columns = np.array(held, np.int64).reshape(-1, 3).T.copy()
    amounts, begins, ends = columns
    times, wholes = ints([time for time, _ in points]), ints([whole for _, whole in points])

    offsets, rows = kernel.largest(times, amounts, begins, ends, wholes, most=most)

    found = [rows[offsets[i] : offsets[i + 1]].tolist() for i in range(len(points))]
    wanted = [held_then(held, time, whole, most) for time, whole in points]
    assert found == wanted
