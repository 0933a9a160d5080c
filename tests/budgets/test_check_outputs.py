"""A check as text, Markdown, JSON and JUnit XML."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import op, profile
from tfprof.api import Profile
from tfprof.budgets import file, outputs
from tfprof.budgets.check import check
from tfprof.outputs import schemas

TEXT = "[model]\nparams = 40\nops = 1\nslots = 3\n[scope.net]\nparams = 20\n"


@pytest.fixture
def found():
    return checked(TEXT, "net")


def checked(text, scope):
    net = profile(
        op(f"{scope}/w", "VariableV2", shape=(20,), code=["model.py:7:build"]),
        op("head/w", "VariableV2", shape=(5,)),
    )
    return check(Profile(net, words=("graph.pb",)), file.budgets_in("tfprof.toml", text))


def test_the_text_has_a_line_per_budget_remarks_and_a_summary(found):
    lines = outputs.text(found).splitlines()

    assert [re.split("  +", line) for line in lines[:5]] == [
        ["", "metric", "where", "measured", "budget", "difference", "see"],
        [
            *("met", "params", "model", "25", "at most 40", "15 (37.50 %) below"),
            "tfprof layers graph.pb -select params -order_by params",
        ],
        [
            *("not met", "ops", "model", "2", "at most 1", "1 (100.00 %) above"),
            "tfprof op graph.pb -select occurrence -order_by occurrence",
        ],
        [
            *("missing", "slots", "model", "unknown", "at most 3"),
            "tfprof layers graph.pb -select slots -order_by slots",
        ],
        [
            *("met", "params", "scope net (model.py:7:build)", "20", "at most 20", "equal"),
            "tfprof scope graph.pb -start_name_regexes net -select params",
        ],
    ]
    assert lines[5:] == [
        "",
        "params of model: `tfprof check FILES… --update` lowers the budget to this.",
        "slots of model: the files contain none. If there should be none, set the budget to 0.",
        "2 of 4 budgets met, 1 not met, 1 missing.",
    ]


def test_failures_are_bold_on_a_terminal_only(found):
    plain, bold = outputs.text(found), outputs.text(found, colour=True)

    assert "\x1b" not in plain
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain
    assert [line.startswith("\x1b[1m") for line in bold.splitlines()[:5]] == [
        *(False, False, True, True, False)
    ]


def test_the_json_agrees_with_its_schema_and_has_exact_numbers(found):
    answer = json.loads(outputs.as_json(found))

    jsonschema.validate(answer, schemas.schema_of("check"))
    assert answer["met"] is False
    keys = ("status", "metric", "part", "name", "measured", "limit", "excess")
    assert [tuple(one[key] for key in keys) for one in answer["budgets"]] == [
        ("met", "params", "model", None, 25, 40, -15),
        ("not met", "ops", "model", None, 2, 1, 1),
        ("missing", "slots", "model", None, None, None, None),
        ("met", "params", "scope", "net", 20, 20, 0),
    ]


def test_the_junit_file_has_a_case_per_budget(found):
    root = ET.fromstring(outputs.junit(found))  # noqa: S314 -- our own

    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "0")
    assert [(case.get("classname"), case.get("name"), case[0].tag) for case in suite] == [
        ("model", "params", "system-out"),
        ("model", "ops", "failure"),
        ("model", "slots", "failure"),
        ("scope net", "params", "system-out"),
    ]
    assert suite[1][0].get("message") == (
        "not met: ops of model: 2, budget at most 1, 1 (100.00 %) above. "
        "See: tfprof op graph.pb -select occurrence -order_by occurrence"
    )


NAMES = st.text(st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1)


@given(NAMES)
def test_any_name_gives_valid_outputs(name):
    quoted = "".join(f"\\U{ord(char):08x}" for char in name)

    found = checked(f'[scope."{quoted}"]\nparams = 20', name)

    root = ET.fromstring(outputs.junit(found))  # noqa: S314 -- our own
    (case,) = root.iter("testcase")
    assert case.get("name") == "params"
    assert len(outputs.text(found).splitlines()) == 4
    table = outputs.markdown(found).splitlines()[2:5]
    assert all(line.startswith("|") and line.endswith("|") for line in table)
    assert {line.replace("\\|", "").count("|") for line in table} == {7}
    jsonschema.validate(json.loads(outputs.as_json(found)), schemas.schema_of("check"))


def test_markdown_in_names_means_nothing():
    found = checked('[scope."<b>*x*|`y`"]\nparams = 1', "<b>*x*|`y`")

    text = outputs.markdown(found)

    assert r"| scope \<b\>\*x\*\|\`y\` (model.py:7:build) |" in text
    assert "See `` tfprof scope" in text


def test_the_markdown_has_a_table_and_what_to_do(found):
    lines = outputs.markdown(found).splitlines()

    assert lines[0] == "### tfprof check: 2 of 4 budgets met, 1 not met, 1 missing."
    assert lines[4] == "| ✅ met | params | model | 25 | at most 40 | 15 (37.50 %) below |"
    assert lines[5] == "| ❌ not met | ops | model | 2 | at most 1 | 1 (100.00 %) above |"
    assert (
        "- ops of model: See `tfprof op graph.pb -select occurrence -order_by occurrence`" in lines
    )


@pytest.mark.parametrize(
    ("words", "base", "files"),
    [
        (["new"], ["a b", "c"], "'a b' c vs new"),
        (["new", "--batch_size", "2"], ["old", "--batch_size", "2"], None),
        (["--graph_path", "new"], ["old"], "BASE… vs FILES…"),
        ([], [], "BASE… vs FILES…"),
    ],
)
def test_a_relative_budget_is_shown_by_a_comparison(words, base, files):
    loaded = [
        Profile(profile(op("w", "VariableV2", shape=(3,))), words=side) for side in (words, base)
    ]
    text = '[model]\nparams = "+3 %"'

    (found,) = outputs.as_dict(check(loaded[0], file.budgets_in("b", text), loaded[1]))["budgets"]

    files = files or "old --batch_size 2 vs new --batch_size 2"
    assert found["command"] == f"tfprof diff {files} -view scope -select params"
