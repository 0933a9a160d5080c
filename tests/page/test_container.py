import json
from base64 import b64encode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from page_data import unpacked
from page_script import ScriptError, ask, needs_node
from tfprof.columns import Strings
from tfprof.page import container


def test_plain_values_columns_and_texts_are_kept():
    value = {
        "title": "</script>",
        "rows": [1, {"size": np.array([0, 255, 256])}],
        "name": Strings(["a/b", "", "ä"]),
        "none": None,
    }

    assert unpacked(container.pack(value)) == {
        "title": "</script>",
        "rows": [1, {"size": [0, 255, 256]}],
        "name": ["a/b", "", "ä"],
        "none": None,
    }


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([], "u1"),
        ([255], "u1"),
        ([-1, 127], "i1"),
        ([-1, 128], "i2"),
        ([65535], "u2"),
        ([2**32 - 1], "u4"),
        ([-(2**31)], "i4"),
        ([2**32], "f8"),
        ([-1, 2**53], "f8"),
    ],
)
def test_a_column_has_the_smallest_type_that_fits(values, type_):
    column = np.array(values, np.int64)
    packed = container.pack({"column": column})

    assert f'"{type_}"'.encode() in packed
    assert unpacked(packed) == {"column": values}


def test_each_column_starts_at_a_multiple_of_eight():
    packed = container.pack({"a": np.array([1]), "b": np.array([2**40])})

    size = int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4 : 4 + size])
    assert [header[name]["$column"][1] % 8 for name in "ab"] == [0, 0]


@pytest.mark.parametrize(
    "values",
    [
        list(range(0, 700, 7)),
        [*range(50), -1, -1, *range(40, 90), -1],
        [5_000_000_000 + 1000 * row for row in range(100)],
        [0, 2**50] * 50,
    ],
)
def test_a_column_that_is_packed_as_steps_is_kept(values):
    packed = container.pack({"column": np.array(values)})

    assert unpacked(packed) == {"column": values}


def test_ascending_numbers_are_packed_as_steps():
    packed = container.pack({"column": np.arange(100_000)})

    assert b'["u1",0,100000,"u4"]' in packed
    assert len(packed) < 101_000


@pytest.mark.parametrize("values", [[-2, *range(100)], [2**50 + 1, *range(100)]])
def test_numbers_that_steps_cannot_represent_are_packed_as_they_are(values):
    packed = container.pack({"column": np.array(values)})

    assert b",101]}" in packed
    assert unpacked(packed) == {"column": values}


def test_a_column_that_occurs_twice_is_packed_once():
    once = container.pack({"a": np.arange(1000) % 7})
    twice = container.pack({"a": np.arange(1000) % 7, "b": np.arange(1000) % 7})

    assert unpacked(twice)["a"] == unpacked(twice)["b"]
    assert len(twice) < len(once) + 100


@given(st.lists(st.text(max_size=300)))
def test_texts_are_kept(texts):
    assert unpacked(container.pack({"texts": Strings(texts)})) == {"texts": texts}


def test_texts_share_their_start_with_the_text_before():
    names = Strings([f"unit_1/conv/weights_{row:06}" for row in range(1000)])

    assert len(container.pack({"names": names})) < 6000


def test_spans_refer_to_texts_that_are_packed_before():
    names = Strings(["a/b", "a/c/d"])
    spans = container.Spans(
        names, np.array([2, 0, 0, 1]), np.array([0, 1, 0, 3]), Strings(["root"])
    )

    found = unpacked(container.pack({"ops": names, "rows": spans}))

    assert found["rows"] == ["root", "a", "a/b", "a/c"]


@needs_node
def test_the_page_decodes_a_column_when_it_is_first_used():
    packed = container.pack({"whole": np.array([1, 2]), "cut": np.arange(100) ** 2})
    data = b64encode(packed[:-8]).decode()

    assert ask("column", data=data, name="whole") == [1, 2]
    with pytest.raises(ScriptError, match="Invalid typed array length"):
        ask("column", data=data, name="cut")
