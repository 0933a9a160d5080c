"""What contains an interval is found by checking, compiled or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.plain_source import plain
from tfprof.columns import ints
from tfprof.kernels import nesting

KERNELS = [pytest.param(nesting, id="as installed"), pytest.param(plain(nesting), id="plain")]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)

INTERVALS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 20), st.integers(-1, 1)),
    max_size=40,
)


def in_order(intervals):
    """The intervals as columns, sorted as the kernel requires."""
    rows = sorted((lane, start, -(start + length), kind) for lane, start, length, kind in intervals)
    columns = [ints([row[place] for row in rows]) for place in range(4)]
    return columns[0], columns[1], -columns[2], columns[3]


def containers_by_trial(lane, start, end, kind, kinds):
    """For each kind the last earlier row that contains each row."""
    found = np.full((kinds, len(lane)), -1)
    for row in range(len(lane)):
        for other in range(row):
            is_around = lane[other] == lane[row] and start[other] <= start[row]
            if kind[other] >= 0 and is_around and end[other] >= end[row]:
                found[kind[other], row] = other
    return found


@each_kernel
@given(INTERVALS)
def test_the_latest_interval_that_contains_another_is_found(kernel, intervals):
    columns = in_order(intervals)

    found = kernel.containers(*columns, 2)

    assert found.tolist() == containers_by_trial(*columns, 2).tolist()


@each_kernel
def test_an_interval_that_only_overlaps_contains_nothing(kernel):
    # A step that begins in one call and ends in another: the calls cross it.
    columns = in_order([(0, 0, 100, 0), (0, 10, 20, 0), (0, 15, 60, 1), (0, 25, 3, -1)])

    in_call, in_step = kernel.containers(*columns, 2).tolist()

    assert in_call == [-1, 0, 0, 1]
    assert in_step == [-1, -1, -1, 2]


@each_kernel
def test_many_crossing_intervals_take_linear_time(kernel):
    count = 3000
    rows = [(0, place, count, 0) for place in range(count)]

    found = kernel.containers(*in_order(rows), 1)

    assert (found == -1).all()


PARENTS = st.lists(st.tuples(st.integers(-1, 50), st.integers(-1, 3)), max_size=50)


def tree(rows):
    """Rows whose containers precede them, and a value for each."""
    containers = [min(container, place - 1) for place, (container, _) in enumerate(rows)]
    return ints(containers), ints([value for _, value in rows])


@each_kernel
@given(PARENTS)
def test_a_row_without_a_value_inherits_that_of_its_container(kernel, rows):
    container, own = tree(rows)

    found = kernel.inherited(container, own).tolist()

    expected = []
    for place, value in enumerate(own.tolist()):
        above = int(container[place])
        expected.append(value if value >= 0 else expected[above] if above >= 0 else -1)
    assert found == expected


@each_kernel
@given(PARENTS)
def test_equal_chains_have_the_same_number(kernel, rows):
    container, label = tree(rows)

    found = kernel.chains(container, label)

    texts = []
    for place, value in enumerate(label.tolist()):
        above = texts[int(container[place])] if container[place] >= 0 else ()
        texts.append((*above, value) if value >= 0 else above)
    numbers = dict(zip(texts, found.of_row.tolist(), strict=True))
    assert [numbers[text] for text in texts] == found.of_row.tolist()
    assert len(set(numbers.values())) == len(numbers)
    for text, number in numbers.items():
        assert (number == -1) == (text == ())
        if text:
            assert found.label[number] == text[-1]
            assert found.above[number] == numbers[text[:-1]] if text[:-1] in numbers else True
