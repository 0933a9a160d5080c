"""`tfprof check --update`: current numbers, and everything else as it was."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import op, profile
from tfprof.api import Profile
from tfprof.budgets import file, starter, updating
from tfprof.budgets.check import check
from tfprof.budgets.measuring import Measured
from tfprof.errors import MissingInputError, TfprofError

pytest.importorskip("tomlkit", reason="tomlkit updates budget files")

BUDGETS = """\
# Agreed with the team.
[scope."net"]  # the body
params   =  "20"   # two layers
ops = 0x10

[model]
# Weights of everything.
params = "0.03 k"  # rounded
ops = 1_000
slots = { exact = 0 }
other_params = '25'
macs = 0
trainable_params = { value = "0.03 k", tolerance = "30 %" }   # both sides
float_ops = {max = "+3 %", min = "-3 %"}  # relative
[layer.net]
params = { max = "50", min = 1 }
"""


def net(size):
    return Profile(
        profile(
            op("net/w", "VariableV2", shape=(size,), types=["_trainable_variables"]),
            op("head/w", "VariableV2", shape=(5,)),
            op("net/mul", "MatMul"),
        )
    )


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "tfprof.toml"
    found.write_text(BUDGETS, "utf-8")
    return found


def updated(path, profile):
    text, changes = updating.update(str(path), Measured(profile))
    path.write_bytes(text.encode())
    return text, [str(change) for change in changes]


def test_values_change_and_comments_order_and_styles_stay(path):
    path.write_text(BUDGETS.replace("macs = 0\n", ""), "utf-8")

    text, changes = updated(path, net(31))

    expected = BUDGETS.replace("macs = 0\n", "")
    for old, new in (
        ('params   =  "20" ', 'params   =  "31" '),
        ("ops = 0x10", "ops = 2"),
        ('params = "0.03 k"  # rounded', 'params = "36"  # rounded'),
        ("ops = 1_000", "ops = 3"),
        ("'25'", "'5'"),
        ('value = "0.03 k"', 'value = "31"'),
        ('max = "50"', 'max = "31"'),
    ):
        assert old in expected
        expected = expected.replace(old, new, 1)
    assert text == expected
    assert changes[0] == '[scope.net] params: "20" -> "31"'
    assert len(changes) == 7


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_the_updated_budgets_are_met(old, new):
    text = (
        f'[model]\nparams = "{old / 1000:.1f} k"\n[scope.net]\nparams = {{ exact = {old} }}\n'
        f'[layer.net]\nparams = {{ value = "{old / 10**6:.2f} M", tolerance = "1 %" }}\n'
    )
    measured = Measured(net(new))
    budgets = file.budgets_in("tfprof.toml", text)
    document = updating._document("tfprof.toml", text)
    for verdict in updating._judged("tfprof.toml", budgets, measured):
        list(updating._changed(document, verdict))

    found = check(measured.profile, file.budgets_in("tfprof.toml", document.as_string()))

    assert found.is_met, document.as_string()


def test_a_second_update_changes_nothing(path):
    path.write_text(BUDGETS.replace("macs = 0\n", ""), "utf-8")
    updated(path, net(31))

    assert updated(path, net(31))[1] == []


def test_relative_budgets_stay_as_they_are(path):
    path.write_text('[model]\nparams = 40\nstep_time = "+3 %"\nmacs = "+0 %"\n')

    text, _ = updated(path, net(31))

    assert text == '[model]\nparams = 36\nstep_time = "+3 %"\nmacs = "+0 %"\n'


@pytest.mark.parametrize(
    ("size", "result"),
    [
        (22, '{ max = "27", min = "20" }'),
        (40, '{ max = "45", min = "20" }'),
        (3, '{ max = "8", min = "8" }'),
    ],
)
def test_the_lower_end_of_a_range_only_changes_if_it_is_not_met(size, result, path):
    path.write_text('[model]\nparams = { max = "30", min = "20" }\n')

    assert updated(path, net(size))[0] == f"[model]\nparams = {result}\n"


def test_tables_may_be_out_of_order_dotted_or_inline(path):
    text = (
        'model.params = 1\r\n[scope."net"]\r\nparams = 2 # x\r\n[layer]\r\n'
        "net = { params = 3 }\r\n[scope.head]\r\nparams = 4\r\n"
    )
    path.write_bytes(text.encode())

    new, _ = updated(path, net(31))

    assert new == (
        'model.params = 36\r\n[scope."net"]\r\nparams = 31 # x\r\n[layer]\r\n'
        "net = { params = 31 }\r\n[scope.head]\r\nparams = 5\r\n"
    )


def test_a_missing_number_is_an_error_and_nothing_is_written(path):
    path.write_text("[model]\nparams = 1\nslots = 3\n")

    with pytest.raises(TfprofError, match=r"\[model\] slots: .* Nothing was written\."):
        updated(path, net(31))


def test_without_tomlkit_the_error_says_what_to_install(tmp_path):
    (tmp_path / "tfprof.toml").write_text("[model]\nparams = 1\n")
    script = """
import sys
sys.modules["tomlkit"] = None
from tfprof.budgets import updating
try:
    updating._document("tfprof.toml", "")
except Exception as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout == (
        "TfprofError updating a budget file requires tomlkit: pip install 'tfprof[check]'.\n"
    )


# The first file.


def test_the_first_file_contains_budgets_that_are_met():
    found = net(12_345)

    text = starter.text(Measured(found))

    assert tomllib.loads(text) == {"model": {"params": "12.35 k", "ops": 3}}
    assert check(found, file.budgets_in("tfprof.toml", text)).is_met


def test_the_examples_in_the_first_file_are_budgets_too():
    text = starter.text(Measured(net(12_345)))

    examples = [line[2:] for line in text.splitlines() if line.startswith(("# [", "# params ="))]

    assert examples == ["[layer.net]", 'params = "12.35 k"']
    assert check(net(12_345), file.budgets_in("tfprof.toml", "\n".join(examples))).is_met


def test_the_first_file_accepts_ops_that_are_not_counted():
    facts = [op("a", "KindWithoutRule"), op("b", "MatMul", float_ops=7)]
    found = Profile(profile(*facts, counts_float_ops=True))

    text = starter.text(Measured(found))

    assert tomllib.loads(text)["model"] == {"float_ops": 7, "uncounted_ops": 1, "ops": 2}
    assert check(found, file.budgets_in("tfprof.toml", text)).is_met


def test_without_numbers_there_is_no_first_file():
    with pytest.raises(MissingInputError, match="none of the numbers that a budget file starts"):
        starter.text(Measured(Profile(profile())))
