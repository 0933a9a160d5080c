"""Rows are selected and grouped, compiled or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.plain_source import plain
from tfprof.columns import Ragged, ints
from tfprof.kernels import rows

PLAIN = plain(rows)
KERNELS = [pytest.param(rows, id="as installed"), pytest.param(PLAIN, id="plain")]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)


@each_kernel
@given(st.data(), st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=9))
def test_ragged_rows_are_taken_in_any_order_and_more_than_once(kernel, data, lists):
    column = Ragged.of(lists)
    chosen = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=12))

    offsets, values = kernel.take_ragged(column.offsets, column.values, ints(chosen))

    taken = Ragged(offsets, values)
    assert [taken[row].tolist() for row in range(len(taken))] == [lists[row] for row in chosen]


@each_kernel
@given(st.lists(st.integers(0, 6)))
def test_rows_are_sorted_by_key_and_stay_in_order_within_a_key(kernel, keys):
    assert kernel.grouped(ints(keys), 7).tolist() == np.argsort(keys, kind="stable").tolist()
