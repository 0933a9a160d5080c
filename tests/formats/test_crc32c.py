"""The checksum of blocks and tensors in checkpoints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.formats.crc32c import checksum, masked, unmasked

POLYNOMIAL = 0x82F63B78


def bit_by_bit(data: bytes) -> int:
    register = 0xFFFFFFFF
    for octet in data:
        register ^= octet
        for _ in range(8):
            register = register >> 1 ^ (POLYNOMIAL if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def noise(size: int) -> bytes:
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


# From RFC 3720, appendix B.4, and the check value in catalogues of CRCs.
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
def test_checksums_match_published_values(data, expected):
    assert checksum(data) == expected


@pytest.mark.parametrize("size", [2047, 2048, 2049, 3000, 131_071, 131_072, 131_075, 200_001])
def test_the_checksum_of_long_data_equals_the_bitwise_one(size):
    data = noise(size)

    assert checksum(data) == bit_by_bit(data)


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_a_checksum_can_be_continued(first, second):
    assert checksum(second, checksum(first)) == checksum(first + second)


def test_a_long_checksum_can_be_continued():
    data = noise(300_000)

    assert checksum(data[70_001:], checksum(data[:70_001])) == checksum(data)


def test_every_kind_of_buffer_has_the_same_checksum():
    data = noise(5000)

    assert checksum(bytearray(data)) == checksum(memoryview(data)) == checksum(data)


def test_a_checksum_is_masked_as_in_tensorflow():
    assert masked(0) == 0xA282EAD8
    assert masked(checksum(b"foo")) != checksum(b"foo")


@given(st.integers(0, 2**32 - 1))
def test_unmasking_undoes_masking(crc):
    assert unmasked(masked(crc)) == crc
