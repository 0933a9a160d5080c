"""CRC-32C (Castagnoli), as TensorFlow and LevelDB store it: plain and masked."""

from __future__ import annotations

import functools
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint32]

POLYNOMIAL: Final = 0x82F63B78  # reversed: the lowest bit is the highest power
ALL_BITS: Final = 0xFFFFFFFF
MASK_DELTA: Final = 0xA282EAD8
ROW_WORDS: Final = (1 << 14, 1 << 8)  # 64 KiB while there is much to do, then 1 KiB


def checksum(data: bytes | bytearray | memoryview, crc: int = 0) -> int:
    """The CRC-32C of `data`, or of what gave `crc` with `data` after it."""
    octets = np.frombuffer(data, np.uint8)
    register = crc ^ ALL_BITS
    for row_words in ROW_WORDS:
        if octets.size >= 8 * row_words:
            octets = folded(octets, row_words, register)
            register = 0
    return stepped(octets.tobytes(), register) ^ ALL_BITS


def masked(crc: int) -> int:
    """`crc` as it is stored: beside the data it covers, a plain one would spoil the next."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & ALL_BITS


def unmasked(stored: int) -> int:
    """The checksum that `masked` made `stored` of."""
    turned = (stored - MASK_DELTA) & ALL_BITS
    return (turned >> 17 | turned << 15) & ALL_BITS


def folded(octets: NDArray[np.uint8], row_words: int, register: int) -> NDArray[np.uint8]:
    """One row and a rest whose checksum from a zero register is that of `octets` from `register`.

    A word may move one row down, to be added to the word there, when it is multiplied by the
    power of two that the way is long. All words of a row move at once.
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
    """The register after `octets`, one at a time."""
    table = byte_table()
    for octet in octets:
        register = table[(register ^ octet) & 0xFF] ^ register >> 8
    return register


@functools.cache
def byte_table() -> tuple[int, ...]:
    """What each value of the lowest byte becomes when it is shifted out."""
    return tuple(shifted_bits(value, 8) for value in range(256))


@functools.cache
def shift_tables(distance: int) -> tuple[Words, Words]:
    """What the lower and the upper half of a word become `distance` bytes further on."""
    bits = [1 << bit for bit in range(32)]
    table = byte_table()
    # Doubling the way is applying the map to itself; `distance` is a power of two.
    moved = [table[bit & 0xFF] ^ bit >> 8 for bit in bits]
    while distance > 1:
        moved = [applied(moved, word) for word in moved]
        distance //= 2
    return span_of(moved[:16]), span_of(moved[16:])


def applied(columns: list[int], word: int) -> int:
    """The sum of the columns that `word` has a bit for."""
    total = 0
    for bit, column in enumerate(columns):
        if word >> bit & 1:
            total ^= column
    return total


def span_of(columns: list[int]) -> Words:
    """`applied` for every word of as many bits as there are columns."""
    table = np.zeros(1, np.uint32)
    for column in columns:
        table = np.concatenate([table, table ^ np.uint32(column)])
    return table


def shifted_bits(register: int, count: int) -> int:
    """The register after `count` zero bits."""
    for _ in range(count):
        register = register >> 1 ^ (POLYNOMIAL if register & 1 else 0)
    return register
