"""Builds sorted tables and protobuf messages byte by byte, to test their readers."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tfprof.formats import crc32c
from tfprof.formats.sorted_table import MAGIC

SAMPLES = Path(__file__).parents[1] / "samples" / "checkpoints"
AS_IS, SNAPPY = 0, 1


def number(value: int) -> bytes:
    """A varint."""
    value &= (1 << 64) - 1
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def message(*parts: tuple[int, int | bytes]) -> bytes:
    """A message of varint fields (integers) and spans (bytes)."""
    data = b""
    for field, value in parts:
        if isinstance(value, int):
            data += number(field << 3) + number(value)
        else:
            data += number(field << 3 | 2) + number(len(value)) + value
    return data


def fixed32(field: int, value: int) -> bytes:
    return number(field << 3 | 5) + value.to_bytes(4, "little")


def literals(data: bytes) -> bytes:
    """`data` in Snappy's format, uncompressed."""
    packed = number(len(data))
    for at in range(0, len(data), 60):
        piece = data[at : at + 60]
        packed += bytes([len(piece) - 1 << 2]) + piece
    return packed


def block(items: Sequence[tuple[bytes, bytes]], every: int = 16) -> bytes:
    """A block in which every `every`-th key is spelled out; others share the prefix before them."""
    data = b""
    restarts = []
    previous = b""
    for at, (key, value) in enumerate(items):
        shared = 0
        if at % every:
            while shared < min(len(key), len(previous)) and key[shared] == previous[shared]:
                shared += 1
        else:
            restarts.append(len(data))
        data += number(shared) + number(len(key) - shared) + number(len(value))
        data += key[shared:] + value
        previous = key
    return data + b"".join(at.to_bytes(4, "little") for at in [*restarts, len(restarts)])


def sealed(content: bytes, packing: int = AS_IS) -> bytes:
    """A block with its trailer."""
    covered = (literals(content) if packing == SNAPPY else content) + bytes([packing])
    return covered + crc32c.masked(crc32c.checksum(covered)).to_bytes(4, "little")


def table_of_blocks(blocks: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A table of sealed blocks, each given with its last key."""
    data = b""
    handles = []
    for last_key, stored in blocks:
        handles.append((last_key, number(len(data)) + number(len(stored) - 5)))
        data += stored
    index = sealed(block(handles, every=1))
    handle = number(len(data)) + number(len(index) - 5)
    return data + index + (number(0) + number(0) + handle).ljust(40, b"\x00") + MAGIC


def table(items: Mapping[bytes, bytes], packing: int = AS_IS, per_block: int = 1000) -> bytes:
    """A whole table."""
    held = sorted(items.items())
    groups = [held[at : at + per_block] for at in range(0, len(held), per_block)]
    return table_of_blocks([(group[-1][0], sealed(block(group), packing)) for group in groups])


def expected(folder: str) -> dict[str, dict[str, object]]:
    """What TensorFlow read from the checkpoint in a folder of the samples."""
    text = (SAMPLES / folder / "expected.json").read_text(encoding="utf-8")
    answers: dict[str, dict[str, object]] = json.loads(text)
    for answer in answers.values():
        answer["values"] = [equal_to_itself(value) for value in answer["values"]]
    return answers


def listed(values: np.ndarray) -> list[object]:
    """Values as in the JSON of the samples; a NaN is a word, so that it equals itself."""
    flat = values.ravel().tolist()
    if values.dtype.kind == "c":
        return [[one.real, one.imag] for one in flat]
    if values.dtype.kind == "O":
        return [one.hex() for one in flat]
    return [equal_to_itself(one) for one in flat]


def equal_to_itself(value: object) -> object:
    """A NaN as a word, any other value unchanged."""
    return "nan" if isinstance(value, float) and math.isnan(value) else value
