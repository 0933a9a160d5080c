"""Unpacking Snappy's raw format."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floors import checked_unless, floor
from formats.table_builder import literals, number
from tfprof.formats.snappy import unpacked
from tfprof.formats.wire import WireError


def test_nothing_unpacks_to_nothing():
    assert unpacked(b"\x00") == b""


def test_a_short_literal_is_copied():
    assert unpacked(b"\x03\x08abc") == b"abc"


@pytest.mark.parametrize(("size", "tag"), [(200, b"\xf0\xc7"), (300, b"\xf4\x2b\x01")])
def test_the_length_of_a_longer_literal_has_its_own_bytes(size, tag):
    text = bytes(range(100)) * 3

    assert unpacked(number(size) + tag + text[:size]) == text[:size]


@pytest.mark.parametrize("tag", [b"\xf8\x01\x00\x00", b"\xfc\x01\x00\x00\x00"])
def test_the_length_of_a_literal_may_have_three_or_four_bytes(tag):
    assert unpacked(b"\x02" + tag + b"ab") == b"ab"


def test_a_copy_may_have_an_offset_of_eleven_bits():
    far = bytes(range(256)) + bytes(60)

    assert unpacked(number(320) + b"\xf4\x3b\x01" + far + b"\x21\x3c") == far + bytes([0, 1, 2, 3])


def test_a_copy_may_have_an_offset_of_two_bytes():
    assert unpacked(b"\x08\x0cabcd\x0e\x04\x00") == b"abcdabcd"


def test_a_copy_may_have_an_offset_of_four_bytes():
    assert unpacked(b"\x06\x0cabcd\x07\x03\x00\x00\x00") == b"abcdbc"


def test_a_copy_may_overlap_its_own_output():
    assert unpacked(b"\x09\x08abc\x16\x02\x00") == b"abcbcbcbc"


def test_copying_the_last_byte_repeats_it():
    assert unpacked(b"\x41\x00x\xfe\x01\x00") == b"x" * 65


def test_an_impossible_declared_length_is_refused():
    with pytest.raises(WireError, match="cannot unpack to"):
        unpacked(number(1 << 40) + b"\x00a")


@pytest.mark.parametrize(
    "stream",
    [
        b"",  # no length
        b"\x80",  # half a length
        b"\x05\x08abc",  # less than declared
        b"\x02\x08abc",  # more than declared
        b"\x03\x08ab",  # a literal that is cut short
        b"\x03\xf4\x02",  # the length of a literal cut short
        b"\x08\x0cabcd\x0e\x04",  # a copy that is cut short
        b"\x08\x0cabcd\x0e\x00\x00",  # a copy from distance zero
        b"\x08\x0cabcd\x0e\x05\x00",  # a copy from before the start
    ],
)
def test_a_malformed_stream_is_refused(stream):
    with pytest.raises(WireError):
        unpacked(stream)


def copy(size: int, distance: int) -> bytes:
    """A copy of `size` bytes that were written `distance` bytes ago."""
    return bytes([size - 1 << 2 | 2]) + distance.to_bytes(2, "little")


# Pieces of a stream: the size that each unpacks to, and its bytes.
LITERALS = st.binary(min_size=1, max_size=60).map(
    lambda data: (len(data), bytes([len(data) - 1 << 2]) + data)
)
COPIES = st.tuples(st.integers(1, 64), st.integers(0, 20)).map(lambda one: (one[0], copy(*one)))


@floor(0.2)  # measured: 0.6
@given(LITERALS, st.lists(LITERALS | COPIES))
def test_any_stream_unpacks_to_its_declared_size_or_is_refused(first, more):
    sizes, pieces = zip(first, *more, strict=True)

    with checked_unless(WireError):
        assert len(unpacked(number(sum(sizes)) + b"".join(pieces))) == sum(sizes)


@given(st.binary(max_size=100))
def test_any_bytes_unpack_or_are_refused(data):
    with suppress(WireError):
        assert len(unpacked(data)) <= 22 * len(data)


@given(st.binary(max_size=1000))
def test_literals_are_unpacked(data):
    assert unpacked(literals(data)) == data
