"""Columns return the values they were built from, and select and sum rows like plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.columns import (
    Coded,
    Ragged,
    Shapes,
    Strings,
    distinct,
    distinct_rows,
    ints,
    offsets_of,
    places_of,
)

few = settings(max_examples=50)

ROWS = st.lists(st.lists(st.integers(-(10**6), 10**6), max_size=5), max_size=8)
SHAPES = st.lists(st.none() | st.lists(st.integers(-1, 6), max_size=4).map(tuple), max_size=8)


def test_a_text_with_lone_surrogates_is_stored_with_their_escapes():
    assert list(Strings(["a", "bad\udcff", "\ud83d"])) == ["a", "bad\\udcff", "\\ud83d"]


def rows_of(ragged):
    return [ragged[row].tolist() for row in range(len(ragged))]


def test_a_compact_column_has_only_the_values_that_its_rows_use():
    column = Coded(ints([2, 0, 2]), Strings(["a", "b", "c"])).compact()

    assert list(column) == ["c", "a", "c"]
    assert list(column.values) == ["a", "c"]


@pytest.mark.parametrize("values", [[], [3], [2, 1, 2, 1], [5, -1, 5]])
def test_distinct_values_are_in_ascending_order(values):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


def test_texts_may_be_anywhere_in_the_data():
    column = Strings.of_spans("abäc".encode(), ints([2, 0, 1]), ints([4, 2, 1]))

    assert len(column) == 3
    assert list(column) == ["ä", "ab", ""]


def test_a_column_of_numbers_is_read_only():
    column = ints([1, 2])

    with pytest.raises(ValueError, match="read-only"):
        column[0] = 3


def test_a_column_made_from_an_array_leaves_the_array_writable():
    array = np.array([1, 2], np.int64)
    column = ints(array)
    array[0] = 3

    assert np.shares_memory(column, array)
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 4


def test_a_column_of_numbers_keeps_all_64_bits():
    assert ints([-(2**63), 2**63 - 1]).tolist() == [-(2**63), 2**63 - 1]


def test_texts_can_be_taken_in_any_order_and_repeatedly():
    assert list(Strings(["a", "b", "c"]).take(ints([2, 0, 2]))) == ["c", "a", "c"]


def test_lines_are_the_texts_with_a_newline_after_each():
    lines = Strings.of_spans("abäc".encode(), ints([2, 0, 1]), ints([4, 2, 1])).lines()

    assert lines.data == "ä\nab\n\n".encode()
    assert list(lines) == ["ä\n", "ab\n", "\n"]
    assert Strings().lines().data == b""


def test_texts_can_be_split_at_a_separator_and_searched_from_the_end():
    column = Strings(["a, b, c", "", "d"])

    counts, parts = column.split(", ")

    assert counts.tolist() == [3, 1, 1]
    assert list(parts) == ["a", "b", "c", "", "d"]
    assert column.find_last(", ").tolist() == [4, -1, -1]


def test_columns_of_texts_are_equal_if_all_their_texts_are():
    assert Strings(["a", "b"]) == Strings(["a", "b"])
    assert Strings(["a", "b"]) != Strings(["b", "a"])
    assert Strings(["a"]) != ["a"]
    assert len({Strings(["a", "b"]), Strings(["a", "b"]), Strings(["a"])}) == 2


def test_a_column_of_texts_does_not_change_with_the_list_it_was_made_from():
    texts = ["a"]
    column = Strings(texts)

    texts.append("b")

    assert list(column) == ["a"]


def test_codes_are_assigned_in_order_of_first_use():
    column = Coded.of(["b", "a", "b", "c"])

    assert column.codes.tolist() == [0, 1, 0, 2]
    assert list(column.values) == ["b", "a", "c"]


@few
@given(st.lists(st.text(max_size=3)))
def test_a_coded_column_returns_the_texts_it_was_made_from(texts):
    column = Coded.of(texts)

    assert [column[row] for row in range(len(column))] == texts
    assert len(set(column.values)) == len(column.values)


def test_a_row_starts_where_the_previous_one_ends():
    assert offsets_of(ints([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert offsets_of(ints([])).tolist() == [0]


def test_rows_may_have_any_length():
    column = Ragged.of([[5, 6], [], [7]])

    assert rows_of(column) == [[5, 6], [], [7]]
    assert column.lengths.tolist() == [2, 0, 1]
    assert column.owners.tolist() == [0, 0, 2]


def test_a_ragged_column_may_have_no_rows():
    column = Ragged.of([])

    assert len(column) == 0
    assert column.owners.tolist() == []
    assert rows_of(column.take(ints([]))) == []


@few
@given(ROWS, st.data())
def test_rows_can_be_taken_in_any_order_and_repeatedly(rows, data):
    places = st.integers(0, len(rows) - 1)
    chosen = data.draw(st.lists(places, max_size=10)) if rows else []

    assert rows_of(Ragged.of(rows).take(ints(chosen))) == [rows[place] for place in chosen]


@few
@given(ROWS)
def test_the_owner_of_each_value_is_its_row(rows):
    owners = [row for row, values in enumerate(rows) for _ in values]

    assert Ragged.of(rows).owners.tolist() == owners


@few
@given(ROWS)
def test_a_row_is_flagged_if_any_of_its_values_is(rows):
    column = Ragged.of(rows)

    assert column.any(column.values > 0).tolist() == [any(v > 0 for v in row) for row in rows]


@few
@given(ROWS)
def test_sums_are_over_the_values_of_each_row(rows):
    column = Ragged.of(rows)

    assert column.sums(column.values).tolist() == [sum(row) for row in rows]


def test_sums_use_the_given_column_instead_of_the_values():
    assert Ragged.of([[7], [7, 7]]).sums(ints([1, 2, 3])).tolist() == [1, 5]


def test_flagged_values_stay_in_their_rows():
    column = Ragged.of([[5, 6], [], [7]]).where(np.array([False, True, False]))

    assert [column[row].tolist() for row in range(3)] == [[6], [], []]


def test_places_are_positions_among_the_chosen_rows():
    assert places_of(ints([2, 0]), 4).tolist() == [1, -1, 0, -1]


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((), 1),
        ((1,), 1),
        ((3, 4), 12),
        ((2, 3, 5), 30),
        ((3, 0), 0),
        ((0,), 0),
        ((-1,), 0),
        ((-1, 8), 0),
        ((-1, -1), 0),
        (None, 0),
    ],
)
def test_the_size_of_a_shape_is_the_product_of_its_dims_or_zero_if_unknown(shape, size):
    assert Shapes.of([shape]).sizes().tolist() == [size]


def test_a_scalar_is_not_a_shape_of_unknown_rank():
    column = Shapes.of([(), None])

    assert (column[0], column[1]) == ((), None)


def test_a_column_without_shapes_has_no_sizes():
    assert Shapes.of([]).sizes().tolist() == []


@few
@given(SHAPES)
def test_a_column_of_shapes_returns_the_shapes_it_was_made_from(shapes):
    column = Shapes.of(shapes)

    assert [column[row] for row in range(len(column))] == shapes


@few
@given(SHAPES)
def test_sizes_are_products_of_known_dims(shapes):
    expected = [0 if s is None or min(s, default=0) < 0 else math.prod(s) for s in shapes]

    assert Shapes.of(shapes).sizes().tolist() == expected


@few
@given(SHAPES.filter(bool), st.data())
def test_shapes_can_be_taken_in_any_order(shapes, data):
    chosen = data.draw(st.lists(st.integers(0, len(shapes) - 1), max_size=10))
    taken = Shapes.of(shapes).take(np.array(chosen, np.int64))

    assert [taken[row] for row in range(len(taken))] == [shapes[place] for place in chosen]


TEXTS = st.lists(st.text("ab/ä", max_size=6), max_size=12)


@few
@given(TEXTS, st.text("ab/ä", max_size=6))
def test_a_text_is_found_in_the_first_row_that_equals_it(texts, wanted):
    assert Strings(texts).row_of(wanted) == (texts.index(wanted) if wanted in texts else -1)


def test_a_text_that_is_not_valid_unicode_is_not_found():
    assert Strings(["a"]).row_of("\udc80") == -1
    assert list(Strings(["a"]).alike("\udc80")) == ["a"]


@few
@given(TEXTS, st.text("ab/ä", max_size=6), st.integers(1, 5))
def test_similar_rows_are_a_subset_of_the_rows(texts, wanted, most):
    found = list(Strings(texts).alike(wanted, most))

    assert len(found) == min(len(texts), most)
    assert all(found.count(text) <= texts.count(text) for text in found)


@few
@given(TEXTS, st.text("ab/ä", min_size=1, max_size=6))
def test_rows_that_end_with_the_text_are_preferred(texts, wanted):
    ends = sum(text.endswith(wanted) for text in texts)

    found = list(Strings(texts).alike(wanted, max(ends, 1)))

    assert sum(text.endswith(wanted) for text in found) == ends


@pytest.mark.parametrize(
    "typed",
    ["net/layer_7/conv/kernl", "et/layer_7/conv/kernel", "net/layer_7/cnv/kernel"],
    ids=["at the end", "at the start", "in the middle"],
)
def test_a_row_with_one_more_letter_is_similar(typed):
    rows = Strings([f"net/layer_{layer}/conv/kernel" for layer in range(1000)])

    assert "net/layer_7/conv/kernel" in list(rows.alike(typed, 5))


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3)), max_size=20))
def test_distinct_rows_are_those_of_numpy(rows):
    columns = np.array(rows, np.int64).reshape(-1, 2)

    found, place = distinct_rows((columns[:, 0], columns[:, 1]))

    assert found.tolist() == np.unique(columns, axis=0).tolist()
    assert found[place].tolist() == columns.tolist()
