"""Changes to bytes and to protobuf messages, as damage or an attacker would make them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from formats.wire_messages import span, tag, varint
from tfprof.formats import wire
from tfprof.formats.wire import WireError

EDGES = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF)
LENGTHS = (0, 1, 127, 128, 2**14, 2**28, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1)
NUMBERS = (*LENGTHS, 2, 3, 5, 10**6, 10**12, 10**15, 10**18, 2**62, 2**63 - 1, 2**64 - 2)
TEXTS = (
    *(b"", b"a", b"/", b"//", b"a/b", b"a/", b"/a", b"^a", b"a:1", b":", b"^", b"_TFProfRoot"),
    *(b"\xff\xfe", b"\x00", b"\n", b"\x1b[31m", b"\xed\xa0\x80", "\u202e".encode(), b"x" * 300),
    *(b"MatMul", b"Conv2D", b"VariableV2", b"Const", b"While", b"_output_shapes", b"shape"),
    *(b"/device:GPU:0", b"/device:CPU:0", b"/device:GPU:0/stream:all", b"GPU_0_bfc"),
    *(b"Steps", b"train", b"Iterator::A::B", b"group_id", b"step_num", b"gradients/a_grad/b"),
)
DEEPEST = 12

Change = Callable[[random.Random, bytearray, Sequence[bytes]], None]


def changed(chance: random.Random, pool: Sequence[bytes], most: int = 3) -> bytes:
    """One of the inputs of a pool with up to `most` changes."""
    data = bytearray(chance.choice(pool))
    for _ in range(min(most, chance.choice((0, 1, 1, 1, 2, 3)))):
        chance.choice(CHANGES)(chance, data, pool)
    return bytes(data)


def flip(chance, data, _):
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def overwrite(chance, data, _):
    if data:
        data[chance.randrange(len(data))] = chance.choice(EDGES)


def cut(chance, data, _):
    del data[chance.randrange(len(data) + 1) :]


def remove(chance, data, _):
    at = chance.randrange(len(data) + 1)
    del data[at : at + chance.randrange(1, 6)]


def insert(chance, data, _):
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.randbytes(chance.randrange(1, 4))


def repeat(chance, data, _):
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.randrange(1, 40)]
    at = chance.choice((start, chance.randrange(len(data) + 1)))
    data[at:at] = piece


def splice(chance, data, pool):
    other = chance.choice(pool)
    start = chance.randrange(len(other) + 1)
    at = chance.randrange(len(data) + 1)
    data[at : at + chance.choice((0, 4))] = other[start : start + chance.randrange(1, 40)]


def lengthen(chance, data, _):
    """Replace a byte with another length or number."""
    at = chance.randrange(len(data) + 1)
    data[at : at + 1] = varint(chance.choice(LENGTHS))


def wrap(chance, data, _):
    """Wrap a piece in a field with a correct length."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(20))
    data[start:end] = span(chance.randrange(1, 20), bytes(data[start:end]))


CHANGES: tuple[Change, ...] = (
    *(flip, flip, overwrite, cut, remove),
    *(insert, repeat, splice, lengthen, wrap),
)


def changed_message(data: bytes, chance: random.Random, depth: int = 0) -> bytes:
    """A message with one change of a field somewhere in it; all lengths stay correct."""
    fields = _fields(data)
    if fields is None:  # not a message
        return chance.choice(TEXTS)
    inner = [at for at, (_, kind, _) in enumerate(fields) if kind == wire.SPAN]
    if inner and depth < DEEPEST and chance.random() < 0.8:
        at = chance.choice(inner)
        number, kind, content = fields[at]
        fields[at] = number, kind, changed_message(content, chance, depth + 1)
    else:
        _change(fields, chance)
    return b"".join(_written(*field) for field in fields)


def _fields(data: bytes) -> list[tuple[int, int, bytes | int]] | None:
    try:
        return [
            (number, kind, data[start:end] if kind == wire.SPAN else start)
            for number, kind, start, end in wire.fields(data)
        ]
    except WireError:
        return None


def _change(fields: list[tuple[int, int, bytes | int]], chance: random.Random) -> None:
    if not fields:
        fields.append(_any_field(chance))
        return
    at = chance.randrange(len(fields))
    number, kind, _ = fields[at]
    action = chance.random()
    if action < 0.5:
        fields[at] = number, kind, _value(kind, chance)
    elif action < 0.6:
        del fields[at]
    elif action < 0.75:
        fields.insert(chance.randrange(len(fields) + 1), fields[at])
    elif action < 0.9:
        fields.insert(at, _any_field(chance))
    else:
        chance.shuffle(fields)


def _any_field(chance: random.Random) -> tuple[int, int, bytes | int]:
    kind = chance.choice((wire.VARINT, wire.SPAN, wire.SPAN))
    return chance.randrange(1, 18), kind, _value(kind, chance)


def _value(kind: int, chance: random.Random) -> bytes | int:
    if kind == wire.VARINT:
        number = chance.choice(NUMBERS)
        return number if chance.random() < 0.7 else -number % 2**64
    if kind in wire.FIXED_BYTES:
        return chance.choice((0, 1, 2 ** (8 * wire.FIXED_BYTES[kind]) - 1))
    return chance.choice(TEXTS)


def _written(number: int, kind: int, value: bytes | int) -> bytes:
    if kind == wire.VARINT:
        return tag(number, kind) + varint(value)
    if kind == wire.SPAN:
        return span(number, value)
    return tag(number, kind) + value.to_bytes(wire.FIXED_BYTES[kind], "little")
