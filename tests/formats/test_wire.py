"""Walking protobuf messages without a schema."""

import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floors import checked_unless, floor
from formats.table_builder import message, number
from tfprof.formats.wire import FIXED32, FIXED64, SPAN, VARINT, WireError, fields, signed, varint


def test_a_number_comes_with_its_end():
    assert list(fields(b"\x08\x96\x01")) == [(1, VARINT, 150, 3)]


def test_a_span_comes_with_its_start_and_end():
    assert list(fields(b"\x12\x03abc")) == [(2, SPAN, 2, 5)]


def test_fixed_width_numbers_are_read():
    data = b"\x0d\x01\x00\x00\x80" + b"\x11" + b"\x02" + bytes(7)

    assert list(fields(data)) == [(1, FIXED32, 0x80000001, 5), (2, FIXED64, 2, 14)]


def test_a_field_number_may_take_more_than_one_byte():
    assert list(fields(message((1000, 7)))) == [(1000, VARINT, 7, 3)]


def test_an_empty_message_has_no_fields():
    assert list(fields(b"")) == []


def test_a_nested_message_is_walked_within_its_span():
    data = message((1, b"name"), (2, message((3, 5))))
    (_, _, _, _), (_, _, start, end) = fields(data)

    assert list(fields(data, start, end)) == [(3, VARINT, 5, end)]


def test_a_memoryview_and_a_mapped_file_can_be_walked(tmp_path):
    data = message((1, 300), (2, b"abc")) + b"\x1d\x01\x00\x00\x00"
    (tmp_path / "message").write_bytes(data)
    with (tmp_path / "message").open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        walked = list(fields(mapped))
        mapped.close()

    assert walked == list(fields(memoryview(data))) == list(fields(data))


@pytest.mark.parametrize("value", [0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63)])
def test_a_signed_number_is_decoded(value):
    read, _ = varint(number(value), 0)

    assert signed(read) == value


def test_bits_beyond_the_64th_are_dropped_as_in_protobuf():
    assert varint(b"\xff" * 9 + b"\x7f", 0) == (2**64 - 1, 10)


def test_a_number_of_eleven_bytes_is_refused():
    with pytest.raises(WireError, match="longer than 10 bytes") as caught:
        list(fields(b"\x08" + b"\x80" * 10 + b"\x01"))

    assert caught.value.offset == 1


@pytest.mark.parametrize("kind", [3, 4, 6, 7])
def test_an_unused_wire_type_is_refused(kind):
    with pytest.raises(WireError, match=f"wire type {kind}"):
        list(fields(bytes([8 | kind, 0])))


@pytest.mark.parametrize("tag", [0, 7, 1 << 32, 1 << 60])
def test_an_invalid_field_number_is_refused(tag):
    with pytest.raises(WireError, match="field number"):
        list(fields(number(tag) + b"\x00"))


def test_a_span_that_extends_beyond_its_message_is_refused():
    data = message((1, b"abcdef"))

    with pytest.raises(WireError, match="a field of 6 bytes where only 2 are left, at byte 1"):
        list(fields(data, 0, 4))


@pytest.mark.parametrize("data", [b"\x08", b"\x08\x80", b"\x0d\x00\x00\x00", b"\x09\x00", b"\x0a"])
def test_a_message_that_ends_inside_a_field_is_refused(data):
    with pytest.raises(WireError, match="ends inside a number at byte 1"):
        list(fields(data))


def test_a_message_that_extends_beyond_the_data_is_refused():
    with pytest.raises(WireError, match="ends 5 bytes early, at byte 2"):
        list(fields(b"\x08\x01", 0, 7))


def test_fields_before_a_malformed_one_are_read():
    walk = fields(message((1, 5)) + b"\x0b")

    assert next(walk) == (1, VARINT, 5, 2)
    with pytest.raises(WireError):
        next(walk)


def test_an_error_names_the_reason_and_the_byte():
    assert str(WireError(1234, "a gap")) == "a gap at byte 1,234"


PIECES = st.binary(max_size=3) | st.sampled_from(
    [message((1, 5)), message((2, b"ab")), b"\x1d1234"]
)


@floor(0.05)  # measured: 0.3
@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_any_bytes_are_walked_or_refused(data):
    with checked_unless(WireError):
        walked = list(fields(data))

        assert [end for _, _, _, end in walked][-1:] == [len(data)][: len(walked)]


numbers = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(st.integers(1, 2**29 - 1), numbers | st.binary(max_size=300))))
def test_fields_are_read_back_as_written(parts):
    data = message(*parts)
    walked = [
        (field, data[value:end] if kind == SPAN else value)
        for field, kind, value, end in fields(data)
    ]

    assert walked == parts
