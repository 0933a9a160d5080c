"""Runs that overlap in time get different lanes, compiled or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.plain_source import plain
from tfprof.columns import ints
from tfprof.kernels import lanes

PLAIN = plain(lanes)
KERNELS = [pytest.param(lanes, id="as installed"), pytest.param(PLAIN, id="plain")]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)

RUNS = st.lists(st.tuples(st.integers(-3, 30), st.integers(-2, 9)), max_size=40)


def first_fit(runs, opened):
    """The expected lanes, found by trying one after the other."""
    ends, lanes = [opened], []
    for start, length in runs:
        lane = next((lane for lane, end in enumerate(ends) if start > end), len(ends))
        ends[lane:] = [start + length, *ends[lane + 1 :]]
        lanes.append(lane)
    return lanes


@each_kernel
@given(st.lists(RUNS, max_size=4), st.integers(-4, 4))
def test_a_run_gets_the_first_free_lane_of_its_device(kernel, devices, opened):
    runs = [run for device in devices for run in device]
    groups = [sum(map(len, devices[:place])) for place in range(len(devices) + 1)]
    starts = ints([start for start, _ in runs])
    ends = ints([start + length for start, length in runs])

    found = kernel.first_free(starts, ends, ints(groups), opened=opened).tolist()

    assert found == [lane for device in devices for lane in first_fit(device, opened)]


@each_kernel
def test_a_run_that_starts_when_another_ends_gets_another_lane(kernel):
    found = kernel.first_free(ints([5, 9, 10]), ints([9, 12, 11]), ints([0, 3]))

    assert found.tolist() == [0, 1, 0]
