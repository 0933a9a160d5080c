"""The table of element types."""

import numpy as np
import pytest

from tfprof.formats.tensor_types import TENSOR_TYPES, tensor_type

BY_NAME = {kind.name: kind for kind in TENSOR_TYPES.values()}


def test_types_have_the_same_numbers_as_in_tensorflow():
    assert BY_NAME["float32"].number == 1
    assert BY_NAME["string"].number == 7
    assert BY_NAME["bfloat16"].number == 14
    assert BY_NAME["float16"].number == 19
    assert BY_NAME["uint64"].number == 23


def test_an_unknown_type_number_has_a_name_but_no_values():
    kind = tensor_type(99)

    assert kind.name == "type_99"
    assert not kind.is_readable
    with pytest.raises(ValueError, match="have no fixed width"):
        kind.values(b"")


def test_a_handle_has_no_values():
    assert not BY_NAME["resource"].is_readable
    assert BY_NAME["string"].is_readable


def test_bfloat16_becomes_float32():
    values = BY_NAME["bfloat16"].values(b"\x80\x3f\x00\xc0")

    assert values.dtype == np.float32
    assert values.tolist() == [1.0, -2.0]


def test_values_in_the_other_byte_order_are_converted():
    values = BY_NAME["complex64"].values(b"\x3f\x80\x00\x00\xc0\x00\x00\x00", ">")

    assert values.dtype == np.complex64
    assert values.dtype.isnative
    assert values.tolist() == [1 - 2j]


def test_values_can_be_given_as_bits():
    bits = np.array([0x3C00, 0xC000], np.uint64)

    assert BY_NAME["float16"].values_of_bits(bits).tolist() == [1.0, -2.0]
    assert BY_NAME["int8"].values_of_bits(np.array([2**64 - 1], np.uint64)).tolist() == [-1]


def test_any_nonzero_byte_is_true():
    assert BY_NAME["bool"].values(b"\x00\x01\x02").tolist() == [False, True, True]


def test_small_numbers_keep_their_sign():
    assert BY_NAME["int4"].values(b"\x08\x0f\x07").tolist() == [-8, -1, 7]
    assert BY_NAME["uint4"].values(b"\x08\x0f\x07").tolist() == [8, 15, 7]
    assert BY_NAME["int2"].values(b"\x02\x01").tolist() == [-2, 1]
