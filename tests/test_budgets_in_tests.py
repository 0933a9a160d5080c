"""`tfprof.testing.assert_budget`, as tests of models use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tfprof
from build import op, profile
from live_programs import only_own_warnings
from tfprof.testing import assert_budget

ROOT = Path(__file__).parent.parent
CNN = ROOT / "examples" / "keras_cnn"
SMALL_KERAS = ROOT / "tests" / "samples" / "keras" / "small.keras"


@pytest.mark.parametrize("path", [CNN, str(CNN)])
def test_a_saved_model_meets_its_budgets(path):
    # 1-D convolution: 3x3x8 weights and 8 biases; dense: 1352 inputs, 10 outputs.
    assert_budget(path, params={"exact": 80 + 13_530}, layers={"conv": {"params": 80}})


def test_a_keras_file_meets_its_budgets():
    assert_budget(SMALL_KERAS, params=163, trainable_params={"exact": 143})


def test_a_profile_meets_its_budgets():
    assert_budget(
        tfprof.load(CNN),
        params="13.61 k",
        float_ops="140.62 k",
        scopes={"cnn/conv": {"params": 80}},
    )


def test_several_files_of_a_model_meet_their_budgets(files):
    assert_budget(
        [files / "graph.pb", files / "run_meta_0"], params=18, scopes={"net": {"op_runs": 3}}
    )


def test_a_budget_that_is_not_met_fails_with_its_line():
    with pytest.raises(AssertionError) as caught:
        assert_budget(CNN, params=1000, float_ops="141 k")

    lines = str(caught.value).splitlines()
    assert lines[0] == "1 of 2 budgets met, 1 not met."
    assert lines[2].split()[:4] == ["not", "met", "params", "model"]
    assert "tfprof layers" in lines[2]


def test_a_number_that_the_file_lacks_fails():
    with pytest.raises(AssertionError, match="contains no ops"):
        assert_budget(SMALL_KERAS, float_ops="8 G")


def test_a_change_is_compared_with_a_base():
    small = tfprof.Profile(profile(op("w", "VariableV2", shape=(100,))))
    large = tfprof.Profile(profile(op("w", "VariableV2", shape=(102,))))

    assert_budget(large, params="+2 %", base=small)
    with pytest.raises(AssertionError):
        assert_budget(large, params="+1 %", base=small)


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        ({}, "assert_budget requires a budget"),
        ({"parms": 1}, "assert_budget: parms: there is no metric `parms`. Did you mean `params`"),
        ({"params": "1 GB"}, "assert_budget: params: `1 GB` is not an amount"),
        ({"params": 1.5}, "assert_budget: params: takes an integer or a text"),
        ({"scopes": {"cnn": {"params": None}}}, r"assert_budget: scopes\['cnn'\]: params: takes"),
        ({"params": "+3 %"}, "assert_budget: params is relative to a base"),
        ({"step_time": "3 ms"}, "assert_budget: step_time: times can only be compared"),
    ],
)
def test_a_mistake_in_a_budget_is_not_a_failed_test(budgets, message):
    with pytest.raises(tfprof.OptionError, match=message):
        assert_budget(CNN, **budgets)


def test_an_unknown_scope_is_an_error():
    with pytest.raises(tfprof.TfprofError, match="Did you mean `cnn/conv`"):
        assert_budget(CNN, scopes={"cnn/conf": {"params": 1}})


@pytest.mark.live
@only_own_warnings
def test_a_keras_model_is_counted_as_keras_counts_it():
    keras = pytest.importorskip("keras")
    inputs = keras.Input((12,))
    hidden = keras.layers.Dense(7, activation="relu", name="hidden")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(3, name="head")(hidden), name="net")

    assert_budget(
        model,
        params={"exact": model.count_params()},
        # Products, biases and the activation of one example.
        float_ops={"exact": 2 * 12 * 7 + 7 + 7 + 2 * 7 * 3 + 3},
        layers={"hidden": {"params": {"exact": 12 * 7 + 7}}},
    )
    with pytest.raises(AssertionError):
        assert_budget(model, params=model.count_params() - 1)


def test_importing_tfprof_imports_no_budgets():
    script = (
        "import sys, tfprof; print([n for n in sys.modules if 'budgets' in n or 'numpy' in n]);"
        "print(tfprof.testing.assert_budget.__name__)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout.split("\n")[:2] == ["[]", "assert_budget"]
