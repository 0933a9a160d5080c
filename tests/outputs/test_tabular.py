"""A view as rows of plain values: for JSON, CSV, data frames and notebooks."""

from __future__ import annotations

import csv as csv_reader
import io
import json as json_reader

import numpy as np
import pytest

from asking import ask
from build import CPU, op, profile, run
from checkpointed import with_tensors
from tfprof.metrics import METRICS
from tfprof.outputs import csv, json, tabular

EVERYTHING = [metric.key for metric in METRICS]


def decoded(view):
    """The JSON as a strict reader decodes it."""

    def refuse(word):
        pytest.fail(f"{word} is not valid JSON")

    return json_reader.loads(b"".join(json.encode(view)), parse_constant=refuse)


def everything():
    """A profile with a value for every metric."""
    return with_tensors(
        profile(
            op("a/w", "VariableV2", shape=(2,), outputs=[(2,)], code=["m.py:1:f"]),
            op("a/mul", "MatMul", inputs=["a/w", "gone"], float_ops=7, code=["m.py:1:f"]),
            run("a/mul", 3, memory={"requested": 5}),
        ),
        {"a/w": np.float32([1, np.nan])},
    )


def test_a_row_has_its_tree_position_and_an_own_and_a_total_number_per_metric():
    p = profile(op("a", "Foo", shape=(2,)), op("a/b", "Bar", shape=(3,)))

    rows = list(tabular.rows(ask("scope", p, select=["params"], account_type_regexes=["Bar"])))

    assert rows == [
        {
            "name": "_TFProfRoot",
            "depth": 1,
            "parent": None,
            "shape": None,
            "params": None,
            "total_params": 5,
        },
        {
            "name": "a",
            "depth": 2,
            "parent": "_TFProfRoot",
            "shape": [2],
            "params": None,
            "total_params": 5,
        },
        {
            "name": "a/b",
            "depth": 3,
            "parent": "a",
            "shape": [3],
            "params": 3,
            "total_params": 3,
        },
    ]


def test_a_row_of_a_single_op_has_all_selected_facts():
    p = everything()

    view = ask("scope", p, select=EVERYTHING, show_name_regexes=["a/mul"])

    assert tabular.row(view, 1) == {
        "name": "a/mul",
        "depth": 2,
        "parent": "_TFProfRoot",
        "layer_class": [],
        "output_shape": None,
        "shape": None,
        "params": 0,
        "total_params": 0,
        "trainable_params": 0,
        "total_trainable_params": 0,
        "other_params": 0,
        "total_other_params": 0,
        "slots": 0,
        "total_slots": 0,
        "float_ops": 7,
        "total_float_ops": 7,
        "forward_float_ops": 7,
        "total_forward_float_ops": 7,
        "backward_float_ops": 0,
        "total_backward_float_ops": 0,
        "macs": 0,
        "total_macs": 0,
        "forward_macs": 0,
        "total_forward_macs": 0,
        "backward_macs": 0,
        "total_backward_macs": 0,
        "bytes": 5,
        "total_bytes": 5,
        "peak_bytes": 0,
        "total_peak_bytes": 0,
        "residual_bytes": 0,
        "total_residual_bytes": 0,
        "output_bytes": 0,
        "total_output_bytes": 0,
        "micros": 3,
        "total_micros": 3,
        "accelerator_micros": 0,
        "total_accelerator_micros": 0,
        "cpu_micros": 3,
        "total_cpu_micros": 3,
        "transfer_micros": 0,
        "total_transfer_micros": 0,
        "forward_micros": 3,
        "total_forward_micros": 3,
        "backward_micros": 0,
        "total_backward_micros": 0,
        "forward_accelerator_micros": 0,
        "total_forward_accelerator_micros": 0,
        "backward_accelerator_micros": 0,
        "total_backward_accelerator_micros": 0,
        "devices": [CPU],
        "op_types": [CPU, "MatMul"],
        "runs": 1,
        "total_runs": 1,
        "definitions": 1,
        "total_definitions": 1,
        "input_shapes": [[2], None],
        "tensor_value": None,
        "num_hidden_ops": 1,
    }


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_a_row_fetched_alone_equals_the_same_row_of_all_rows(kind):
    view = ask(kind, everything(), select=EVERYTHING)

    assert repr([tabular.row(view, place) for place in range(len(view))]) == repr(
        list(tabular.rows(view))
    )


def test_rows_of_several_blocks_keep_their_order():
    names = [f"{number:05}" for number in range(10_000)]
    view = ask("scope", profile(*(op(name, shape=(1,)) for name in names)), select=["params"])

    rows = list(tabular.rows(view))

    assert [row["name"] for row in rows[1:]] == names
    assert {row["parent"] for row in rows[1:]} == {"_TFProfRoot"}
    assert rows[0]["total_params"] == 10_000


def test_a_row_of_many_ops_lists_the_input_shapes_of_each_op():
    p = profile(
        op("x", outputs=[(2,)]), op("a", "K", inputs=["x"]), op("b", "K", inputs=["x", "gone"])
    )

    view = ask("op", p, select=["input_shapes"], show_name_regexes=["K"])

    assert tabular.row(view, 1)["input_shapes"] == [[[2]], [[2], None]]


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (np.float32([[1, 2], [3, 4]]), [[1.0, 2.0], [3.0, 4.0]]),
        (np.int64(7), 7),
        (np.bool_([True]), [True]),
        (np.zeros((0, 3), np.float32), []),
        (np.zeros((2, 0), np.float32), [[], []]),
        (np.zeros((10**6, 10**6, 0), np.float32), []),  # would be 10^12 empty lists
        (np.complex64([1 + 2j]), [[1.0, 2.0]]),
        (np.array([b"caf\xc3\xa9", b"\xff"], object), ["café", "\ufffd"]),
    ],
)
def test_tensor_values_are_nested_lists(values, plain):
    p = with_tensors(profile(op("w")), {"w": values})

    assert tabular.row(ask("scope", p, select=["tensor_value"]), 1)["tensor_value"] == plain


def test_a_non_finite_float_stays_a_float_in_a_row():
    p = with_tensors(profile(op("w")), {"w": np.float32([np.nan, np.inf])})

    value = tabular.row(ask("scope", p, select=["tensor_value"]), 1)["tensor_value"]

    assert repr(value) == "[nan, inf]"


def test_a_non_finite_float_is_a_string_in_json():
    p = with_tensors(profile(op("w")), {"w": np.float32([np.nan, np.inf, -np.inf, 1])})

    row = decoded(ask("scope", p, select=["tensor_value"]))["rows"][1]

    assert row["tensor_value"] == ["NaN", "Infinity", "-Infinity", 1.0]


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_the_json_text_equals_the_dictionary(kind):
    view = ask(kind, everything(), select=EVERYTHING)

    assert decoded(view) == json.as_dict(view)


def test_json_contains_the_options_and_what_is_hidden():
    p = profile(op("a", shape=(2,)), op("b", shape=(3,)), run("a", 4, step=5))

    found = decoded(ask("scope", p, select=["params"], hide_name_regexes=["b"]))

    head = ["schema", "view", "options", "steps", "recordings", "notes", "hidden", "rows"]
    assert list(found) == head
    assert found["schema"] == "tfprof/view/1"
    assert found["view"] == "scope"
    assert found["options"]["select"] == ["params"]
    assert found["options"]["hide_name_regexes"] == ["b"]
    assert found["options"]["max_depth"] == 10
    assert found["steps"] == [5]
    assert found["hidden"]["ops"] == 1
    assert found["hidden"]["params"] == 3
    assert [row["name"] for row in found["rows"]] == ["_TFProfRoot", "a"]


def test_json_has_one_line_per_row():
    data = b"".join(json.encode(ask("scope", profile(op("a"), op("b")), select=[])))

    assert data.decode().splitlines()[-6:] == [
        ' "rows": [',
        '  {"name": "_TFProfRoot", "depth": 1, "parent": null},',
        '  {"name": "a", "depth": 2, "parent": "_TFProfRoot"},',
        '  {"name": "b", "depth": 2, "parent": "_TFProfRoot"}',
        " ]",
        "}",
    ]


def test_json_is_ascii():
    data = b"".join(json.encode(ask("scope", profile(op("größe/\u2028")))))

    assert data.isascii()
    assert b"gr\\u00f6\\u00dfe/\\u2028" in data


def test_csv_has_a_header_and_one_line_per_row():
    p = profile(op("a", shape=(2, 3)), op("a/b"))

    data = b"".join(csv.encode(ask("scope", p, select=["params"])))

    assert data.decode() == (
        "name,depth,parent,shape,params,total_params\r\n"
        "_TFProfRoot,1,,,,6\r\n"
        'a,2,_TFProfRoot,"[2, 3]",6,6\r\n'
        "a/b,3,a,,0,0\r\n"
    )


def test_csv_quotes_commas_quotes_and_line_breaks():
    name = 'odd, "name"\nof two lines'
    p = profile(op(name))

    data = b"".join(csv.encode(ask("scope", p, select=[])))
    rows = list(csv_reader.reader(io.StringIO(data.decode(), newline="")))

    assert rows[2] == [name, "2", "_TFProfRoot"]


def test_csv_contains_lists_as_json():
    p = with_tensors(profile(op("w")), {"w": np.float32([[1], [np.nan]])})

    data = b"".join(csv.encode(ask("scope", p, select=["tensor_value", "device"])))
    rows = list(csv_reader.reader(io.StringIO(data.decode(), newline="")))

    assert rows[2] == ["w", "2", "_TFProfRoot", "[]", '[[1.0], ["NaN"]]']
