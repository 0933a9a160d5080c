import json
from itertools import pairwise

import numpy as np
import pytest

from tfprof.columns import Strings
from tfprof.page import container


def unpacked(data):
    """What `static/container.js` makes of packed data, with lists for columns."""
    size = int.from_bytes(data[:4], "little")
    start = -(-(4 + size) // 8) * 8

    def revived(value):
        if "$column" in value:
            type_, offset, count = value["$column"]
            return np.frombuffer(data, f"<{type_}", count, start + offset).tolist()
        if "$texts" in value:
            offsets, text = value["$texts"]["offsets"], bytes(value["$texts"]["data"])
            return [text[a:b].decode() for a, b in pairwise(offsets)]
        return value

    return json.loads(data[4 : 4 + size], object_hook=revived)


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
