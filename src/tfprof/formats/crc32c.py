"""CRC-32C (Castagnoli) checksums, plain and masked as TensorFlow and LevelDB store them."""

from __future__ import annotations

import functools
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint32]

POLYNOMIAL: Final = 0x82F63B78  # bit-reversed: the lowest bit is the highest power
ALL_BITS: Final = 0xFFFFFFFF
MASK_DELTA: Final = 0xA282EAD8
ROW_WORDS: Final = (1 << 14, 1 << 8)  # rows of 64 KiB while enough data is left, then of 1 KiB


def checksum(data: bytes | bytearray | memoryview, crc: int = 0) -> int:
    """The CRC-32C of `data`; pass the checksum of preceding data as `crc` to continue it."""
    octets = np.frombuffer(data, np.uint8)
    register = crc ^ ALL_BITS
    for row_words in ROW_WORDS:
        if octets.size >= 8 * row_words:
            octets = folded(octets, row_words, register)
            register = 0
    return stepped(octets.tobytes(), register) ^ ALL_BITS


def masked(crc: int) -> int:
    """`crc` masked for storage, since a CRC over data that contains plain CRCs is weak."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & ALL_BITS


def unmasked(stored: int) -> int:
    """The inverse of `masked`."""
    rotated = (stored - MASK_DELTA) & ALL_BITS
    return (rotated >> 17 | rotated << 15) & ALL_BITS


def folded(octets: NDArray[np.uint8], row_words: int, register: int) -> NDArray[np.uint8]:
    """Shorter data whose checksum, from a zero register, is that of `octets` from `register`.

    The data is one row and the remainder. Each row is folded into the next: a word is advanced by
    the length of a row (see `shift_tables`) and XORed with the word below it, all words at once.
    """
    row_bytes = 4 * row_words
    whole = octets.size // row_bytes * row_bytes
    rows = octets[:whole].view("<u4").reshape(-1, row_words)
    low, high = shift_tables(row_bytes)
    row = rows[0].astype(np.uint32)
    row[0] ^= np.uint32(register)
    for below in rows[1:]:
        row = low[row & 0xFFFF] ^ high[row >> 16] ^ below
    return np.concatenate([row.astype("<u4").view(np.uint8), octets[whole:]])


def stepped(octets: bytes, register: int) -> int:
    """The register after processing `octets` byte by byte."""
    table = byte_table()
    for octet in octets:
        register = table[(register ^ octet) & 0xFF] ^ register >> 8
    return register


@functools.cache
def byte_table() -> tuple[int, ...]:
    """The effect on the register of shifting out each value of its lowest byte."""
    return tuple(shifted_bits(value, 8) for value in range(256))


@functools.cache
def shift_tables(distance: int) -> tuple[Words, Words]:
    """The lower and upper half of every word, advanced by `distance` bytes, a power of two."""
    bits = [1 << bit for bit in range(32)]
    table = byte_table()
    # Applying the map to itself doubles the distance.
    moved = [table[bit & 0xFF] ^ bit >> 8 for bit in bits]
    while distance > 1:
        moved = [applied(moved, word) for word in moved]
        distance //= 2
    return span_of(moved[:16]), span_of(moved[16:])


def applied(columns: list[int], word: int) -> int:
    """The XOR of the columns whose bit is set in `word`."""
    total = 0
    for bit, column in enumerate(columns):
        if word >> bit & 1:
            total ^= column
    return total


def span_of(columns: list[int]) -> Words:
    """The result of `applied` for every word with one bit per column."""
    table = np.zeros(1, np.uint32)
    for column in columns:
        table = np.concatenate([table, table ^ np.uint32(column)])
    return table


def shifted_bits(register: int, count: int) -> int:
    """The register after processing `count` zero bits."""
    for _ in range(count):
        register = register >> 1 ^ (POLYNOMIAL if register & 1 else 0)
    return register
