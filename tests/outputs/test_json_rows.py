"""JSON objects built many at once equal those of `json.dumps`."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Strings, ints
from tfprof.outputs.json_rows import in_list, member, members, quoted
from tfprof.outputs.pieces import digits, in_json

TEXTS = st.text('ab"\\/\x00\x1f\x7f\né€😀 ', max_size=8)
ROWS = st.lists(st.tuples(TEXTS, st.integers(-(2**63), 2**63 - 1)), max_size=12)


@given(st.lists(TEXTS))
def test_texts_are_escaped_like_json_dumps_escapes_them(texts):
    assert list(in_json(Strings(texts))) == [json.dumps(text)[1:-1] for text in texts]


def test_texts_can_be_escaped_wherever_they_are_in_their_buffer():
    column = Strings.of_spans(b'ab"c"d', ints([4, 0, 3, 1]), ints([6, 2, 3, 4]))

    assert list(in_json(column)) == ['\\"d', "ab", "", 'b\\"c']


@given(ROWS)
def test_objects_are_laid_out_like_json_dumps_lays_them_out(rows):
    texts = in_json(Strings(text for text, _ in rows))
    numbers = digits(ints([number for _, number in rows]))
    inner = members([(b"text", [*quoted(texts), *member([b"n", numbers], [numbers], 3)])], 3)
    item = members([(b"kind", [b'"x"']), (texts, inner)], 2)

    written = b'{\n    "list": [\n        0' + in_list([item], len(rows), 1).data + b"\n    ]\n}"

    objects = [
        {"kind": "x"} | {text: {"text": text, f"n{number}": number}} for text, number in rows
    ]
    assert written.decode() == json.dumps({"list": [0, *objects]}, indent=4)
