"""Budget files: what they contain, and the one line that says what is wrong with them."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.budgets import file
from tfprof.errors import TfprofError

ZERO = Fraction(0)


def budgets(text):
    return file.budgets_in("tfprof.toml", text)


def bounds(value):
    """The lower and upper bound that a budget of parameters has."""
    (budget,) = budgets(f"[model]\nparams = {value}\n")
    return tuple(bound and bound.of(Fraction(1000)) for bound in (budget.least, budget.most))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("25557032", (None, 25_557_032)),
        ("25_557_032", (None, 25_557_032)),
        ('"25.6 M"', (None, 25_600_000)),
        ('{ max = "25.6 M" }', (None, 25_600_000)),
        ('{ min = "20 M" }', (20_000_000, None)),
        ('{ max = "25.6 M", min = "20 M" }', (20_000_000, 25_600_000)),
        ("{ exact = 25557032 }", (25_557_032, 25_557_032)),
        ('{ value = "10 M", tolerance = "1 %" }', (9_900_000, 10_100_000)),
        ('{ value = "10 M", tolerance = "100 k" }', (9_900_000, 10_100_000)),
        ("{ value = 10, tolerance = 20 }", (0, 30)),
        ('"+3 %"', (None, 1030)),
        ('"-3 %"', (None, 970)),
        ('"+1.5 k"', (None, 2500)),
        ('{ max = "+3 %", min = "-10 %" }', (900, 1030)),
    ],
)
def test_a_budget_has_several_forms(value, expected):
    assert bounds(value) == expected


def test_the_model_scopes_and_layers_have_budgets_in_the_order_of_the_file():
    found = budgets(
        """
        [layer."block/dense"]
        params = 1
        [model]
        ops = 2
        step_time = "+3 %"
        [scope.decoder]
        peak_bytes = "1 GiB"
        """
    )

    assert [(str(one.place), one.metric.key, one.text) for one in found] == [
        ("layer block/dense", "params", "at most 1"),
        ("model", "ops", "at most 2"),
        ("model", "step_time", "at most +3 % from the base"),
        ("scope decoder", "peak_bytes", "at most 1 GiB"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no budgets; add some below [model], such as params."),
        ("[model]\n", "contains no budgets; add some below [model], such as params."),
        ("[model\n", "is not valid TOML: Expected ']' at the end of a table declaration (at line"),
        ("[modle]\nparams = 1", "[modle] is unknown. Did you mean `model`?"),
        ("params = 1", "[params] is unknown. Available: layer, model, scope."),
        ("model = 3", "[model] must be a table of budgets, not 3."),
        ("[scope]\nparams = 3", "[scope.params] must be a table of budgets, not 3."),
        ("[[model]]\nparams = 3", "[model] must be a table of budgets, not [{'params': 3}]."),
        ("[model]\nparam = 1", "[model] param: there is no metric `param`. Did you mean `params`?"),
        (
            '[scope."a/b"]\nparams = "12 GiB"',
            '[scope."a/b"] params: `12 GiB` is not an amount; write it like 410 or 25.6 M.',
        ),
        (
            '[model]\npeak_bytes = "12 G"',
            "[model] peak_bytes: `12 G` is not an amount; write it like 12 GiB or 12 GB.",
        ),
        (
            "[model]\nparams = 2.5e6",
            "[model] params: takes an integer or a text such as 410 or 25.6 M, not 2500000.0.",
        ),
        (
            "[model]\nparams = true",
            "[model] params: takes an integer or a text such as 410 or 25.6 M, not True.",
        ),
        (
            "[model]\nparams = [1]",
            "[model] params: takes an integer or a text such as 410 or 25.6 M, not [1].",
        ),
        ("[model]\nparams = -1", "[model] params: must not be negative; -1 is."),
        (
            '[model]\nparams = "3 %"',
            '[model] params: a percentage is a change from a base: write "+3 %".',
        ),
        (
            "[model]\nparams = { most = 3 }",
            (
                "[model] params: takes the keys `max` and `min`, or `exact`, or `value` and "
                "`tolerance`, not `most`."
            ),
        ),
        (
            "[model]\nparams = { exact = 3, max = 4 }",
            (
                "[model] params: takes the keys `max` and `min`, or `exact`, or `value` and "
                "`tolerance`, not `exact`, `max`."
            ),
        ),
        (
            "[model]\nparams = { value = 3 }",
            (
                "[model] params: takes the keys `max` and `min`, or `exact`, or `value` and "
                "`tolerance`, not `value`."
            ),
        ),
        (
            "[model]\nparams = { max = 3, min = 4 }",
            "[model] params: `min` (4) is more than `max` (3).",
        ),
        (
            '[model]\nparams = { exact = "+3 %" }',
            "[model] params: `exact` takes an amount, not the change +3 %.",
        ),
        (
            '[model]\nstep_time = "38 ms"',
            (
                "[model] step_time: times can only be compared with a base that was measured in "
                'the same job, because machines differ; write "+3 %" and name the base with --base.'
            ),
        ),
        (
            '[scope.a]\nmicros = { max = "1 ms" }',
            (
                "[scope.a] micros: times can only be compared with a base that was measured in the "
                'same job, because machines differ; write "+3 %" and name the base with --base.'
            ),
        ),
        (
            '[model]\nmicros = { min = "-3 %" }',
            '[model] micros: a time has only an upper limit, such as "+3 %".',
        ),
        (
            '[scope.a]\nstep_time = "+3 %"',
            "[scope.a] step_time: only the whole model has `step_time`; a part has `micros`.",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_file_and_the_key(text, message):
    with pytest.raises(TfprofError) as caught:
        budgets(text)

    assert str(caught.value).startswith(f"tfprof.toml: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff", "is not UTF-8: byte 0."),
        (b"a = " + b"[" * 100_000, "is not"),
        (b"#" * (1 << 23), "is no budget file: it has more than 4,194,304 bytes."),
        (b"a = " + b"9" * 10_000, "is not valid TOML: "),
    ],
)
def test_a_file_that_is_no_budget_file_is_refused(data, message, tmp_path):
    path = tmp_path / "tfprof.toml"
    path.write_bytes(data)

    with pytest.raises(TfprofError, match=message):
        file.read(str(path))


def test_a_missing_file_can_be_created(tmp_path):
    with pytest.raises(TfprofError, match=r"no such budget file; `tfprof check FILES… --update`"):
        file.read(str(tmp_path / "tfprof.toml"))


def test_a_folder_is_no_budget_file(tmp_path):
    with pytest.raises(TfprofError, match="cannot be read: Is a directory"):
        file.read(str(tmp_path))


@given(st.text())
def test_any_text_is_a_budget_file_or_a_mistake(text):
    with suppress(TfprofError):
        assert budgets(text)


@given(st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_a_scope_of_any_name_can_be_written(name):
    (budget,) = budgets(f"[scope.{file.quoted(name)}]\nparams = 1")

    assert budget.place.name == name
