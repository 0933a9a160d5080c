"""Rows are chosen and grouped as numpy would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Ragged, ints
from tfprof.kernels import rows


@given(st.data(), st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=9))
def test_rows_of_different_lengths_are_taken_in_any_order_and_as_often(data, lists):
    column = Ragged.of(lists)
    chosen = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=12))

    offsets, values = rows.take_ragged(column.offsets, column.values, ints(chosen))

    taken = Ragged(offsets, values)
    assert [taken[row].tolist() for row in range(len(taken))] == [lists[row] for row in chosen]


@given(st.lists(st.integers(0, 6)))
def test_rows_are_grouped_by_their_keys_and_stay_in_order_within(keys):
    assert rows.grouped(ints(keys), 7).tolist() == np.argsort(keys, kind="stable").tolist()
