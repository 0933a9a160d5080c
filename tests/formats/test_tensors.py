"""Names, shapes and slices of tensors in checkpoints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.table_builder import message
from tfprof.formats.tensors import (
    TensorEntry,
    TensorSlice,
    assembled,
    ordered_bytes,
    ordered_int,
    ordered_uint,
    parse_name,
    parse_shape,
    parse_slice,
)
from tfprof.formats.wire import WireError

INT64 = st.integers(-(2**63), 2**63 - 1)


def test_the_size_of_an_entry_is_the_product_of_its_shape():
    assert TensorEntry("w", "float32", (3, 4), 1).size == 12
    assert TensorEntry("step", "int64", (), 9).size == 1


def test_a_slice_has_the_key_that_tensorflow_gives_it():
    tall = TensorSlice((200, 0), (100, -1))

    assert tall.key(b"parts/tall") == b"\x00parts/tall\x00\x01\x01\x02\xc0\xc8\xc0d\x80\x7f"


def test_bytes_that_would_end_a_name_are_escaped():
    assert ordered_bytes(b"a\x00b\xffc") == b"a\x00\xffb\xff\x00c\x00\x01"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, "80"),
        (63, "bf"),
        (-64, "40"),
        (64, "c040"),
        (-65, "3fbf"),
        (8191, "dfff"),
        (8192, "e02000"),
        (2**63 - 1, "ffc07fffffffffffffff"),
        (-(2**63), "003f8000000000000000"),
    ],
)
def test_a_signed_number_is_encoded_in_an_ordered_code(value, code):
    assert ordered_int(value).hex() == code


@given(INT64, INT64)
def test_ordered_codes_sort_as_the_numbers_do(one, other):
    assert (ordered_int(one) < ordered_int(other)) == (one < other)


def test_an_unsigned_number_is_preceded_by_its_length():
    assert ordered_uint(0) == b"\x00"
    assert ordered_uint(258) == b"\x02\x01\x02"


def test_a_shape_is_parsed():
    data = message((2, message((1, 3))), (2, message((1, 0))), (2, b""))

    assert parse_shape(data, 0, len(data)) == (3, 0, 0)


@pytest.mark.parametrize(
    "parts",
    [
        [(3, 1)],
        [(2, message((1, -1)))],
        [(2, message((1, 1)))] * 255,
        [(2, message((1, 2**40)))] * 2,
    ],
)
def test_an_impossible_shape_is_refused(parts):
    data = message(*parts)

    with pytest.raises(WireError, match="a shape"):
        parse_shape(data, 0, len(data))


def test_a_slice_without_a_length_covers_the_whole_dimension():
    data = message((1, message((1, 3), (2, 4))), (1, b""))

    assert parse_slice(data, 0, len(data)) == TensorSlice((3, 0), (4, -1))


def test_a_name_that_is_not_text_is_refused():
    with pytest.raises(ValueError, match="is not valid UTF-8"):
        parse_name(b"\xff\xfe")


def test_parts_are_put_in_their_places():
    whole = np.arange(12).reshape(3, 4)
    parts = [
        (TensorSlice((1, 0), (2, 2)), whole[1:, :2].ravel()),
        (TensorSlice((0, 0), (1, -1)), whole[:1].ravel()),
        (TensorSlice((1, 2), (2, 2)), whole[1:, 2:].ravel()),
    ]

    assert assembled((3, 4), parts).tolist() == whole.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_a_tensor_without_parts_is_refused(shape):
    with pytest.raises(ValueError, match="no parts"):
        assembled(shape, [])


def test_one_part_may_be_the_whole():
    parts = [(TensorSlice((0, 0), (-1, -1)), np.arange(6))]

    assert assembled((2, 3), parts).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("parts", "trouble"),
    [
        ([TensorSlice((0,), (2,))], "2 values in its parts but 4 in its shape"),
        ([TensorSlice((0,), (3,)), TensorSlice((2,), (1,))], "overlap and leave a gap"),
        ([TensorSlice((0,), (5,))], "a slice from 0 to 5 in a dimension of 4"),
        ([TensorSlice((-1,), (4,))], "a slice from -1"),
        ([TensorSlice((0,), (-2,))], "a slice from 0 to -2"),
        ([TensorSlice((0, 0), (4, 1))], "a slice with 2 dimensions where the shape has 1"),
    ],
)
def test_parts_that_do_not_cover_the_tensor_are_refused(parts, trouble):
    held = [(part, np.zeros(max(0, part.lengths[0]))) for part in parts]

    with pytest.raises(ValueError, match=trouble):
        assembled((4,), held)


def test_a_part_with_too_many_values_is_refused():
    parts = [(TensorSlice((0,), (2,)), np.zeros(3)), (TensorSlice((2,), (2,)), np.zeros(1))]

    with pytest.raises(ValueError, match="a part with 3 values instead of 2"):
        assembled((4,), parts)
