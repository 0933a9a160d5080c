"""Tensor values as text in brackets."""

from __future__ import annotations

import numpy as np
import pytest

from asking import ask
from build import op, profile
from checkpointed import with_tensors
from tfprof.outputs import tensor_text, text


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.float32([1, 2.5]), "[1.00 2.50 ],\n"),
        (np.float32([[1, 2], [3, 4]]), "[[1.00 2.00 ],\n[3.00 4.00 ],\n],\n"),
        (np.int32([[[1], [2]]]), "[[[1 ],\n[2 ],\n],\n],\n"),
        (np.int64(7), "[7 ],\n"),
        (np.float64(-0.5), "[-0.50 ],\n"),
        (np.zeros((0, 3), np.float32), "[],\n"),
        (np.zeros(0, np.int32), "[],\n"),
        (np.zeros((2, 0), np.int32), "[[],\n[],\n],\n"),
        (np.array([b"a", b"caf\xc3\xa9", b"\xff"], object), "['a' 'café' '\ufffd' ],\n"),
        (np.float64([np.nan, np.inf, -np.inf, -0.0]), "[nan inf -inf -0.00 ],\n"),
    ],
)
def test_each_dimension_is_in_brackets(values, shown):
    assert tensor_text.of_values(values) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234567.89, "1234570.00"),
        (0.005000001, "0.01"),
        (0.004999999, "0.01"),
        (123.456789, "123.46"),
        (1e-9, "0.00"),
    ],
)
def test_a_float_is_rounded_to_six_digits_and_then_to_two_decimals(value, shown):
    assert tensor_text.of_values(np.float64([value])) == f"[{shown} ],\n"


def test_a_text_over_10_000_characters_is_truncated():
    shown = tensor_text.of_values(np.zeros(3_000, np.float32))

    assert shown == "[" + "0.00 " * 1_999 + "0.00" + "],\n...omitted from display\n\n"
    assert shown.index("],") == 10_000


def test_a_text_is_marked_as_truncated_if_only_its_bracket_exceeds_the_limit():
    # `[`, 9,996 characters of values and `],` with the line end make 10,000.
    values = np.array([1_000] * 1_999 + [0], np.int32)

    shown = tensor_text.of_values(values)

    assert shown == "[" + "1000 " * 1_999 + "0 ],\n...omitted from display\n\n"


def test_a_text_just_below_the_limit_is_not_truncated():
    values = np.array([1_000] * 1_998 + [100], np.int32)

    shown = tensor_text.of_values(values)

    assert shown == "[" + "1000 " * 1_998 + "100 ],\n"


def test_values_are_printed_unindented_below_the_row_of_their_op():
    p = with_tensors(
        profile(op("a/w", shape=(2,)), op("b")), {"a/w": np.float32([1, 2]), "elsewhere": [3.0]}
    )

    assert text.table(ask("scope", p, select=["params", "tensor_value"])) == (
        "node name | # parameters\n"
        "_TFProfRoot (--/2 params)\n"
        "  a (0/2 params)\n"
        "    a/w (2, 2/2 params)\n"
        "[1.00 2.00 ],\n"
        "  b (0/0 params)\n"
    )


@pytest.mark.parametrize("dtype", ["bool", "float16", "uint8", "complex64"])
def test_values_of_some_dtypes_are_not_shown(dtype):
    p = with_tensors(profile(op("w")), {"w": np.ones(2, dtype)})

    assert text.table(ask("scope", p, select=["tensor_value"])) == (
        "node name | \n_TFProfRoot ()\n  w ()\n"
    )


def test_the_root_does_not_show_the_value_of_an_op_with_its_name():
    p = with_tensors(profile(op("_TFProfRoot")), {"_TFProfRoot": np.int32([5])})

    assert text.table(ask("scope", p, select=["tensor_value"])) == (
        "node name | \n_TFProfRoot ()\n  _TFProfRoot ()\n[5 ],\n"
    )


def test_rows_of_many_ops_show_no_values():
    p = with_tensors(profile(op("w", code=["m.py:1:f"])), {"w": np.int32([5])})

    assert "5" not in text.table(ask("op", p, select=["tensor_value"]))
    assert "5" not in text.table(ask("code", p, select=["tensor_value"]))
