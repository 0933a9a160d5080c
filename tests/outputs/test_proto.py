"""Encoding columns as protobuf messages."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ragged, Strings, ints
from tfprof.formats.wire import fields
from tfprof.outputs import proto
from tfprof.outputs.pieces import woven


def rows(pieces, count):
    """The bytes of each row."""
    column = woven(pieces, count)
    spans = zip(column.starts.tolist(), column.ends.tolist(), strict=True)
    return [column.data[start:end] for start, end in spans]


def test_a_message_can_contain_numbers_texts_and_messages():
    inner = proto.number(1, ints([300, 5]))
    found = rows([*proto.message(3, inner, 2), *proto.text(2, Strings(["ab", ""]))], 2)

    assert found == [b"\x1a\x03\x08\xac\x02\x12\x02ab", b"\x1a\x02\x08\x05\x12\x00"]


def test_fixed_numbers_take_eight_bytes():
    many = proto.repeated_fixed64(47, Ragged.of([[1, -2], []]))

    assert rows(proto.double(3, np.array([1.5])), 1) == [b"\x19" + bytes(6) + b"\xf8\x3f"]
    assert rows([many], 2) == [
        b"\xf9\x02\x01" + bytes(7) + b"\xf9\x02\xfe" + b"\xff" * 7,
        b"",
    ]


def test_a_list_is_packed_and_omitted_if_empty():
    found = rows(proto.packed(1, Ragged.of([[1, 300], [], [0]])), 3)

    assert found == [b"\x0a\x03\x01\xac\x02", b"", b"\x0a\x01\x00"]


def test_rows_that_are_not_flagged_are_empty():
    pieces = proto.number(1, ints([1, 2]))

    assert rows([proto.only_where(np.array([False, True]), pieces)], 2) == [b"", b"\x08\x02"]


def test_fields_of_a_single_message_are_encoded_the_same_way():
    data = proto.one_number(1, 300) + proto.one_text(2, b"ab") + proto.one_number(3, -1)

    assert [
        (number, data[start:end] if kind else start) for number, kind, start, end in fields(data)
    ] == [
        (1, 300),
        (2, b"ab"),
        (3, 2**64 - 1),
    ]
