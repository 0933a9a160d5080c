"""The table of modules that several others call."""

import pytest

from kineto_programs import loaded, module, op
from outputs.test_schemas import check
from tfprof.api import Profile

SENTENCE = (
    "A shared module has a row in each caller; its parameters count once, in the row of this name."
)


@pytest.fixture
def answer(tmp_path):
    calls = [
        event
        for number, ts in enumerate((10, 60))
        for event in (
            module(f"Layer_{number}", ts, 40),
            module("Rotary_0", ts + 10, 20),
            op("aten::sin", ts + 15, 4 + number),
        )
    ]
    return loaded(tmp_path, module("Net_0", 0, 200), *calls).layers(select="micros")


def test_the_table_follows_the_layers_and_shared_modules_are_marked(answer):
    lines = answer.table.splitlines()

    assert lines[2:7] == [
        "Net                   9us  100.00%",
        "  Layer_0             4us   44.44%",
        "    Rotary (shared)   4us   44.44%",
        "  Layer_1             5us   55.56%",
        "    Rotary (shared)   5us   55.56%",
    ]
    assert lines[-5:] == [
        "shared module       class   callers  calls  time",
        "────────────────────────────────────────────────",
        "Net/Layer_0/Rotary  Rotary        2      2   9us",
        "",
        SENTENCE,
    ]


def test_html_has_the_table(answer):
    page = answer._repr_html_()

    assert "<h4>Shared modules</h4>" in page
    assert "Net/Layer_0/Rotary" in page


def test_the_table_in_json_agrees_with_its_schema(answer):
    found = answer.to_dict()

    assert check(found) == "view"
    assert [one["callers"] for one in found["shared_modules"]] == [2]


def test_numbers_that_are_not_selected_are_left_out(answer):
    profile = answer.view.profile

    lines = Profile(profile).layers(select="layer_class").table.splitlines()

    assert lines[-5] == "shared module       class   callers  calls"
