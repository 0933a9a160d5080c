"""Attributes are decoded from the bytes of the file on request."""

import pytest

from sources.tf_files import graph, node, read, shape
from tfprof.errors import InputError
from tfprof.formats.messages import message_class


def attributes(**values):
    return read(graph(node("other", k={"i": 9}), node("op", **values))).ops.origins


def attribute(value):
    return attributes(k=value).attribute(0, "k")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"i": -3}, -3),
        ({"f": 0.5}, 0.5),
        ({"b": True}, True),
        ({"b": False}, False),
        ({"s": b"NHWC"}, "NHWC"),
        ({"s": b"\xff"}, "�"),
        ({"type": 1}, "float32"),
        ({"type": 101}, "float32"),
        ({"type": 99}, "type_99"),
        ({"list": {"i": [1, 2, 2, 1]}}, (1, 2, 2, 1)),
        ({"list": {"i": [0]}}, (0,)),
        ({"list": {"f": [0.5]}}, (0.5,)),
        ({"list": {"b": [False, True]}}, (False, True)),
        ({"list": {"s": [b"x", b"y"]}}, ("x", "y")),
        ({"list": {}}, ()),
    ],
)
def test_an_attribute_is_decoded_to_a_plain_value(value, expected):
    assert attribute(value) == expected


@pytest.mark.parametrize(
    "value",
    [{}, {"shape": shape(2)}, {"tensor": {"dtype": 1}}, {"func": {"name": "f"}}],
)
def test_an_attribute_without_a_plain_value_is_none(value):
    assert attribute(value) is None


def test_a_missing_attribute_is_none():
    assert attributes(k={"i": 1}).attribute(0, "missing") is None


def test_reading_a_missing_attribute_does_not_add_it():
    found = attributes(k={"i": 1})
    found.attribute(0, "missing")

    assert list(found.encoded_attributes(0)) == ["k"]


def test_all_attributes_are_available_still_encoded():
    value = message_class("tensorflow.AttrValue")

    encoded = attributes(z={"i": 1}, a={"shape": shape(2)}).encoded_attributes(0)

    assert list(encoded) == ["a", "z"]
    assert encoded["z"] == value(i=1).SerializeToString()
    assert value.FromString(encoded["a"]) == value(shape=shape(2))


def test_a_damaged_attribute_is_an_error_when_it_is_read():
    whole = graph(node("op", k={"i": 1}))
    damaged = whole.replace(b"\x18\x01", b"\x0a\x09")  # a list of nine bytes that are missing
    found = read(damaged).ops.origins

    assert damaged != whole
    with pytest.raises(InputError, match="the attribute `k` of an op is damaged"):
        found.attribute(0, "k")


def test_encoded_attributes_of_many_ops_are_read_at_once():
    ops = read(graph(node("a", k={"i": 1}, z={"i": 2}), node("b"), node("c", k={"i": 1}))).ops
    reader = ops.origins.inputs[0].attributes

    found = list(reader.encoded_values(ops.origins.position[[2, 0, 1]], ["k", "z"]))

    one, two = (message_class("tensorflow.AttrValue")(i=i).SerializeToString() for i in (1, 2))
    assert found == [(one, None), (one, two), (None, None)]
